// The code in docs/tasks, docs/teach.md, docs/coming-from-transformers-js.md and README runs, and gives what the comments beside it say it gives.
// Numbers there have two decimals; a bare name stands for any value, `...` for more of the same. Ids like 'user/model' are folders
// with a tiny model for the task that the code asks for, bundled models are themselves, and no server is asked.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipelineModel } from './support/pipeline_models.js';
import { readTiny } from './support/tiny_files.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/docs-run-')); // Inside the repository, so that 'peruse' is found.
afterAll(() => rmSync(folder, { recursive: true }));

async function gliner(): Promise<Record<string, Uint8Array>> {
  const files = [
    'markerV0/gliner_config.json',
    'markerV0/model.safetensors',
    'tokenizer/tokenizer.json',
    'tokenizer/tokenizer_config.json',
  ];
  return Object.fromEntries(files.map((path) => [path.split('/')[1]!, readFileSync(join(root, 'tests/fixtures/gliner', path))]));
}

const kModels: Record<string, string | (() => Promise<Record<string, Uint8Array>>)> = {
  'text-classification': 'peruse-sentiment-convbert-tiny',
  'sentiment-analysis': 'peruse-sentiment-convbert-tiny',
  'question-answering': 'peruse-reader-deberta-tiny',
  'token-classification': 'peruse-tagger-convbert-tiny',
  ner: 'peruse-tagger-convbert-tiny',
  redact: 'peruse-tagger-convbert-tiny',
  'zero-shot-classification': () =>
    pipelineModel('convbert', 'sequence', { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } }),
  'zero-shot-token-classification': gliner,
  'feature-extraction': '../tests/fixtures/sentence/mean',
  'text-ranking': () => pipelineModel('convbert', 'one-logit'),
  'fill-mask': () => pipelineModel('convbert', 'masked-lm'),
  'multiple-choice': () => pipelineModel('convbert', 'choice'),
  'replaced-token-detection': async () => (await readTiny('electra-rtd')).files,
};

/** What the pages' code takes for granted. */
const kGiven: Record<string, string> = {
  text: "'The bees of Mary Johnson live in a hollow oak behind the mill.'",
  texts: "['A text.', 'Another one.']",
  question: "'Where do the bees live?'",
  passage: "'The bees live in a hollow oak behind the mill. Their honey is sold on Saturdays.'",
  query: "'Where do bees live?'",
  passages: "['In a hive.', 'On the moon.']",
  documents: "['In a hive.', 'On the moon.']",
  labels: "['travel', 'food']",
  myCache: '{ match: async () => undefined, put: async () => {} }',
};

beforeAll(async () => {
  symlinkSync(join(root, 'models'), join(folder, 'models'));
  for (const [task, model] of Object.entries(kModels)) {
    if (typeof model === 'string') {
      symlinkSync(join(root, 'models', model), join(folder, task));
      continue;
    }
    mkdirSync(join(folder, task));
    for (const [name, content] of Object.entries(await model())) writeFileSync(join(folder, task, name), content);
  }
});

