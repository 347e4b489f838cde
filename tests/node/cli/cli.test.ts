import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { kCommands } from '../../../web/dist/cli/commands.js';
import { env } from '../../../web/dist/face.js';
import { startModelServer } from '../support/model_server.js';
import { readTiny } from '../support/tiny_files.js';
import { peruse } from './run_in_test.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const kReader = `${kRoot}models/peruse-reader-deberta-tiny`;

async function tinyFolder(name: string, config: object): Promise<string> {
  const { files } = await readTiny(name);
  const folder = await mkdtemp(join(tmpdir(), 'peruse-tiny-'));
  const old = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
  for (const [file, content] of Object.entries(files)) {
    await writeFile(join(folder, file), file === 'config.json' ? JSON.stringify({ ...old, ...config }) : content);
  }
  return folder;
}

describe('help', () => {
  test('names every command', async () => {
    const { code, out } = await peruse(['--help']);
    expect(code).toBe(0);
    for (const name of Object.keys(kCommands)) expect(out).toContain(`  ${name} `);
  });

  test.each(Object.keys(kCommands))('of %s names all its options', async (name) => {
    for (const args of [
      [name, '--help'],
      ['help', name],
    ]) {
      const { code, out, err } = await peruse(args);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      for (const option of Object.keys(kCommands[name]!.options)) expect(out).toContain(`--${option}`);
      for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(120);
    }
  });

  test("the version is the package's", async () => {
    expect((await peruse(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a command line that makes no sense is one line and exit code 2', () => {
  test.each([
    [['frobnicate'], /no command 'frobnicate'/],
    [['constructor'], /no command 'constructor'/],
    [['help', 'frobnicate'], /no command 'frobnicate'/],
    [['classify'], /<model> is missing/],
    [
      ['redact', 'My name is Zoe'],
      /the first argument is the model, and 'My name is Zoe' is a text: peruse redact <model> 'My name is Zoe'/,
    ],
    [['redact', 'My name is Zoe'], /with --without-model instead of a model, only patterns such as e-mail addresses are found/],
    [['embed', 'some words'], /peruse embed <model> 'some words'; see/],
    [['answer', kReader], /<question> is missing/],
    [['rank', 'x'], /<query> is missing/],
    [['classify', kSentiment, 'x', '--frob'], /--frob/],
    [['classify', kSentiment, 'x', '--top-k'], /top-k/],
    [['classify', kSentiment, 'x', '--top-k', '-1'], /ambiguous/],
    [['classify', kSentiment, 'x', '--top-k', 'many'], /--top-k takes a number, not 'many'/],
    [
      ['classify', kSentiment, 'x', '--dtype', 'q5'],
      /--dtype takes auto or fp32 or fp16 or q8 or int8 or uint8 or q4 or q4f16 or bnb4, not 'q5'/,
    ],
    [['classify', kSentiment, '--labels', ' , '], /--labels names no label/],
    [['cache', 'frob'], /there is no 'frob'/],
    [['cache', 'remove'], /<model> is missing/],
    [['cache', 'clear', 'x'], /'x' is too much/],
    [['classify', kSentiment], /no text was given/],
    [['answer', kReader, 'Where?'], /no text was given/],
  ])('case %#', async (args, words) => {
    const { code, out, err } = await peruse(args);
    expect(err).toMatch(words);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 2, out: '' });
  });

  test('nothing at all: the help on stderr', async () => {
    expect(await peruse([])).toMatchObject({ code: 2, out: '', err: expect.stringContaining('Commands:') });
  });
});

describe('a failure is one line with its code, and exit code 1', () => {
  test.each([
    [['classify', './no/such/folder', 'x'], /no folder '\.\/no\/such\/folder'.*\(not_found\)/],
    [['classify', kSentiment, 'x', '--top-k=-1'], /top_k.*\(invalid_argument\)/],
    [['classify', kSentiment, 'word '.repeat(600)], /\(text_too_long\)/],
    [['tag', kSentiment, 'x'], /\(missing_head\)/],
    [['classify', kSentiment, 'x', '--threads', '99'], /threads.*\(invalid_argument\)/],
  ])('case %#', async (args, words) => {
    const { code, out, err } = await peruse(args.map(String));
    expect(err).toMatch(words);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });
});

test.each(['0', '65535'])('serve-demo takes the port %s, and names a folder of models that is not there', async (port) => {
  const { code, err } = await peruse(['serve-demo', '--port', port, '--models', '/no/such/folder']);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("There is no folder '/no/such/folder'") });
});

describe('models', () => {
  test('classify reads arguments or lines, and prints one JSON line a text', async () => {
    const given = await peruse(['classify', kSentiment, 'A waste of two hours.', 'A gem.']);
    expect(given).toMatchObject({ code: 0, err: '' });
    expect(given.lines).toEqual([
      { text: 'A waste of two hours.', label: 'NEGATIVE', score: expect.any(Number) },
      { text: 'A gem.', label: 'POSITIVE', score: expect.any(Number) },
    ]);
    const read = await peruse(['classify', kSentiment], { input: ['A waste of two hours.', '', 'A gem.'] });
    expect(read).toEqual(given);
    const many = await peruse(['classify', kSentiment], { input: Array.from({ length: 70 }, (_, i) => `text ${i}`) });
    expect(many.lines.map((line) => line.text)).toEqual(Array.from({ length: 70 }, (_, i) => `text ${i}`));
    const all = await peruse(['classify', kSentiment, 'A gem.', '-k', '0', '--truncate', '--function', 'none']);
    expect(all.lines).toEqual([
      {
        text: 'A gem.',
        labels: [
          { label: 'POSITIVE', score: expect.any(Number) },
          { label: 'NEGATIVE', score: expect.any(Number) },
        ],
      },
    ]);
  });

  test('answer cuts answers from its text', async () => {
    const passage = 'The bees live in a hollow oak\nbehind the mill.';
    const { lines } = await peruse(['answer', kReader, 'Where do the bees live?', passage, '-k', '2']);
    expect(lines).toHaveLength(2);
    for (const { answer, start, end } of lines) expect(passage.slice(start, end)).toBe(answer);
    const { lines: read } = await peruse(['answer', kReader, 'Where do the bees live?', '-k', '2'], { input: passage.split('\n') });
    expect(read.map(({ start }) => start)).toEqual(lines.map(({ start }) => start));
  });

  test('tag finds entities where they stand', async () => {
    const text = 'Anna Lindqvist moved from Berlin to Paris.';
    const { lines } = await peruse(['tag', `${kRoot}models/peruse-tagger-convbert-tiny`, text, 'Nobody is here.']);
    expect(lines.map((line) => line.text)).toEqual([text, 'Nobody is here.']);
    expect(lines[0].entities.length).toBeGreaterThan(0);
    for (const { entity_group, start, end } of lines[0].entities) {
      expect(entity_group).toMatch(/^[A-Z]+$/);
      expect(text.slice(start, end).trim()).not.toBe('');
    }
    const { lines: tokens } = await peruse(['tag', `${kRoot}models/peruse-tagger-convbert-tiny`, text, '--aggregation', 'none']);
    for (const item of tokens[0].entities) expect(item).toHaveProperty('entity');
  });

  test('redact counts on standard error what the model could not read', async () => {
    const tagger = `${kRoot}models/peruse-tagger-convbert-tiny`;
    const { out, err } = await peruse(['redact', tagger, '--patterns'], {
      input: ['Mary lives in London.', '\u6211\u53eb\u738b\u4f1f', 'a \u738b b'],
    });
    expect(out).toContain('[LOC_1]');
    expect(out).toContain('\u6211\u53eb['); // the pattern finds the name after 'my name is'
    expect(err).toMatch(/^3 letters in 2 texts are in a script that this model does not read\.$/m);
    expect((await peruse(['redact', tagger], { input: ['Mary lives in London.'] })).err).not.toMatch(/script/);
  });

  test('redact gives texts without their entities, and says what stood there', async () => {
    const tagger = `${kRoot}models/peruse-tagger-convbert-tiny`;
    const input = ['Mary lives in London.', 'Mary works in London.'];
    const { code, out } = await peruse(['redact', tagger], { input });
    expect({ code, out }).toEqual({ code: 0, out: '[PER_1] lives in [LOC_1].\n[PER_1] works in [LOC_1].\n' });
    expect((await peruse(['redact', tagger, '--threshold', '2'], { input })).out).toBe(`${input.join('\n')}\n`);
    const { lines } = await peruse(['redact', tagger, '--json', '--types', 'LOC'], { input });
    expect(lines.map(({ text, mapping }) => ({ text, mapping }))).toEqual([
      { text: 'Mary lives in [LOC_1].', mapping: { '[LOC_1]': 'London' } },
      { text: 'Mary works in [LOC_1].', mapping: { '[LOC_1]': 'London' } },
    ]);
    const others = await peruse(['redact', tagger, '--json'], { input: ['Mary lives in London.', 'John lives in Paris.'] });
    const [first, second] = others.lines.map(({ mapping }) => Object.values(mapping));
    expect(second!.some((text) => first!.includes(text))).toBe(false);
    expect((await peruse(['redact', tagger, 'x', '--rules', 'LOC=mod11'])).err).toMatch(/--rules takes/);
  });

  test('rank sorts documents; classify --labels chooses among labels', async () => {
    const ranker = await tinyFolder('deberta-v2-choice', {
      architectures: ['DebertaV2ForSequenceClassification'],
      id2label: { 0: 'LABEL_0' },
    });
    const nli = await tinyFolder('deberta-v2-sequence', { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } });
    try {
      const { lines } = await peruse(['rank', ranker, 't1 t2'], { input: ['t3 t4', 't5', 't6 t7 t8'] });
      expect(lines.map(({ text }) => text).sort()).toEqual(['t3 t4', 't5', 't6 t7 t8']);
      const scores = lines.map(({ score }) => score);
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
      expect((await peruse(['rank', ranker, 't1 t2', 't3 t4', 't5', '-k', '1'])).lines).toHaveLength(1);
      const chosen = await peruse(['classify', nli, 't1 t2', '--labels', 't5, t6,t7', '--multi-label']);
      expect(chosen.lines[0]).toMatchObject({ sequence: 't1 t2', labels: expect.arrayContaining(['t5', 't6', 't7']) });
    } finally {
      await Promise.all([ranker, nli].map((folder) => rm(folder, { recursive: true })));
    }
  });

  test('embed gives one vector a text', async () => {
    const { lines } = await peruse(['embed', kSentiment, 'one', 'two words', '--normalize']);
    expect(lines).toHaveLength(2);
    for (const { embedding } of lines) {
      expect(embedding.reduce((sum: number, x: number) => sum + x * x, 0)).toBeCloseTo(1, 5);
    }
  });

  test('--debug says on standard error what loading decided', async () => {
    const { err, lines } = await peruse(['classify', kSentiment, 'A gem.', '--debug']);
    expect(err).toMatch(
      /computes on the CPU, build \w+.*\n.*for text-classification: \d+ tensors in use; its head is made of classifier\..*\nAll tensors of the checkpoint are used\./,
    );
    expect(lines).toHaveLength(1);
  });

  test('a progress bar is drawn only on a terminal, and goes away', async () => {
    const { err } = await peruse(['classify', kSentiment, 'A gem.'], { errIsTty: true });
    expect(err).toMatch(/\[#{24}\] \d+\.\d of \d+\.\d MB/);
    expect(err.endsWith('\r\x1b[K')).toBe(true);
  });
});

test('a gated model takes a token, from --token or $HF_TOKEN; what was fetched is there offline', async () => {
  const { files } = await readTiny('deberta-v2-sequence');
  const server = await startModelServer({});
  for (const [name, content] of Object.entries(files)) {
    server.files.set(`a/b/resolve/v1/${name}`, (request, response) => {
      response
        .writeHead(request.headers.authorization === 'Bearer right' ? 200 : 401, { 'content-type': 'application/octet-stream' })
        .end(content);
    });
  }
  const folder = await mkdtemp(join(tmpdir(), 'peruse-cli-'));
  const before = { ...env };
  Object.assign(env, { remoteHost: server.url, cacheFolder: folder });
  const call = ['classify', 'a/b', '--revision', 'v1', 't1 t2'];
  try {
    expect(await peruse(call)).toMatchObject({ code: 1, err: expect.stringContaining('(unauthorized)') });
    expect(await peruse([...call, '--offline'])).toMatchObject({ code: 1, err: expect.stringContaining('(offline)') });
    expect(await peruse([...call, '--token', 'right', '--no-cache'])).toMatchObject({ code: 0 });
    // Entries for missing files, which have empty bodies, may or may not have been stored.
    const bodies = (await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.body'));
    expect(bodies.filter((name) => (statSync(join(folder, 'v3', name), { throwIfNoEntry: false })?.size ?? 0) > 0)).toEqual([]);
    env.cache = true;
    expect(await peruse(call, { environment: { HF_TOKEN: 'right' } })).toMatchObject({ code: 0 });
    server.calls.length = 0;
    expect(await peruse([...call, '--offline'])).toMatchObject({ code: 0 });
    expect(server.calls).toEqual([]);
    expect((await peruse(['cache'])).lines).toHaveLength(3);
    expect((await peruse(['cache', 'remove', 'a/b', '--revision', 'v2'])).lines).toEqual([{ removed: 0 }]);
    expect((await peruse(['cache', 'remove', 'a/b'])).lines).toEqual([{ removed: 3 }]);
    expect((await peruse(['cache', 'clear'])).lines).toEqual([{ removed: 0 }]);
  } finally {
    Object.assign(env, before);
    await server.close();
    await rm(folder, { recursive: true });
  }
});

test('as a process: lines in, lines out, nothing else, and the exit code', () => {
  const run = (args: string[], input = '') =>
    spawnSync(process.execPath, [`${kRoot}web/dist/cli/main.js`, ...args], { input, encoding: 'utf8' });
  const good = run(['classify', kSentiment], 'A gem.\n');
  expect(good).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(good.stdout)).toMatchObject({ text: 'A gem.', label: 'POSITIVE' });
  expect(run(['classify'])).toMatchObject({ status: 2, stdout: '' });
  expect(run(['classify', './nowhere', 'x'])).toMatchObject({ status: 1, stdout: '' });
});

describe('copy-files', () => {
  test('copies what a page loads while it runs, and says what to set', async () => {
    const folder = join(await mkdtemp(join(tmpdir(), 'peruse-copied-')), 'public/peruse');
    const { code, lines, err } = await peruse(['copy-files', folder]);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("env.filesPath = '/peruse/'") });
    const copied = (await readdir(folder)).sort();
    expect(lines).toEqual([{ folder, files: copied, bytes: expect.any(Number) }]);
    expect(copied).toEqual(expect.arrayContaining(['peruse-gpu.js', 'peruse-teach-worker.js', 'peruse-worker.js', 'peruse-simd.wasm']));
    for (const [script, part] of [
      ['peruse-worker.js', 'peruse-onnx.js'],
      ['peruse.js', 'peruse-host.js'],
    ]) {
      const text = await readFile(fileURLToPath(new URL(`../../../web/bundle/${script}`, import.meta.url)), 'utf8');
      const loaded = [...text.matchAll(/\.\/(peruse-[\w-]+\.js)/g)].map(([, name]) => name);
      expect(loaded).toContain(part);
      expect(copied).toEqual(expect.arrayContaining(loaded));
    }
    expect(copied.filter((name) => /\.map$|\.d\.ts$|inline|^peruse\.js$/.test(name))).toEqual([]);
    await rm(folder, { recursive: true });
  });

  test('a folder that can not be written is one line', async () => {
    const { code, err } = await peruse(['copy-files', '/dev/null/peruse']);
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^peruse copy-files: The files can't be copied to '\/dev\/null\/peruse': .*\n$/),
    });
    expect((await peruse(['copy-files', ' '])).code).toBe(2);
  });
});

