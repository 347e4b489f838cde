// TypeScript finds the package's types with every module resolution, also without the DOM library.
import { beforeAll, describe, expect, test } from 'vitest';
import { type Stage, stage, versionsOf } from './stage.js';

const kStrict = ['--noEmit', '--strict', '--target', 'es2022', '--skipLibCheck', 'false', '--types', 'node'];
const kWeb = ['--lib', 'es2022,dom,dom.iterable'];

const kSettings = [
  { name: 'bundler', file: 'program.ts', flags: ['--module', 'esnext', '--moduleResolution', 'bundler', ...kWeb] },
  { name: 'node16, a module', file: 'program.ts', flags: ['--module', 'node16', '--moduleResolution', 'node16', ...kWeb] },
  { name: 'node16, CommonJS', file: 'required.cts', flags: ['--module', 'node16', '--moduleResolution', 'node16', ...kWeb] },
  { name: 'node10', file: 'program.ts', flags: ['--module', 'esnext', '--moduleResolution', 'node10', ...kWeb] },
  {
    name: 'without the DOM library',
    file: 'program.ts',
    flags: ['--module', 'node16', '--moduleResolution', 'node16', '--lib', 'es2022'],
  },
];

/** TypeScript 6 warns about node10 and requires a flag for settings on the command line; TypeScript 7 lacks node10. */
function settingsOf(version: string): typeof kSettings {
  if (version === '5') return kSettings;
  const settings = version === '6' ? kSettings : kSettings.filter(({ name }) => name !== 'node10');
  const more = version === '6' ? ['--ignoreConfig', '--ignoreDeprecations', '6.0'] : ['--ignoreConfig'];
  return settings.map((one) => ({ ...one, flags: [...one.flags, ...more] }));
}

describe.each(versionsOf('typescript'))('TypeScript %s', (version) => {
  let app: Stage;
  beforeAll(async () => {
    app = await stage('typescript', { version });
  });

  test.each(settingsOf(version))('$name', async ({ file, flags }) => {
    const found = await app.run(app.bin('typescript', 'tsc'), ...kStrict, ...flags, file).catch(({ stdout }: { stdout: string }) => stdout);
    expect(found).toBe('');
  });
});
