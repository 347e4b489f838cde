// The recipes and the README's first lines run: those for Node as they stand, with what they say they print; those for other places are
// lines of the apps that tests/packaging builds and opens.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipelineModel } from './support/pipeline_models.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/recipes-')); // Inside the repository, so that 'peruse' is found.
afterAll(() => rmSync(folder, { recursive: true }));

const recipes = readFileSync(join(root, 'docs/recipes.md'), 'utf8');

beforeAll(() => {
  symlinkSync(join(root, 'models'), join(folder, 'models'));
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
  const quotes = [...recipes.matchAll(/<!-- lines of (\S+) -->\n\n```[^\n]*\n([\s\S]*?)```/g)];
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
  test('are five', () => expect(quotes).toHaveLength(5));
});

test('the README\u2019s lines for each kind of model run, with tiny models under the names of the hub\u2019s', async () => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))!;
  const calls = [...code!.matchAll(/pipeline\('([\w-]+)', '([\w-]+\/[\w.-]+)'/g)];
  expect(calls.length).toBeGreaterThanOrEqual(5);
  const trained: Record<string, string> = {
    'text-classification': 'peruse-sentiment-convbert-tiny',
    'question-answering': 'peruse-reader-deberta-tiny',
    'token-classification': 'peruse-tagger-convbert-tiny',
    'zero-shot-classification': 'peruse-zero-shot-deberta-tiny',
    'feature-extraction': 'peruse-reader-deberta-tiny',
  };
  for (const [, task, id] of calls) {
    const place = join(folder, 'local', id!);
    mkdirSync(dirname(place), { recursive: true });
    if (trained[task!] !== undefined) {
      symlinkSync(join(root, 'models', trained[task!]!), place);
      continue;
    }
    mkdirSync(place);
    for (const [name, content] of Object.entries(await pipelineModel('convbert', 'one-logit'))) writeFileSync(join(place, name), content);
  }
  const given = `const text = 'Anna lives in Bern.', question = 'Where does Anna live?', passages = [text, 'A text.'];`;
  expect(run(`import { env } from 'peruse'; env.localModelPath = './local'; env.offline = true; ${given}\n${code}`)).toBe('');
});
