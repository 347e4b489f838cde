// Programs of package.json run in a clone without packages: their static imports are files of the clone or Node's modules.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

function packagesOf(file: string, read: (file: string) => string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return [];
  seen.add(file);
  const names = [...read(file).matchAll(/^(?:import|export)\s(?:[^'"`;]*\sfrom\s+)?['"]([^'"]+)['"]/gm)].map(([, name]) => name!);
  return names.flatMap((name) => {
    if (name.startsWith('.')) return packagesOf(join(dirname(file), name), read, seen);
    return name.startsWith('node:') ? [] : [`${file} imports ${name}`];
  });
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const programs = ['setup', 'build', 'dev', 'test', 'demo', 'test:fuzz'].map((name) => /^node (tools\/\S+\.mjs)$/.exec(scripts[name]!)![1]!);

test.each(programs)('%s imports no package before the set-up', (program) => {
  expect(packagesOf(program, (file) => readFileSync(join(root, file), 'utf8'))).toEqual([]);
});

test('a package behind another file would be found', () => {
  const files: Record<string, string> = {
    'tools/a.mjs': "import {\n  b,\n} from './b.mjs';\n",
    'tools/b.mjs': "export { c } from './c.mjs';\nimport 'node:fs';\n",
    'tools/c.mjs': "import './a.mjs';\nimport rolldown from 'rolldown';\nawait import('vite');\n",
  };
  expect(packagesOf('tools/a.mjs', (file) => files[file]!)).toEqual(['tools/c.mjs imports rolldown']);
});
