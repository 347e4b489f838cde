// SemanticIndex with sparse vectors and with late interaction: rankings are those of all scores, in the engine and in the caller's thread.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { max_sim, pipeline, SemanticIndex, type SparseFeatures, type Tensor } from '../../web/dist/index_node.js';
import { kVectorSearch } from '../../web/dist/tasks/vector_search.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kTexts = ['a b c', 'd e f', 'a q', 'g h i j', 'b c d', 'k l m n o', 'p q r', 'ab cd'];
const kQuery = 'a b q';
const kSettings = { variant: 'simd', worker: false } as const;
const load = (name: string) => pipeline('feature-extraction', join(kFixtures, name), kSettings);

const product = (a: SparseFeatures, b: SparseFeatures) => {
  const weights = new Map([...b.indices].map((token, i) => [token, b.values[i]!]));
  return [...a.indices].reduce((sum, token, i) => sum + a.values[i]! * (weights.get(token) ?? 0), 0);
};

const kKinds = [
  { folder: 'sparse/router', pooling: 'splade', score: product as (a: never, b: never) => number, digits: 4 },
  { folder: 'sparse/splade', pooling: 'splade', score: product as (a: never, b: never) => number, digits: 4 },
  // Rows are stored in 8 bits.
  { folder: 'late_interaction/fixed', pooling: 'multi_vector', score: max_sim as (a: never, b: never) => number, digits: 0.5 },
] as const;

type Kind = (typeof kKinds)[number];

async function ranking({ pooling, score }: Kind, embed: Awaited<ReturnType<typeof load>>): Promise<{ id: number; score: number }[]> {
  const query = (await embed(kQuery, { pooling, task: 'query' })) as Tensor | SparseFeatures;
  const texts = (await embed(kTexts, { pooling, task: 'document' })) as (Tensor | SparseFeatures)[];
  const scores = texts.map((text, id) => ({ id, score: score(query as never, text as never) }));
  return scores.filter((one) => one.score !== 0).sort((a, b) => b.score - a.score);
}

test.each(kKinds)('$folder: search, filter, removal, save and load', async (kind) => {
  const { pooling, digits } = kind;
  const embed = await load(kind.folder);
  const index = new SemanticIndex(embed);
  await index.add(
    kTexts.map((text, id) => ({ id, text, metadata: { even: id % 2 === 0 } })),
    { pooling },
  );
  const wanted = await ranking(kind, embed);
  const expectHits = (found: { id: string | number; score: number }[], expected: typeof wanted) => {
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(expected[i]!.score, digits);
  };
  expectHits(await index.search(kQuery), wanted);
  expectHits(await index.search(kQuery, { top_k: 2 }), wanted.slice(0, 2));
  expectHits(
    await index.search(kQuery, { filter: { even: true } }),
    wanted.filter(({ id }) => id % 2 === 0),
  );
  const loaded = await SemanticIndex.load(embed, await index.save());
  expectHits(await loaded.search(kQuery), wanted);
  await loaded.remove([wanted[0]!.id]);
  expectHits(await loaded.search(kQuery), wanted.slice(1));
  await loaded.update([{ id: wanted[0]!.id, text: kTexts[wanted[0]!.id]! }]);
  expectHits(await loaded.search(kQuery), wanted);
  const again = await SemanticIndex.load(embed, await loaded.save());
  expectHits(await again.search(kQuery), wanted);
  await embed.dispose();
});

test('the engine compares matrices as soon as there are more than a few', async () => {
  const embed = await load('late_interaction/fixed');
  const set = vi.spyOn(embed[kVectorSearch], 'set');
  const index = new SemanticIndex(embed);
  await index.add(kTexts, { pooling: 'multi_vector' });
  await index.search(kQuery);
  expect(set).toHaveBeenCalledTimes(0);
  await index.add([...kTexts, ...kTexts]);
  const hits = await index.search(kQuery, { top_k: 24 });
  expect(set).toHaveBeenCalledTimes(1);
  expect(hits).toHaveLength(24);
  await embed.dispose();
});

test.each(kKinds)('$folder: fusion with keywords adds ranks', async ({ folder, pooling }) => {
  const embed = await load(folder);
  const index = new SemanticIndex(embed);
  await index.add(kTexts, { pooling });
  const [first] = await index.search('ab cd', { keywords: true });
  expect(first).toMatchObject({ id: 7 });
  expect(first!.score).toBeGreaterThan(1 / 61);
  await embed.dispose();
});

test('a search with another pooling, and an index of another kind, are refused', async () => {
  const sparse = await load('sparse/splade');
  const index = new SemanticIndex(sparse);
  await index.add(kTexts, { pooling: 'splade' });
  await expect(index.search(kQuery, { pooling: 'mean' })).rejects.toThrow(/added with pooling 'splade'; it can't be 'mean' now/);
  await expect(index.add(['x'], { pooling: 'mean' })).rejects.toThrow(/can't be 'mean' now/);
  await expect(index.nearDuplicates()).rejects.toMatchObject({ code: 'unsupported' });
  expect(() => index.vectors).toThrow(/one vector for each chunk/);
  const file = await index.save();
  const late = await load('late_interaction/fixed');
  await expect(SemanticIndex.load(late, file)).rejects.toThrow(/needs the folder of a SparseEncoder/);
  await expect(new SemanticIndex(late).add(['a'], {})).rejects.toThrow(/pass pooling "multi_vector"/);
  await Promise.all([sparse.dispose(), late.dispose()]);
});

test('options of other kinds are refused; max_terms prunes what is stored', async () => {
  const embed = await load('sparse/splade');
  await expect(new SemanticIndex(embed, { storage: 'int8' }).add(['a'], { pooling: 'splade' })).rejects.toThrow(
    /storage is not for sparse vectors/,
  );
  await expect(new SemanticIndex(embed, { dimensions: 4 }).add(['a'], { pooling: 'splade' })).rejects.toThrow(
    /dimensions is not for sparse/,
  );
  await expect(new SemanticIndex(embed, { max_terms: 4 }).add(['a'], { pooling: 'mean' })).rejects.toThrow(/max_terms is not for dense/);
  await expect(new SemanticIndex(embed, { max_terms: 0 }).add(['a'])).rejects.toThrow(/max_terms must be a whole number from 1 on/);
  const [all, few] = [new SemanticIndex(embed), new SemanticIndex(embed, { max_terms: 3 })];
  for (const index of [all, few]) await index.add(kTexts, { pooling: 'splade' });
  const terms = await embed(kTexts, { pooling: 'splade', task: 'document' });
  const postings = terms.reduce((sum, { indices }) => sum + indices.length, 0);
  const vectorBytes = async (index: SemanticIndex) => new DataView(await (await index.save()).arrayBuffer()).getFloat64(48, true);
  expect(await vectorBytes(all)).toBe(4 * kTexts.length + 8 * postings);
  expect(await vectorBytes(few)).toBe(4 * kTexts.length + 8 * 3 * kTexts.length);
  expect((await few.search(kQuery)).length).toBeGreaterThan(0);
  await embed.dispose();
});
