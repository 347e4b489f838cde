// The package's types stand on their own: a strict project without anybody else's types compiles against them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/package-types-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a strict project compiles', () => {
  writeFileSync(join(folder, 'use.ts'), `
import { pipeline, PeruseError } from 'peruse';
const answer = await pipeline('question-answering', './model/');
const { start } = await answer('Who?', 'Anna.');
const first: number = start;
if (first > 0) throw new PeruseError('internal', 'so');
`);
  const compilerOptions = {
    strict: true, noEmit: true, module: 'nodenext', target: 'es2022', lib: ['es2022', 'dom'], types: [],
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const run = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
  expect(run.stdout).toBe('');
}, 60_000);
