// Late-interaction models: folders of sentence-transformers' MultiVectorEncoder, of PyLate, and of Stanford's ColBERT, with the matrices and
// scores of sentence-transformers.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { max_sim, pipeline, type Tensor } from '../../web/dist/index_node.js';
import { filesOf } from './support/model_hub.js';

const kFixtures = fileURLToPath(new URL('../fixtures/late_interaction/', import.meta.url));
const kTolerance = 1e-5;
const kCases = [
  ...['plain', 'fixed', 'attended', 'min', 'min-long', 'skips-both', 'modern', 'mpnet', 'causal', 'dense', 'merged', 'merged-raw'],
  ...['pylate', 'pylate-text', 'pylate-prompts', 'pylate-empty', 'stanford', 'stanford-marked', 'stanford-flash'],
];

interface Wanted {
  texts: { text: string; task: 'query' | 'document' | null; dims: number[]; values: number[] }[];
  scores: number[][];
}

async function wantedOf(name: string): Promise<Wanted> {
  return JSON.parse(await readFile(join(kFixtures, name, 'texts.json'), 'utf8')) as Wanted;
}

const load = (name: string) => pipeline('feature-extraction', join(kFixtures, name), { variant: 'simd', worker: false });

function expectMatrix(found: Tensor, { dims, values }: Wanted['texts'][number]): void {
  expect(found.dims).toEqual(dims);
  for (const [i, value] of values.entries()) expect(Math.abs(found.data[i]! - value)).toBeLessThan(kTolerance);
}

describe("a text's matrix is the library's", () => {
  test.each(kCases)('%s', async (name) => {
    const embed = await load(name);
    const { texts } = await wantedOf(name);
    for (const wanted of texts) {
      const task = wanted.task === null ? {} : { task: wanted.task };
      expectMatrix(await embed(wanted.text, { pooling: 'multi_vector', ...task }), wanted);
    }
    await embed.dispose();
  });
});

test.each(['fixed', 'stanford'])('batches give the same matrices, and max_sim the scores: %s', async (name) => {
  const embed = await load(name);
  const { texts, scores } = await wantedOf(name);
  const found: Record<string, Tensor[]> = {};
  for (const task of ['query', 'document'] as const) {
    const wanted = texts.filter((one) => one.task === task);
    found[task] = await embed(
      wanted.map(({ text }) => text),
      { pooling: 'multi_vector', task },
    );
    for (const [i, one] of wanted.entries()) expectMatrix(found[task]![i]!, one);
  }
  for (const [q, row] of scores.entries()) {
    for (const [d, score] of row.entries()) expect(max_sim(found.query![q]!, found.document![d + 2]!)).toBeCloseTo(score, 4);
  }
  await embed.dispose();
});

test('options that do not go together are named, and the pipeline stays usable', async () => {
  const embed = await load('fixed');
  for (const [options, message] of [
    [{ pooling: 'multi_vector', dimensions: 4 }, /dimensions is for models with one vector/],
    [{ pooling: 'multi_vector', layer: 0 }, /layer does not go with/],
    [{ pooling: 'multi_vector', quantize: true }, /quantize needs a pooling/],
    [{ pooling: 'multi_vector', top_k: 3 }, /top_k is for sparse vectors/],
    [{ pooling: 'sentence' }, /pass pooling "multi_vector"/],
    [{ pooling: 'splade' }, /needs the folder of a SparseEncoder/],
  ] as const) {
    await expect(embed('a b', options)).rejects.toThrow(message);
  }
  expect((await embed('a b', { pooling: 'multi_vector' })).dims).toEqual([4, 6]);
  await embed.dispose();
  const plain = await load('plain');
  expect((await plain(' ', { pooling: 'multi_vector', task: 'query' })).dims[0]).toBeGreaterThan(0);
  await plain.dispose();
});

test("DeBERTa's documents are the library's; an expansion that it does not attend to is refused", async () => {
  const embed = await load('deberta');
  for (const wanted of (await wantedOf('deberta')).texts.filter(({ task }) => task !== 'query')) {
    expectMatrix(await embed(wanted.text, { pooling: 'multi_vector', ...(wanted.task && { task: wanted.task }) }), wanted);
  }
  await expect(embed('a', { pooling: 'multi_vector', task: 'query' })).rejects.toMatchObject({ code: 'unsupported' });
  await embed.dispose();
});

test('an expansion in front of a query, where the tokenizer pads on the left, is refused', async () => {
  const files: Record<string, Uint8Array> = Object.fromEntries(filesOf(join(kFixtures, 'causal')));
  const settings = JSON.parse(new TextDecoder().decode(files['tokenizer_config.json']!)) as object;
  files['tokenizer_config.json'] = new TextEncoder().encode(JSON.stringify({ ...settings, padding_side: 'left' }));
  const embed = await pipeline('feature-extraction', files, { variant: 'simd', worker: false });
  await expect(embed('a', { pooling: 'multi_vector', task: 'query' })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('padding_side'),
  });
  expect((await embed('a', { pooling: 'multi_vector', task: 'document' })).dims[1]).toBe(6);
  await embed.dispose();
});

test('max_sim refuses rows of other lengths', () => {
  const matrix = (dims: number[]) => ({ dims, data: new Float32Array(dims[0]! * dims[1]!) });
  expect(() => max_sim(matrix([2, 3]), matrix([2, 4]))).toThrow(/\[2, 3\] and \[2, 4\]/);
  expect(() => max_sim(matrix([2, 3]), matrix([0, 3]))).toThrow(/max_sim needs/);
});
