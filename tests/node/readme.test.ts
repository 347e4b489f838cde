// The README's first snippet prints what the README says it prints.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('the snippet prints its output', () => {
  const readme = readFileSync(`${root}README.md`, 'utf8');
  const [, code, output] = /```js\n([\s\S]*?)```\n\n```\n([\s\S]*?)```/.exec(readme)!;
  const run = spawnSync(process.execPath, ['--input-type=module'], { cwd: root, input: code, encoding: 'utf8' });
  expect(run.stderr).toBe('');
  expect(run.stdout).toBe(output);
});
