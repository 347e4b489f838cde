import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { env, pipeline } from '../../web/dist/index_node.js';
import { type Encoding, PeruseError, env as sameEnv, Tokenizer } from '../../web/dist/index_tokenizer_node.js';
import { type ModelServer, startModelServer } from './support/model_server.js';

const kRoot = fileURLToPath(new URL('../..', import.meta.url));
const fixture = (name: string) => readFileSync(join(kRoot, 'tests/fixtures/tokenizer', name));
const model = (name: string) => join(kRoot, 'models', name);

interface Golden {
  case: {
    text?: string;
    pair?: string;
    words?: string[];
    special?: boolean;
    truncation?: 'longest_first' | 'only_first' | 'only_second';
    max_length?: number;
    stride?: number;
  };
  windows?: {
    ids: number[];
    types: number[];
    words: (number | null)[];
    sequences: (number | null)[];
    special: number[];
    offsets: number[];
  }[];
  error?: unknown;
  decoded?: string;
}

function utf16Indices(text: string): number[] {
  const indices = [0];
  for (const character of text) indices.push(indices.at(-1)! + character.length);
  return indices;
}

function expectWindow(window: Encoding, golden: NonNullable<Golden['windows']>[number], texts: string[]): void {
  const { ids, types, words, sequences, special, offsets } = golden;
  const indices = texts.map(utf16Indices);
  const units = ids.map((_, t) => {
    const sequence = sequences[t];
    const of = (at: number) => (sequence === null || sequence === undefined ? 0 : indices[sequence]![at]!);
    return [of(offsets[2 * t]!), of(offsets[2 * t + 1]!)];
  });
  expect(window).toEqual({
    ids,
    type_ids: types,
    word_ids: words,
    sequence_ids: sequences,
    special_tokens_mask: special,
    offsets: units,
  });
}

const kFixtures: [string, string[]][] = [
  ['bert', ['vocab.txt', 'tokenizer_config.json']],
  ['added', ['tokenizer.json']],
  ['bpe', ['vocab.json', 'merges.txt']],
  ['unigram', ['spm.model']],
];

describe.each(kFixtures)('%s, every case of the reference library', (name, files) => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await Tokenizer.from_pretrained(Object.fromEntries(files.map((file) => [file, fixture(`${name}.${file}`)])));
  });
  afterAll(() => tokenizer.dispose());

  test('ids, offsets, windows, counts and text', () => {
    const lines = fixture(`${name}.cases.jsonl`).toString().trim().split('\n');
    let compared = 0;
    for (const golden of lines.map((line) => JSON.parse(line) as Golden)) {
      const { text, pair, special, truncation, max_length, stride } = golden.case;
      if (text === undefined || Array.isArray(text) || Array.isArray(pair) || golden.windows === undefined) continue; // cases with words instead of texts
      const common = { ...(pair === undefined ? {} : { text_pair: pair }), add_special_tokens: special ?? true };
      const texts = [text, pair ?? ''];
      const windows =
        truncation === undefined
          ? [tokenizer.encode(text, common)]
          : tokenizer.windows(text, { ...common, truncation, max_length: max_length!, stride: stride! });
      expect(windows, text).toHaveLength(golden.windows.length);
      for (const [index, window] of windows.entries()) expectWindow(window, golden.windows[index]!, texts);
      if (truncation === undefined) expect(tokenizer.count(text, common)).toBe(golden.windows[0]!.ids.length);
      else expect(tokenizer.encode(text, { ...common, truncation, max_length: max_length! }).ids).toEqual(golden.windows[0]!.ids);
      if (golden.decoded !== undefined) {
        expect(tokenizer.decode(golden.windows[0]!.ids, { skip_special_tokens: true }), text).toBe(golden.decoded);
      }
      ++compared;
    }
    expect(compared).toBeGreaterThan(200);
  });
});

