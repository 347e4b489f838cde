// Sparse encoders: folders of sentence-transformers' SparseEncoder, and plain masked language models, with the library's vectors.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { pipeline, type SparseFeatures } from '../../web/dist/index_node.js';

const kFixtures = fileURLToPath(new URL('../fixtures/sparse/', import.meta.url));
const kTolerance = 1e-5;
const kCases = [
  'splade',
  'log1p',
  'sum',
  'sum-log1p',
  'modern',
  'plain',
  'router',
  'router-idf',
  'router-alike',
  'csr',
  'csr-standardised',
  'most',
  'csr-most',
];

interface Wanted {
  text: string;
  options: { prompt?: string; top_k?: number; task?: 'query' | 'document' };
  size: number;
  indices: number[];
  tokens: string[];
  values: number[];
}

async function wantedOf(name: string): Promise<Wanted[]> {
  return JSON.parse(await readFile(join(kFixtures, name, 'texts.json'), 'utf8')) as Wanted[];
}

const kSettings = { variant: 'simd', worker: false } as const;
const load = (name: string) =>
  pipeline('feature-extraction', join(kFixtures, name), name === 'plain' ? { ...kSettings, pooling: 'splade' } : kSettings);

function expectVector(found: SparseFeatures, wanted: Wanted): void {
  expect(found.indices).toBeInstanceOf(Uint32Array);
  expect([...found.indices]).toEqual(wanted.indices);
  expect(found.tokens).toEqual(wanted.tokens);
  expect(found.size).toBe(wanted.size);
  expect(found.values).toBeInstanceOf(Float32Array);
  for (const [i, value] of wanted.values.entries()) expect(Math.abs(found.values[i]! - value)).toBeLessThan(kTolerance);
}

describe("a sparse encoder's vectors are the library's", () => {
  test.each(kCases)('%s', async (name) => {
    const embed = await load(name);
    for (const wanted of await wantedOf(name)) {
      expectVector(await embed(wanted.text, { pooling: 'splade', ...wanted.options }), wanted);
    }
    await embed.dispose();
  });
});

test.each(['splade', 'router'])('several texts are a list, and batches give the same vectors: %s', async (name) => {
  const embed = await load(name);
  for (const task of ['query', 'document'] as const) {
    const wanted = (await wantedOf(name)).filter(({ options }) => options.task === task);
    const found = await embed(
      wanted.map(({ text }) => text),
      { pooling: 'splade', task },
    );
    for (const [i, one] of wanted.entries()) expectVector(found[i]!, one);
  }
  await embed.dispose();
});

test('a text without content is a vector of zeros if a table encodes it', async () => {
  const embed = await load('router');
  const several = await embed([' ', 'a', ' '], { pooling: 'splade', task: 'query' });
  expect(several.map(({ tokens, values }) => [tokens.length, values.length])).toEqual([
    [0, 0],
    [1, 1],
    [0, 0],
  ]);
  expect(await embed(' ', { pooling: 'splade', task: 'query' })).toMatchObject({ tokens: [], values: new Float32Array() });
  expect((await embed('a', { pooling: 'splade', task: 'query' })).tokens).toEqual(['a']);
  await embed.dispose();
});

test('options that do not go together are named, and the pipeline stays usable', async () => {
  const sparse = await load('splade');
  for (const [options, message] of [
    [{ pooling: 'splade', dimensions: 4 }, /dimensions is for dense vectors: use top_k/],
    [{ pooling: 'splade', layer: 0 }, /layer is for dense vectors/],
    [{ pooling: 'splade', normalize: true }, /normalize is for dense vectors/],
    [{ pooling: 'splade', top_k: 0 }, /top_k/],
    [{ pooling: 'splade', quantize: true }, /quantize is for dense vectors/],
    [{ pooling: 'mean', top_k: 3 }, /top_k is for sparse vectors/],
    [{ pooling: 'mean', task: 'query' }, /task need pooling "sentence", "splade" or "multi_vector"/],
    [{ pooling: 'sentence' }, /pass pooling "splade"/],
  ] as const) {
    await expect(sparse('a b', options)).rejects.toThrow(message);
  }
  expect((await sparse('a b', { pooling: 'splade' })).tokens.length).toBeGreaterThan(0);
  await sparse.dispose();

  const dense = await pipeline('feature-extraction', join(kFixtures, 'plain'), kSettings);
  await expect(dense('a b', { pooling: 'splade' })).rejects.toThrow(/loaded with pooling: "splade"/);
  await dense.dispose();
  const folder = join(kFixtures, 'plain');
  const wrong = { ...kSettings, pooling: 'max' as 'splade' };
  await expect(pipeline('feature-extraction', folder, wrong)).rejects.toThrow(/pooling must be 'splade' or 'multi_vector'/);
  const sentence = join(kFixtures, '../sentence/mean');
  const misplaced = { ...kSettings, pooling: 'splade' } as const;
  await expect(pipeline('feature-extraction', sentence, misplaced)).rejects.toThrow(
    /modules.json names no such pooling, and there is no sparse_linear.pt/,
  );
});

test('a dense and a sparse pipeline of a masked language model share its weights', async () => {
  const folder = join(kFixtures, 'plain');
  const dense = await pipeline('feature-extraction', folder, kSettings);
  const sparse = await load('plain');
  expect([dense.info.shared, sparse.info.shared]).toEqual([false, true]);
  const [wanted] = await wantedOf('plain');
  expectVector(await sparse(wanted!.text, { pooling: 'splade' }), wanted!);
  await Promise.all([dense.dispose(), sparse.dispose()]);
});