test.each(['peruse', 'peruse/models'])('a file in place of the cache folder (%s) is one clear error', async (name) => {
  const home = await mkdtemp(join(tmpdir(), 'peruse-home-'));
  await mkdir(dirname(join(home, name)), { recursive: true });
  await writeFile(join(home, name), 'mine');
  vi.stubEnv('XDG_CACHE_HOME', home);
  try {
    for (const verb of [['list'], ['clear'], ['remove', 'a/b']]) {
      expect(await peruse(['cache', ...verb])).toMatchObject({
        code: 1,
        err: expect.stringMatching(/The cache can't be read: .*\(invalid_argument\)/),
      });
    }
  } finally {
    vi.unstubAllEnvs();
    await rm(home, { recursive: true });
  }
});

test('index reads a folder that was named in node_modules, but no node_modules within it', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'peruse-index-')), 'node_modules/pkg');
  await mkdir(join(folder, 'node_modules/x'), { recursive: true });
  await writeFile(join(folder, 'a.md'), 'a b c');
  await writeFile(join(folder, 'node_modules/x/b.md'), 'd e');
  const run = await peruse(['index', folder, '--model', `${kRoot}tests/fixtures/sentence/mean`, '--out', join(folder, 'search.bin')]);
  expect(run.lines[0]).toMatchObject({ texts: 1 });
});
