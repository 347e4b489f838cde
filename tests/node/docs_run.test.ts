// Code blocks of README and docs run, and return or print what the comments next to them say. In these comments, numbers have two decimals, a
// bare name means any value, `...` means more of the same, and "for example" means that the value may differ. Hub ids are replaced by tiny
// models for the task, and no server is contacted.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoPackage } from './support/demo_package.js';
import { pipelineModel } from './support/pipeline_models.js';
import { readTiny } from './support/tiny_files.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(root, 'build/docs-run-')); // inside the repository, so that 'peruse' is found
afterAll(() => rmSync(folder, { recursive: true }));

/** Files of a fixture: those of `model` are in the folder `name`, and its tokenizer in the folder next to it. */
function fixture(kind: string, name: string, model: readonly string[]): () => Promise<Record<string, Uint8Array>> {
  const paths = [...model.map((file) => [name, file]), ...['tokenizer.json', 'tokenizer_config.json'].map((file) => ['tokenizer', file])];
  const read = ([from, file]: string[]) => [file!, readFileSync(join(root, 'tests/fixtures', kind, from!, file!))];
  return async () => Object.fromEntries(paths.map(read)) as Record<string, Uint8Array>;
}

/** A classifier with the labels of ProtectAI's guard, and a third. */
async function injectionGuard(): Promise<Record<string, Uint8Array>> {
  return pipelineModel('convbert', 'sequence', { id2label: { 0: 'SAFE', 1: 'INJECTION', 2: 'OTHER' } });
}

/** By task, or by hub id if a page uses the model's own labels. */
const kModels: Record<string, string | (() => Promise<Record<string, Uint8Array>>)> = {
  'protectai/deberta-v3-base-prompt-injection-v2': injectionGuard,
  'leolee99/PIGuard': '../tests/fixtures/guards/pi-guard',
  'meta-llama/Prompt-Guard-86M': '../tests/fixtures/guards/prompt-guard',
  'KRLabsOrg/lettucedect-base-modernbert-en-v1': '../tests/fixtures/guards/lettuce',
  'naver/splade-cocondenser-ensembledistil': '../tests/fixtures/sparse/plain',
  'lightonai/GTE-ModernColBERT-v1': '../tests/fixtures/late_interaction/pylate-prompts',
  'BAAI/bge-m3': '../tests/fixtures/m3/published',
  'user/asymmetric': '../tests/fixtures/router/static-queries',
  'text-classification': 'peruse-sentiment-convbert-tiny',
  'sentiment-analysis': 'peruse-sentiment-convbert-tiny',
  'question-answering': 'peruse-reader-deberta-tiny',
  'token-classification': 'peruse-tagger-convbert-tiny',
  ner: 'peruse-tagger-convbert-tiny',
  redact: 'peruse-tagger-convbert-tiny',
  'zero-shot-classification': () =>
    pipelineModel('convbert', 'sequence', { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } }),
  'zero-shot-token-classification': fixture('gliner', 'markerV0', ['gliner_config.json', 'model.safetensors']),
  'structured-extraction': fixture('gliner2', 'lstm', ['config.json', 'encoder_config/config.json', 'model.safetensors']),
  'feature-extraction': '../tests/fixtures/sentence/mean',
  'text-ranking': () => pipelineModel('convbert', 'one-logit'),
  'fill-mask': () => pipelineModel('convbert', 'masked-lm'),
  'multiple-choice': () => pipelineModel('convbert', 'choice'),
  'replaced-token-detection': async () => (await readTiny('electra-rtd')).files,
};

const kGiven: Record<string, string> = {
  text: "'The bees of Mary Johnson live in a hollow oak behind the mill.'",
  texts: "['A text.', 'Another one.']",
  question: "'Where do the bees live?'",
  query: "'Where do bees live?'",
  passages: "['In a hive.', 'On the moon.']",
  documents: "['In a hive.', 'On the moon.']",
  labels: "['travel', 'food']",
  myCache: '{ match: async () => undefined, put: async () => {} }',
};

const kCsv = `text,label
"The tap drips, again.",repair
"It is ""broken"".",repair
${['The heating fails.', 'A window does not close.'].map((text) => `${text},repair`).join('\n')}
${['When is it due?', 'Send me the bill.', 'I paid too much.', 'What does it cost?'].map((text) => `${text},money`).join('\n')}
`;

