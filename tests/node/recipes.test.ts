// The recipes for Node run as printed, with the printed output. The others are lines of the apps in tests/packaging.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoPackage } from './support/demo_package.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/recipes-')); // inside the repository, so that 'peruse' is found
afterAll(() => rmSync(folder, { recursive: true }));

const recipes = readFileSync(join(root, 'docs/recipes.md'), 'utf8');

beforeAll(async () => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(await demoPackage(), join(folder, 'node_modules/peruse-demo'));
  writeFileSync(join(folder, 'reviews.txt'), 'A warm, funny film.\nTwo hours of noise and not one idea.\n');
});

function run(code: string): string {
  const done = spawnSync(process.execPath, ['--input-type=module'], { cwd: folder, input: code, encoding: 'utf8' });
  expect(done.stderr).toBe('');
  return done.stdout;
}

describe('recipes for Node', () => {
  const runs = [...recipes.matchAll(/## ([^\n]+)\n(?:(?!\n## )[\s\S])*?```js(?: node)?\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/g)];
  test.each(runs.map(([, name, code, output]) => [name!, code!, output!] as const))('%s', (_, code, output) => {
    expect(run(code)).toBe(output);
  });
  test('are three', () => expect(runs).toHaveLength(3));
});

describe('recipes that other tests run', () => {
  const tools = readFileSync(join(root, 'docs/guides/in-a-command-line-tool.md'), 'utf8');
  const quotes = [...(recipes + tools).matchAll(/<!-- lines of (\S+) -->\n\n```[^\n]*\n([\s\S]*?)```/g)];
  test.each(quotes.map(([, file, code]) => [file!, code!] as const))('%s has these lines', (file, code) => {
    const lines = readFileSync(join(root, file), 'utf8')
      .split('\n')
      .map((line) => line.trim());
    let at = 0;
    for (const line of code.split('\n').map((each) => each.trim())) {
      at = lines.indexOf(line, at) + 1;
      expect(at, line).toBeGreaterThan(0);
    }
  });
  test('are eight', () => expect(quotes).toHaveLength(8));
});