describe('a bundled model', () => {
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    tokenizer = await Tokenizer.from_pretrained(model('peruse-reader-deberta-tiny'));
  });
  afterAll(() => tokenizer.dispose());

  test('gives the tokens that the pipeline reads, and cuts where it cuts', async () => {
    const answer = await pipeline('question-answering', model('peruse-reader-deberta-tiny'), { threads: 1 });
    const text = 'The bees \u{1f41d} live in a hollow oak behind the mill. '.repeat(40);
    for (const truncation of [false, true]) {
      const { tokens } = await answer.inspect(truncation ? text : text.slice(0, 100), { truncation });
      const { ids, offsets, special_tokens_mask } = tokenizer.encode(truncation ? text : text.slice(0, 100), { truncation });
      expect(ids).toEqual(tokens.map(({ id }) => id));
      expect(offsets).toEqual(tokens.map(({ start, end }) => [start, end]));
      expect(special_tokens_mask).toEqual(tokens.map(({ special }) => Number(special)));
      expect(tokenizer.convert_ids_to_tokens(ids)).toEqual(tokens.map(({ token }) => token));
    }
    await answer.dispose();
  });

  test('says what it is, and turns tokens to ids and back', () => {
    expect(tokenizer.max_length).toBe(512);
    expect(tokenizer.vocab_size).toBeGreaterThan(5000);
    const { cls_token, sep_token } = tokenizer.special_tokens;
    expect([cls_token!.token, sep_token!.token]).toEqual(['[CLS]', '[SEP]']);
    expect(tokenizer.convert_tokens_to_ids(['[CLS]', 'no such token', '[SEP]'])).toEqual([cls_token!.id, undefined, sep_token!.id]);
    expect(tokenizer.convert_ids_to_tokens([cls_token!.id])).toEqual(['[CLS]']);
    const { ids } = tokenizer.encode('The bees live here.');
    expect(tokenizer.decode(ids)).toBe('[CLS] the bees live here. [SEP]');
    expect(tokenizer.decode(ids, { skip_special_tokens: true })).toBe('the bees live here.');
  });

  test('a long text comes in windows, all of it', () => {
    const text = 'The bees live in a hollow oak. '.repeat(30);
    const windows = tokenizer.windows(text, { max_length: 32, stride: 8 });
    expect(windows.length).toBeGreaterThan(5);
    for (const { ids } of windows) expect(ids.length).toBeLessThanOrEqual(32);
    expect(windows.at(-1)!.offsets.at(-2)![1]).toBe(text.trimEnd().length);
  });

  test('lone surrogates keep the offsets', () => {
    const { offsets } = tokenizer.encode('\ud800 oak');
    expect(offsets.slice(1, -1)).toEqual([
      [2, 3],
      [3, 5],
    ]);
  });

  test.each([
    [() => tokenizer.encode(7 as never), 'invalid_argument', 'The text must be a string, not a number.'],
    [() => tokenizer.encode('a', { trunkation: true } as never), 'invalid_argument', "encode has no option 'trunkation'; it has text_pair"],
    [() => tokenizer.encode('a', { truncation: 'all' as never }), 'invalid_argument', 'truncation must be true, false, "longest_first"'],
    [() => tokenizer.encode('a', { max_length: 4 }), 'invalid_argument', 'they need truncation'],
    [() => tokenizer.encode('a', { truncation: true, max_length: -1 }), 'invalid_argument', 'max_length must be an integer of at least 0'],
    [() => tokenizer.encode('a', { truncation: true, max_length: 1 }), 'invalid_argument', 'leaves no room for the 2 special tokens'],
    [() => tokenizer.encode('a', { text_pair: 1 as never }), 'invalid_argument', 'text_pair must be a string'],
    [() => tokenizer.windows('a b c d', { max_length: 4, stride: 2 }), 'invalid_argument', 'Stride 2 must be less than the 2 tokens'],
    [() => tokenizer.decode([1.5]), 'invalid_argument', 'ids must be non-negative integers; got 1.5.'],
    [() => tokenizer.decode([-1]), 'invalid_argument', 'ids must be non-negative integers; got -1.'],
    [() => tokenizer.decode(undefined as never), 'invalid_argument', 'ids must be a list of token ids'],
    [() => tokenizer.convert_ids_to_tokens([1e9]), 'invalid_argument', 'There is no token with id 1000000000'],
    [() => tokenizer.convert_tokens_to_ids([3] as never), 'invalid_argument', 'Item 0 of tokens must be a string, not a number.'],
  ])('%s is refused', (call, code, message) => {
    const error = caught(call);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(tokenizer.count('still here')).toBe(4);
  });
});

function caught(call: () => unknown): PeruseError {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(PeruseError);
    return error as PeruseError;
  }
  throw new Error('nothing was thrown');
}

