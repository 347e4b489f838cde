// The README's first program prints the output shown there, with peruse-demo installed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { demoPackage } from './support/demo_package.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/readme-')); // inside the repository, so that 'peruse' is found
afterAll(() => rmSync(folder, { recursive: true }));

test('the program prints its output', async () => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(await demoPackage(), join(folder, 'node_modules/peruse-demo'));
  const readme = readFileSync(`${root}README.md`, 'utf8');
  const [, code, output] = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(readme)!;
  const run = spawnSync(process.execPath, ['--input-type=module'], { cwd: folder, input: code, encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(withTwoDecimals(run.stdout)).toBe(output);
});

function withTwoDecimals(text: string): string {
  return text.replaceAll(/\d\.\d{3,}/g, (number) => Number(number).toFixed(2));
}

test('is about a hundred lines', () => {
  expect(readFileSync(`${root}README.md`, 'utf8').split('\n').length).toBeLessThan(120);
});
