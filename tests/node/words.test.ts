// Words instead of texts, and other rules for what is a word: token classification as in transformers, GLiNER and GLiNER2 as in their packages.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type PeruseError, pipeline } from '../../web/dist/index_node.js';
import { pipelineModel, readFixture } from './support/pipeline_models.js';

interface Item {
  score: number;
  start: number;
  end: number;
  word_start?: number;
  word_end?: number;
}
interface WordCase {
  family: string;
  words: string[];
  options: { aggregation_strategy: 'none' | 'simple'; ignore_labels: string[] };
  expected: Item[];
}

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const read = (path: string) => readFileSync(`${kFixtures}${path}`);

function glinerFiles(name: string) {
  return {
    'gliner_config.json': read(`gliner/${name}/gliner_config.json`),
    'model.safetensors': read(`gliner/${name}/model.safetensors`),
    'tokenizer.json': read('gliner/tokenizer/tokenizer.json'),
    'tokenizer_config.json': read('gliner/tokenizer/tokenizer_config.json'),
  };
}

function gliner2Files() {
  const own = ['config.json', 'encoder_config/config.json', 'model.safetensors'].map((file) => [file, read(`gliner2/lstm/${file}`)]);
  const tokenizer = ['tokenizer.json', 'tokenizer_config.json'].map((file) => [file, read(`gliner2/tokenizer/${file}`)]);
  return Object.fromEntries([...own, ...tokenizer]) as Record<string, Uint8Array>;
}

/** Removes Python's white space. */
const inkOf = (text: string) => [...text].filter((char) => !/\s/u.test(char) && !'\x1c\x1d\x1e\x1f\x85'.includes(char)).join('');

/** Converts code points to UTF-16 indices. */
function converter(text: string) {
  const units = [0];
  for (const char of text) units.push(units.at(-1)! + char.length);
  return (point: number) => units[point]!;
}

test.for(['convbert', 'deberta-v2'])('token-classification labels lists of words as transformers does: %s', async (family) => {
  const { cases } = await readFixture<{ cases: WordCase[] }>('pipelines/words.json');
  const tag = await pipeline('token-classification', await pipelineModel(family, 'token'));
  const own = cases.filter((one) => one.family === family);
  expect(own).toHaveLength(20);
  for (const { words, options, expected } of own) {
    const found = (await tag(words, { ...options, is_split_into_words: true })) as unknown as Item[];
    const text = words.join(' ');
    const unit = converter(text);
    const places = expected.map((item) => ({
      ...item,
      score: expect.closeTo(item.score, 4) as number,
      start: unit(item.start),
      end: unit(item.end),
      word_start: expect.any(Number) as number,
      word_end: expect.any(Number) as number,
    }));
    expect(found).toEqual(places);
    for (const { start, end, word_start, word_end } of found) {
      expect(words.slice(word_start, word_end).join(' ')).toContain(text.slice(start, end).trim());
      expect(word_end! - word_start!).toBeGreaterThan(0);
    }
  }
  const several = await tag([own[0]!.words, own[1]!.words], { is_split_into_words: true, aggregation_strategy: 'simple' });
  expect(several).toHaveLength(2);
  await tag.dispose();
});

test('long lists of words are read in windows, and each word keeps its number', async () => {
  const tag = await pipeline('token-classification', await pipelineModel('deberta-v2', 'token'));
  const words = Array.from({ length: 120 }, (_, index) => `w${index}`);
  const options = { aggregation_strategy: 'first', ignore_labels: [], is_split_into_words: true } as const;
  await expect(tag(words, options)).rejects.toMatchObject({ code: 'text_too_long' });
  const text = words.join(' ');
  const found = await tag(words, { ...options, stride: 8 });
  const whole = await tag(text, { aggregation_strategy: 'first', ignore_labels: [], stride: 8 });
  expect(found.map(({ entity_group, score, end }) => [entity_group, score, end])).toEqual(
    whole.map(({ entity_group, score, end }) => [entity_group, score, end]),
  );
  expect(found.at(-1)!.word_end).toBeGreaterThan(60);
  for (const { start, end, word_start, word_end } of found) {
    expect(words.slice(word_start, word_end).join(' ')).toBe(text.slice(start, end).trim());
  }
  await tag.dispose();
});

test('wrong words have a clear error, and the pipeline goes on', async () => {
  const tag = await pipeline('token-classification', await pipelineModel('convbert', 'token'));
  const wrong: [unknown, object, RegExp][] = [
    ['a text', { is_split_into_words: true }, /must be a list of words, not a string/],
    [['a', 3], { is_split_into_words: true }, /Item 1 of input 0 must be a string, not a number/],
    [[['a'], 'b'], { is_split_into_words: true }, /Item 0 of input 0 must be a string, not a list/],
    [['a'], { is_split_into_words: 'yes' }, /is_split_into_words must be true or false, not 'yes'/],
    ['a', { words: 'char' }, /token-classification has no option 'words', which is an option of/],
    ['a', null as unknown as object, /Options must be an object, not null/],
  ];
  const call = tag as unknown as (input: unknown, options: object) => Promise<unknown>;
  for (const [input, options, message] of wrong) {
    const error = (await call(input, options).catch((reason: unknown) => reason)) as PeruseError;
    expect([error.code, error.message]).toEqual(['invalid_argument', expect.stringMatching(message)]);
  }
  expect(await call([], { is_split_into_words: true })).toEqual([]);
  expect(await call(['', ' '], { is_split_into_words: true })).toEqual([]);
  expect(await tag(['Anna'], { is_split_into_words: true, ignore_labels: [] })).not.toHaveLength(0);
  await tag.dispose();
});