describe('loading', () => {
  let server: ModelServer;
  beforeAll(async () => {
    const folder = model('peruse-reader-deberta-tiny');
    const files = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
    server = await startModelServer(
      Object.fromEntries(files.map((file) => [`user/model/resolve/main/${file}`, readFileSync(join(folder, file))])),
    );
  });
  afterAll(() => server.close());

  test('from a hub id: no weights are asked for, and the second time nothing is', async () => {
    const before = env.remoteHost;
    env.remoteHost = server.url;
    try {
      expect(sameEnv.remoteHost).toBe(server.url);
      const seen: string[] = [];
      const first = await Tokenizer.from_pretrained('user/model', {
        progress_callback: (progress) => seen.push(progress.status),
      });
      expect(first.count('The bees')).toBe(5);
      expect(server.requests.filter((path) => /safetensors|\.bin/.test(path))).toEqual([]);
      expect(seen[0]).toBe('initiate');
      expect(seen.at(-1)).toBe('ready');
      const asked = server.requests.length;
      const second = await Tokenizer.from_pretrained('user/model', { offline: true });
      expect(second.encode('The bees')).toEqual(first.encode('The bees'));
      expect(server.requests.length).toBe(asked);
      first.dispose();
      second.dispose();
    } finally {
      env.remoteHost = before;
    }
  });

  test('from a URL, and from files', async () => {
    const url = await Tokenizer.from_pretrained(`${server.url}user/model/resolve/main/`);
    const files = await Tokenizer.from_pretrained({
      'tokenizer.json': readFileSync(join(model('peruse-reader-deberta-tiny'), 'tokenizer.json')),
    });
    expect(url.encode('Two bees').ids).toEqual(files.encode('Two bees').ids);
    expect(files.max_length).toBeUndefined();
    const long = 'bee '.repeat(2000);
    expect(files.encode(long, { truncation: true }).ids).toHaveLength(4002); // without a limit
    url.dispose();
    files.dispose();
  });

  test('from the folder of the encoder that modules.json names', async () => {
    const reader = model('peruse-reader-deberta-tiny');
    const tokenizer = await Tokenizer.from_pretrained({
      'modules.json': JSON.stringify([{ idx: 0, name: '0', path: '0_Transformer', type: 'sentence_transformers.models.Transformer' }]),
      '0_Transformer/config.json': readFileSync(join(reader, 'config.json')),
      '0_Transformer/tokenizer.json': readFileSync(join(reader, 'tokenizer.json')),
    });
    expect(tokenizer.count('The bees')).toBe(5);
    tokenizer.dispose();
  });

  test('what is refused says why', async () => {
    const given = (files: Record<string, string>) => Tokenizer.from_pretrained(files);
    await expect(given({ 'config.json': '{}' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('tokenizer.json'),
    });
    await expect(given({ 'tokenizer.json': '{' })).rejects.toMatchObject({ code: 'malformed_file' });
    await expect(given({ 'tokenizer.json': '<!doctype html>' })).rejects.toMatchObject({ code: 'malformed_file' });
    await expect(Tokenizer.from_pretrained('./nowhere/')).rejects.toMatchObject({ code: 'not_found' });
    await expect(Tokenizer.from_pretrained('x', { device: 'cpu' } as never)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining("no option 'device'"),
    });
    await expect(Tokenizer.from_pretrained(model('peruse-reader-deberta-tiny'), { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    env.filesPath = 'file:///nowhere/';
    await expect(Tokenizer.from_pretrained(model('peruse-reader-deberta-tiny'))).rejects.toMatchObject({ code: 'no_wasm' });
    env.filesPath = undefined;
    await expect(
      Tokenizer.from_pretrained(model('peruse-reader-deberta-tiny'), {
        progress_callback: () => {
          throw new Error('mine');
        },
      }),
    ).rejects.toMatchObject({ code: 'invalid_argument', message: 'progress_callback failed: mine.' });
  });

  test('after dispose() it says so', async () => {
    const tokenizer = await Tokenizer.from_pretrained(model('peruse-reader-deberta-tiny'));
    tokenizer.dispose();
    tokenizer.dispose();
    expect(caught(() => tokenizer.count('a')).code).toBe('disposed');
  });
});