beforeAll(async () => {
  symlinkSync(join(root, 'models'), join(folder, 'models'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(await demoPackage(), join(folder, 'node_modules/peruse-demo'));
  writeFileSync(join(folder, 'examples.csv'), kCsv);
  for (const [key, model] of Object.entries(kModels)) {
    const place = folderOf(key);
    if (typeof model === 'string') {
      symlinkSync(join(root, 'models', model), place);
      continue;
    }
    for (const [name, content] of Object.entries(await model())) {
      mkdirSync(dirname(join(place, name)), { recursive: true });
      writeFileSync(join(place, name), content);
    }
  }
});

function folderOf(key: string): string {
  return join(folder, key.replace('/', '--'));
}

/** Adds a report for each statement or console.log with a comment next to it or below it. */
function reporting(code: string): { code: string; comments: string[] } {
  const comments: string[] = [];
  const lines = code.split('\n');
  const reported = lines.map((line, index) => {
    const below = /^\/\/ ([[{].*)$/.exec(lines[index + 1] ?? '')?.[1];
    const [, printed, said] = /^ *console\.log\((.+)\);(?: +\/\/ (.*))?$/.exec(line) ?? [];
    const [, target = '', awaited, beside] = /^(const [^=]+ = )?(await .+);(?: +\/\/ (.*))?$/.exec(line) ?? [];
    const value = printed ?? awaited;
    // The comment next to the call may introduce a result below, as in "all labels, best first:".
    const comment = said ?? [beside, below].find((one) => one !== undefined && literalIn(one) !== undefined);
    if (value === undefined || comment === undefined) return line;
    comments.push(comment);
    return `${target}__report(${value});`;
  });
  return { code: reported.join('\n'), comments };
}

function literalIn(comment: string): string | undefined {
  if (!/^(\[*\{|\[[\d'])/.test(comment)) return undefined;
  let depth = 0;
  for (let at = 0; at < comment.length; ++at) {
    if ('[{'.includes(comment[at]!)) ++depth;
    if (']}'.includes(comment[at]!) && --depth === 0) return comment.slice(0, at + 1);
  }
  throw new Error(`This has no end: ${comment}`);
}

function expectReported(actual: unknown, comment: string): void {
  const literal = literalIn(comment);
  if (literal !== undefined) expectAsShown(actual, shownValue(literal), comment);
  else if (!comment.startsWith('for example ')) expect(typeof actual === 'object' ? JSON.stringify(actual) : String(actual)).toBe(comment);
}

const kAny = Symbol('any value');
const kMore = Symbol('more of the same');

function shownValue(literal: string): unknown {
  const code = literal.replaceAll(/([{,]\s*)([a-z_]\w*)(?=\s*[,}])/g, '$1$2: any').replaceAll('...', 'more');
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

/** If "..." follows, further items must have the form of the first one. */
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

function run(code: string): unknown[] {
  rmSync(join(folder, 'local'), { recursive: true, force: true });
  for (const [, task, owner, name] of code.matchAll(/pipeline\(\s*'([\w-]+)',\s*'([\w-]+)\/([\w.-]+)'/g)) {
    const key = [`${owner}/${name}`, task!].find((one) => kModels[one] !== undefined);
    if (key === undefined) continue;
    mkdirSync(join(folder, 'local', owner!), { recursive: true });
    rmSync(join(folder, 'local', owner!, name!), { force: true });
    symlinkSync(folderOf(key), join(folder, 'local', owner!, name!));
  }
  const program = [
    `${/from 'peruse'|import \{[^}]*\bpipeline\b[^}]*\} from 'peruse\//.test(code) ? 'import' : "import { pipeline } from 'peruse';\nimport"} { env as __env } from 'peruse';`,
    "__env.localModelPath = './local';",
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
  ...['errors', 'explain', 'inspect', 'semantic-index', 'teach', 'tokenizer'].map((name) => `docs/${name}.md`),
  ...readdirSync(join(root, 'docs/tasks')).map((name) => `docs/tasks/${name}`),
];

function blocksOf(page: string): string[] {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/```js(?: node)?\n([\s\S]*?)```/g)].map(([, code]) => code!);
  const ours = blocks.filter((code) => !code.includes("from '@huggingface/transformers'"));
  // readme.test.ts runs the first program of the README.
  return page === 'README.md' ? ours.slice(1) : ours;
}

describe.each(kPages.filter((page) => blocksOf(page).length > 0))('%s', (page) => {
  test.each(blocksOf(page).map((code, index) => [index + 1, code] as const))('code %i', (_, code) => {
    const { code: program, comments } = reporting(code);
    const reported = run(program);
    expect(reported).toHaveLength(comments.length);
    for (const [index, comment] of comments.entries()) expectReported(reported[index], comment);
  });
});

const kTaskPages = kPages.filter((page) => page.startsWith('docs/tasks/') && page !== 'docs/tasks/README.md');

test.each(kTaskPages)('%s begins with a complete program that shows its output', (page) => {
  const first = blocksOf(page)[0]!;
  expect(first).toContain('import { ');
  expect(first).toContain("from 'peruse';");
  expect(first).toContain('console.log(');
  expect(reporting(first).comments.length).toBeGreaterThan(0);
  const code = first.replaceAll(/\/\/.*/g, '');
  const used = Object.keys(kGiven).filter((name) => new RegExp(`[(, ]${name}[),]`).test(code));
  expect(used.filter((name) => !code.includes(`const ${name} =`))).toEqual([]); // a reader who copies the block would lack it
});

describe('the table of tasks in README', () => {
  const rows = [
    ...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/^\| \[`([\w-]+)`\].*? \| `(\w+)\((.*)\)` \| `(.*?)` \| .* \|$/gm),
  ];
  test('has every task', () => expect(rows.map(([, task]) => task)).toHaveLength(12));
  test.each(rows.map(([, task, call, given, result]) => [task!, call!, given!, result!] as const))('%s', (task, call, given, result) => {
    const passage = "const passage = 'The bees live in a hollow oak.', prompt = 'It rained, so', choices = ['we stayed.', 'it was dry.'];";
    const code = `const ${call} = await pipeline('${task}', 'some/model');\n${passage}\nawait ${call}(${given}); // ${result}`;
    const { code: program, comments } = reporting(code);
    const [value] = run(program);
    const shown = literalIn(comments[0]!)!;
    const first = (list: unknown) => (Array.isArray(list) ? list[0] : list) as object;
    if (shown.startsWith('[')) expect(value).toBeInstanceOf(Array);
    expect(Object.keys(first(value))).toEqual(Object.keys(first(shownValue(shown))));
  });
});
