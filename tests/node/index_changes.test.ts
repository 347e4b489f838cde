// Additions, changes and searches of a SemanticIndex that overlap, contradict each other, or have bad arguments.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pipeline, pipeline, SemanticIndex } from '../../web/dist/index_node.js';

let embed: Pipeline<'feature-extraction'>; // vectors of 8 numbers
beforeAll(async () => {
  const folder = fileURLToPath(new URL('../fixtures/sentence/mean', import.meta.url));
  embed = await pipeline('feature-extraction', folder, { variant: 'simd', worker: false });
});
afterAll(() => embed.dispose());

const refused = (words: RegExp) => ({ code: 'invalid_argument', message: expect.stringMatching(words) });

describe('texts and queries become vectors in the same way', () => {
  test('a search with another pooling is refused, and one without has that of the texts', async () => {
    const index = new SemanticIndex(embed);
    await index.add(['a b', 'c d'], { pooling: 'cls' });
    await expect(index.search('a', { pooling: 'mean' })).rejects.toMatchObject(refused(/added with pooling 'cls'; it can't be 'mean'/));
    expect(await index.search('a')).toEqual(await index.search('a', { pooling: 'cls' }));
    const mean = new SemanticIndex(embed);
    await mean.add(['a b', 'c d'], { pooling: 'mean' });
    expect(await index.search('a')).not.toEqual(await mean.search('a'));
  });

  test('later texts have the options of the first, unless they contradict them', async () => {
    const index = new SemanticIndex(embed);
    await index.add(['a b'], { pooling: 'cls' });
    await index.add(['a b']);
    const { vectors } = index;
    expect(vectors.slice(8)).toEqual(vectors.slice(0, 8));
    await expect(index.add(['a'], { prompt: 'd ' })).rejects.toMatchObject(refused(/added without prompt; it can't be 'd '/));
    const prompted = new SemanticIndex(embed);
    await prompted.add(['a b'], { prompt: 'c ' });
    await prompted.add(['a b']);
    expect(prompted.vectors.slice(8)).toEqual(prompted.vectors.slice(0, 8));
    await expect(prompted.add(['a'], { prompt: 'd ' })).rejects.toMatchObject(refused(/added with prompt 'c '/));
    await expect(index.add(['a'], { head_mask: [[1]] })).rejects.toMatchObject(refused(/added without head_mask/));
    const plain = new SemanticIndex(embed);
    await plain.add(['a']);
    await plain.add(['b'], { pooling: 'sentence' });
    const both = await Promise.allSettled([
      new SemanticIndex(embed).add(['a']),
      index.add(['b'], { pooling: 'cls' }),
      index.add(['b'], { pooling: 'mean' }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const empty = new SemanticIndex(embed);
    const first = await Promise.allSettled([empty.add(['a'], { pooling: 'cls' }), empty.add(['b'], { pooling: 'mean' })]);
    expect(first.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(empty.size).toBe(1);
  });

  test('a query to texts with a prompt names its own', async () => {
    const index = new SemanticIndex(embed);
    await index.add(['a b'], { prompt: 'c ' });
    await expect(index.search('a')).rejects.toMatchObject(refused(/added with prompt 'c ', and the query has no prompt/));
    expect(await index.search('a', { prompt: '' })).toHaveLength(1);
    expect(await index.search('a', { prompt: 'd ' })).toHaveLength(1);
    const again = await SemanticIndex.load(embed, await index.save());
    await expect(again.search('a')).rejects.toMatchObject(refused(/no prompt/));
  });

  test.each(['normalize', 'dimensions', 'quantize', 'poolin'])('%s is no option of add and search', async (name) => {
    const index = new SemanticIndex(embed);
    await expect(index.add(['a'], { [name]: false } as never)).rejects.toMatchObject(refused(new RegExp(`no option '${name}'`)));
    await index.add(['a']);
    await expect(index.search('a', { [name]: false } as never)).rejects.toMatchObject(refused(new RegExp(`no option '${name}'`)));
  });

  test("with 'cosine', vectors that are not normalized are refused", async () => {
    const vectors = new Float32Array(24);
    vectors.set([1], 0);
    vectors.set([0.6, 0.8], 8);
    vectors.set([0.9, 0.9], 16);
    await expect(new SemanticIndex(embed, { vectors }).search('a')).rejects.toMatchObject(refused(/Vector 2 has a length of 1\.27/));
    expect(await new SemanticIndex(embed, { vectors, similarity: 'dot' }).search('a')).toHaveLength(3);
    expect(await new SemanticIndex(embed, { vectors: vectors.slice(0, 16), storage: 'int8' }).search('a')).toHaveLength(2);
  });
});

describe('calls overlap', () => {
  test('two additions at once get different ids', async () => {
    const index = new SemanticIndex(embed);
    await Promise.all([index.add(['a', 'b']), index.add(['c']), index.add([{ text: 'd' }, { id: 'own', text: 'e' }])]);
    const hits = await index.search('a');
    expect(hits.map(({ id }) => id).sort()).toEqual([0, 1, 2, 3, 'own']);
    expect(new Set(hits.map(({ index: number }) => number))).toEqual(new Set([0, 1, 2, 3, 4]));
  });

  test('a number that a text has as its id is no default id of another', async () => {
    const index = new SemanticIndex(embed);
    await expect(index.add([{ id: 1, text: 'a' }, 'b'])).rejects.toMatchObject(refused(/Two inputs have the id 1/));
    await index.add([{ id: 1, text: 'a' }]);
    await expect(index.add(['b'])).rejects.toMatchObject(refused(/already has a text with id 1/));
    expect(index.size).toBe(1);
  });

  test('many texts are removed and replaced at the pace of additions, also after a search by keywords', async () => {
    const kTexts = 40_000;
    const vectors = new Float32Array(8 * kTexts).map((_, at) => (at % 8 === 0 ? 1 : 0));
    const index = new SemanticIndex(embed, { vectors });
    await index.search('a');
    const words = Array.from({ length: 3000 }, (_, i) => ({ id: `t${i}`, text: `a b c w${i % 50}` }));
    await index.add(words);
    await index.search('a', { keywords: true });
    const start = performance.now();
    for (let id = 0; id < 20_000; ++id) await index.remove([id]);
    expect(performance.now() - start).toBeLessThan(5000);
    await index.remove(words.slice(0, 2950).map(({ id }) => id));
    const found = await index.search('w7', { keywords: true, top_k: 100 });
    expect(found[0]).toMatchObject({ id: 't2957', score: expect.any(Number) });
    const fresh = new SemanticIndex(embed);
    await fresh.add(words.slice(2950));
    const ids = async (one: SemanticIndex) => (await one.search('w7', { keywords: true, top_k: 1 })).map(({ id }) => id);
    expect(await ids(index)).toEqual(await ids(fresh));
  });

  test('a removed text no longer makes its words common', async () => {
    const kept = ['ab ab', 'cd', 'cd ef'].map((text, i) => ({ id: `k${i}`, text }));
    const removed = Array.from({ length: 40 }, (_, i) => ({ id: `r${i}`, text: 'ab ef' }));
    const index = new SemanticIndex(embed);
    await index.add([...removed, ...kept]);
    const ids = async (one: SemanticIndex) => (await one.search('ab cd', { keywords: true })).map(({ id, score }) => ({ id, score }));
    await ids(index);
    await index.remove(removed.map(({ id }) => id));
    const fresh = new SemanticIndex(embed);
    await fresh.add(kept);
    expect(await ids(index)).toEqual(await ids(fresh));
  });
});

describe('bad arguments are one clear error, and change nothing', () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, {}, true, Symbol('x')])('the id %s', async (id) => {
    const index = new SemanticIndex(embed);
    await expect(index.add([{ id: id as never, text: 'a' }])).rejects.toMatchObject(refused(/The id of input 0 must be/));
    expect(index.size).toBe(0);
  });

  const cycle: Record<string, unknown> = {};
  cycle.own = cycle;
  const failing = {
    toJSON() {
      throw new Error('not today');
    },
  };
  test.each([
    ['a BigInt', { big: 1n }],
    ['a cycle', cycle],
    ['a throwing toJSON()', failing],
    ['a date', new Date(0)],
  ])('metadata that is %s', async (_, metadata) => {
    const index = new SemanticIndex(embed);
    await expect(index.add([{ text: 'a', metadata: metadata as never }])).rejects.toMatchObject(refused(/The metadata of input 0/));
    expect(index.size).toBe(0);
  });

  test('metadata is a copy, so that a search before and after save() finds the same', async () => {
    const metadata: Record<string, unknown> = { kind: 'x', gone: undefined };
    const index = new SemanticIndex(embed);
    await index.add([{ text: 'a', metadata }]);
    metadata.kind = 1n;
    const again = await SemanticIndex.load(embed, await index.save());
    expect(await again.search('a', { filter: { kind: 'x' } })).toEqual(await index.search('a', { filter: { kind: 'x' } }));
  });

  test('a list with holes', async () => {
    const index = new SemanticIndex(embed);
    await expect(index.add(Array(3))).rejects.toMatchObject(refused(/Input 0 must be a string/));
    await expect(index.update(Array(3))).rejects.toMatchObject(refused(/Input 0 must be a string/));
    expect(await index.remove(Array(3))).toBe(0);
  });

  test('a detached buffer', async () => {
    const vectors = new Float32Array(8);
    structuredClone(vectors, { transfer: [vectors.buffer] });
    expect(() => new SemanticIndex(embed, { vectors })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});
