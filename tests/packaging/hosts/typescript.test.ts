// TypeScript finds the package's types under every way of resolving modules, also in programs without the DOM library.
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { runProgram, type Stage, stage } from './stage.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let app: Stage;
beforeAll(async () => {
  app = await stage('typescript');
  for (const name of ['@types/node', 'undici-types']) {
    await cp(here(`../../../node_modules/${name}`), join(app.folder, 'node_modules', name), { recursive: true });
  }
});

const kStrict = ['--noEmit', '--strict', '--target', 'es2022', '--skipLibCheck', 'false'];
const kWeb = ['--lib', 'es2022,dom,dom.iterable'];

test.each([
  ['bundler', 'program.ts', ['--module', 'esnext', '--moduleResolution', 'bundler', ...kWeb]],
  ['node16, a module', 'program.ts', ['--module', 'node16', '--moduleResolution', 'node16', ...kWeb]],
  ['node16, CommonJS', 'required.cts', ['--module', 'node16', '--moduleResolution', 'node16', ...kWeb]],
  ['node10', 'program.ts', ['--module', 'esnext', '--moduleResolution', 'node10', ...kWeb]],
  ['without the DOM library', 'program.ts', ['--module', 'node16', '--moduleResolution', 'node16', '--lib', 'es2022']],
])('%s', async (_, file, settings) => {
  const found = await runProgram(app.folder, process.execPath, [
    here('../../../node_modules/typescript/bin/tsc'),
    ...kStrict,
    ...settings,
    file,
  ]).catch(({ stdout }: { stdout: string }) => stdout);
  expect(found).toBe('');
});