test('GLiNER finds the same in the words of a text as in the text', async () => {
  const { labels, requests } = JSON.parse(read('gliner/markerV0/expected.json').toString()) as {
    labels: string[];
    requests: { text: string; options: object; entities: { label: string; text: string }[] }[];
  };
  const extract = await pipeline('zero-shot-token-classification', glinerFiles('markerV0'));
  let count = 0;
  for (const { text, options, entities } of requests) {
    const words = text.match(/[\p{L}\p{N}_]+(?:[-_][\p{L}\p{N}_]+)*|[^\s]/gu) ?? [];
    const whole = await extract(text, labels, options);
    const split = await extract(words, labels, { ...options, is_split_into_words: true });
    expect(split.map(({ label, score }) => [label, score])).toEqual(whole.map(({ label, score }) => [label, score]));
    expect(split).toHaveLength(entities.length);
    for (const { word_start, word_end, text: found } of split) expect(words.slice(word_start, word_end).join(' ')).toBe(found);
    count += split.length;
  }
  expect(count).toBeGreaterThan(10);
  expect(await extract([], labels, { is_split_into_words: true })).toEqual([]);
  await extract.dispose();
});

test("'char' makes the words of gliner2's CharLevelSplitter, and an Intl.Segmenter those of its language", async () => {
  const texts = JSON.parse(read('gliner2/char_words.json').toString()) as { text: string; words: string[] }[];
  const segmenter = new Intl.Segmenter('ja', { granularity: 'word' });
  for (const [task, files] of [
    ['zero-shot-token-classification', gliner2Files()],
    ['zero-shot-token-classification', glinerFiles('token')],
  ] as const) {
    const extract = await pipeline(task, files);
    const labels = ['person', 'city'];
    for (const { text, words } of [...texts, { text: '東京タワーで会いましょう。', words: [...'東京タワーで会いましょう。'] }]) {
      const bySegment = [...segmenter.segment(text)].map(({ segment }) => segment).filter((segment) => segment.trim() !== '');
      for (const [rule, split] of [
        ['char', words],
        [segmenter, bySegment],
      ] as const) {
        const found = await extract(text, labels, { words: rule, threshold: 0.2 });
        const expected = await extract(split, labels, { is_split_into_words: true, threshold: 0.2 });
        expect(found.map(({ label, score }) => [label, score])).toEqual(expected.map(({ label, score }) => [label, score]));
        for (const [index, { start, end }] of found.entries()) {
          const { word_start, word_end } = expected[index]!;
          expect(inkOf(text.slice(start, end))).toBe(inkOf(split.slice(word_start, word_end).join('')));
        }
      }
    }
    for (const words of ['letters', new Intl.Segmenter('ja'), {}] as unknown[]) {
      await expect(extract('a', labels, { words: words as 'char' })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: expect.stringContaining("words must be 'whitespace', 'char' or an Intl.Segmenter of words") as string,
      });
    }
    await expect(extract(['a'], labels, { words: 'char', is_split_into_words: true })).rejects.toMatchObject({ code: 'invalid_argument' });
    await extract.dispose();
  }
});

test('structured extraction takes rules for words, and no lists of words', async () => {
  const extract = await pipeline('structured-extraction', gliner2Files());
  const schema = { entities: ['city'] };
  const text = '東京タワー';
  const found = await extract(text, schema, { words: 'char', threshold: 0 });
  const lengths = [found.entities!.city!].flat().map(({ start, end }) => end - start);
  expect(lengths.length).toBeGreaterThan(1);
  const whole = await extract(text, schema, { threshold: 0 });
  expect([whole.entities!.city!].flat().map(({ start, end }) => end - start)).toEqual([5]);
  await expect(extract(['a'], schema, { is_split_into_words: true } as object)).rejects.toMatchObject({ code: 'invalid_argument' });
  await extract.dispose();
});

test('without labels GLiNER finds nothing, as in the package', async () => {
  const extract = await pipeline('zero-shot-token-classification', glinerFiles('markerV0'));
  expect(await extract('Anna lives in Thun.', [])).toEqual([]);
  expect(await extract(['a', 'b'], ' , ')).toEqual([[], []]);
  await expect(extract([3] as unknown as string[], [])).rejects.toMatchObject({ code: 'invalid_argument' });
  await extract.dispose();
});