/** Reports the value of every statement that has a comment beside or below it. */
function reporting(code: string): { code: string; comments: string[] } {
  const comments: string[] = [];
  const lines = code.split('\n');
  const reported = lines.map((line, index) => {
    const [, target = '', call, beside] = /^(const [^=]+ = )?(await .+);(?: +\/\/ (.*))?$/.exec(line) ?? [];
    const below = /^\/\/ ([[{].*)$/.exec(lines[index + 1] ?? '')?.[1];
    const comment = beside ?? below;
    if (call === undefined || comment === undefined || literalIn(comment) === undefined) return line;
    comments.push(comment);
    return `${target}__report(${call});`;
  });
  return { code: reported.join('\n'), comments };
}

/** The list or object that a comment begins with. */
function literalIn(comment: string): string | undefined {
  if (!/^(\[*\{|\[\d)/.test(comment)) return undefined;
  let depth = 0;
  for (let at = 0; at < comment.length; ++at) {
    if ('[{'.includes(comment[at]!)) ++depth;
    if (']}'.includes(comment[at]!) && --depth === 0) return comment.slice(0, at + 1);
  }
  throw new Error(`This has no end: ${comment}`);
}

const kAny = Symbol('any value');
const kMore = Symbol('more of the same');

function shownValue(literal: string): unknown {
  const code = literal.replaceAll(/([{,]\s*)(\w+)(?=\s*[,}])/g, '$1$2: any').replaceAll('...', 'more');
  return new Function('any', 'more', `return ${code}`)(kAny, kMore) as unknown;
}

function expectAsShown(actual: unknown, shown: unknown, where: string): void {
  if (shown === kAny) expect(actual, where).toBeDefined();
  else if (typeof shown === 'number' && !Number.isInteger(shown)) expect((actual as number).toFixed(2), where).toBe(shown.toFixed(2));
  else if (Array.isArray(shown)) expectListAsShown(actual as unknown[], shown, where);
  else if (typeof shown !== 'object' || shown === null) expect(actual, where).toBe(shown);
  else {
    expect(Object.keys(actual as object), where).toEqual(Object.keys(shown));
    for (const [key, item] of Object.entries(shown)) expectAsShown((actual as Record<string, unknown>)[key], item, `${where} ${key}`);
  }
}

/** Where more items follow than are shown, they have the form of the first. */
function expectListAsShown(list: unknown[], shown: unknown[], where: string): void {
  const first = shown.filter((item) => item !== kMore);
  if (first.length < shown.length) expect(list.length, where).toBeGreaterThan(first.length);
  else expect(list, where).toHaveLength(shown.length);
  for (const [i, item] of list.entries()) {
    if (i < first.length) expectAsShown(item, first[i], where);
    else if (Array.isArray(first[0])) expect(item, where).toBeInstanceOf(Array);
    else expect(Object.keys(item as object), where).toEqual(Object.keys(first[0] as object));
  }
}

/** Runs the code; gives what was reported. */
function run(code: string): unknown[] {
  const task = /pipeline\(\s*'([\w-]+)'/.exec(code)?.[1];
  rmSync(join(folder, 'user'), { recursive: true, force: true });
  mkdirSync(join(folder, 'user'));
  for (const [, name] of code.matchAll(/'user\/([\w-]+)'/g)) symlinkSync(join(folder, task!), join(folder, 'user', name!));
  const program = [
    ...(code.includes("from 'peruse'") ? ["import { env as __env } from 'peruse';"] : ["import { pipeline, env as __env } from 'peruse';"]),
    '__env.offline = true;',
    'const __reported = [];',
    'const __report = (value) => (__reported.push(value), value);',
    `Object.assign(globalThis, { ${Object.entries(kGiven)
      .map((pair) => pair.join(': '))
      .join(', ')} });`,
    code,
    'process.stdout.write("\\n" + JSON.stringify(__reported));',
  ].join('\n');
  const done = spawnSync(process.execPath, ['--input-type=module'], { cwd: folder, input: program, encoding: 'utf8' });
  expect({ status: done.status, err: done.stderr }, code).toEqual({ status: 0, err: '' });
  return JSON.parse(done.stdout.split('\n').at(-1)!) as unknown[];
}

const kPages = [
  'README.md',
  'docs/coming-from-transformers-js.md',
  'docs/teach.md',
  'docs/tokenizer.md',
  ...readdirSync(join(root, 'docs/tasks')).map((name) => `docs/tasks/${name}`),
];

function blocksOf(page: string): string[] {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!);
  const ours = blocks.filter((code) => !code.includes("from '@huggingface/transformers'"));
  // The README's first has printed output (readme.test.ts); its second names a folder of the reader's.
  return page === 'README.md'
    ? ours.slice(1).map((code) => code.replace('./models/sentiment/', './models/peruse-sentiment-convbert-tiny/'))
    : ours;
}

describe.each(kPages.filter((page) => blocksOf(page).length > 0))('%s', (page) => {
  test.each(blocksOf(page).map((code, index) => [index + 1, code] as const))('code %i', (_, code) => {
    const { code: program, comments } = reporting(code);
    const reported = run(program);
    expect(reported).toHaveLength(comments.length);
    for (const [index, comment] of comments.entries()) expectAsShown(reported[index], shownValue(literalIn(comment)!), comment);
  });
});

test('every page of a task shows what a call gives', () => {
  const silent = kPages
    .filter((page) => page.startsWith('docs/tasks/') && blocksOf(page).length > 0)
    .filter((page) => blocksOf(page).every((code) => reporting(code).comments.length === 0));
  expect(silent).toEqual([]);
});
