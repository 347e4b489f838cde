import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Pipeline, pipeline, SemanticIndex } from '../../web/dist/index_node.js';

const kFolder = fileURLToPath(new URL('../fixtures/sentence/mean', import.meta.url));
const kLetters = 'abcdefghijklmnopqrstuvw';
const kTexts = Array.from({ length: 150 }, (_, i) =>
  [...String(i).padStart(1 + (i % 5), '7')].map((digit, at) => kLetters[(Number(digit) * 2 + at) % kLetters.length]).join(' '),
);

let embed: Pipeline<'feature-extraction'>;
beforeAll(async () => {
  embed = await pipeline('feature-extraction', kFolder, { variant: 'simd', worker: false });
});
afterAll(() => embed.dispose());

const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

async function expected(query: string, normalize: boolean) {
  const [one, ...all] = await embed([query, ...kTexts], { pooling: 'sentence', prompt: '', normalize });
  const scores = all.map(({ data }, index) => ({ index, score: dot(data, one!.data) }));
  return scores.sort((a, b) => b.score - a.score || a.index - b.index);
}

describe('finds what comparing all vectors finds', () => {
  test.each([
    ['cosine', false],
    ['dot', false],
    ['cosine', true],
  ] as const)('%s, in a worker: %s', async (similarity, worker) => {
    const source = worker ? await pipeline('feature-extraction', kFolder, { variant: 'simd', worker }) : embed;
    const index = new SemanticIndex(source, { similarity });
    await index.add(kTexts.slice(0, 100), { prompt: '' });
    await index.search('a', { prompt: '' }); // sends the first hundred to the engine
    await index.add(kTexts.slice(100), { prompt: '' });
    expect(index.size).toBe(kTexts.length);
    const wanted = await expected('b d f', similarity === 'cosine');
    const found = await index.search('b d f', { prompt: '', top_k: 7 });
    expect(found).toHaveLength(7);
    for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(wanted[i]!.score, 5);
    expect(found[0]!.score).toBeGreaterThan(found[6]!.score);
    expect((await index.search('a', { top_k: 1000 })).length).toBe(kTexts.length);
    if (worker) await source.dispose();
  });
});

test('its vectors are stored and given back, and the engine may forget them', async () => {
  const index = new SemanticIndex(embed);
  await index.add(kTexts);
  const before = await index.search('c e', { top_k: 5 });
  await index.release();
  expect(await index.search('c e', { top_k: 5 })).toEqual(before);
  const again = new SemanticIndex(embed, { vectors: new Float32Array(index.vectors.buffer) });
  const scores = (hits: typeof before) => hits.map(({ index: place, score }) => ({ place, score }));
  expect(scores(await again.search('c e', { top_k: 5 }))).toEqual(scores(before));
  expect(again.size).toBe(kTexts.length);
  const short = new SemanticIndex(embed, { dimensions: 3 });
  await short.add(kTexts.slice(0, 4));
  expect(short.vectors).toHaveLength(12);
  expect(new SemanticIndex(embed, { dimensions: 3, vectors: short.vectors }).size).toBe(4);
});

test('an empty index finds nothing; what can not be is one clear error', async () => {
  expect(await new SemanticIndex(embed).search('a')).toEqual([]);
  const refused = (words: RegExp) => expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(words) });
  expect(() => new SemanticIndex({} as never)).toThrow(refused(/needs a pipeline for feature-extraction/));
  expect(() => new SemanticIndex(embed, { similarity: 'near' as never })).toThrow(refused(/similarity must be/));
  expect(() => new SemanticIndex(embed, { vectors: [1] as never })).toThrow(refused(/Float32Array/));
  const failing = (call: Promise<unknown>) => call.catch((error: unknown) => error);
  expect(await failing(new SemanticIndex(embed, { vectors: new Float32Array(9) }).search('a'))).toEqual(refused(/not a multiple of 8/));
  const nan = new Float32Array(16).fill(1);
  nan[11] = Number.NaN;
  expect(await failing(new SemanticIndex(embed, { vectors: nan }).search('a'))).toEqual(
    refused(/Vector 1 holds a number that is not finite/),
  );
  const index = new SemanticIndex(embed);
  expect(await failing(index.search('a', { top_k: 0 }))).toEqual(refused(/top_k/));
  expect(await failing(index.add('a' as never))).toEqual(refused(/must be a list/));
  expect(await failing(index.add(['a'], { pooling: 'none' }))).toEqual(refused(/pooling 'none'/));
  const short = new SemanticIndex(embed, { dimensions: 3, vectors: new Float32Array(6) });
  await short.add(['a']);
  expect(short.size).toBe(3);
});

describe('what is wrong is told by type and number', () => {
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'none',
      (error: { code?: string }) => error.code,
    );

  test('options that are none', async () => {
    const index = new SemanticIndex(embed);
    await index.add(['a']);
    for (const options of [null, 1, 'x']) {
      expect(() => new SemanticIndex(embed, options as never)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
      expect(await code(index.search('a', options as never))).toBe('invalid_argument');
      expect(await code(index.add(['a'], options as never))).toBe('invalid_argument');
    }
  });

  test('vectors behind a proxy', () => {
    const proxied = new Proxy(new Float32Array(8), {});
    expect(() => new SemanticIndex(embed, { vectors: proxied })).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });

  test('more vectors than memory', async () => {
    const index = new SemanticIndex(embed);
    await index.add(['a']);
    const construct = () => {
      throw new RangeError('Array buffer allocation failed');
    };
    vi.stubGlobal('Float32Array', new Proxy(Float32Array, { construct }));
    try {
      expect(() => index.vectors).toThrow(expect.objectContaining({ code: 'out_of_memory' }));
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('a bad text by its number among all, and none is added', async () => {
    const index = new SemanticIndex(embed);
    const texts = kTexts.map((text, i) => (i === 100 ? (5 as unknown as string) : text));
    await expect(index.add(texts)).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(/^Input 100 /) });
    expect(index.size).toBe(0);
    const long = kTexts.map((text, i) => (i === 100 ? 'a '.repeat(5000) : text));
    await expect(index.add(long, { pooling: 'mean', truncation: false })).rejects.toMatchObject({
      message: expect.stringMatching(/input 100\b/i),
    });
    expect(index.size).toBe(0);
  });

  test('a product that is not finite, by the number of the vector', async () => {
    const { data } = (await embed('a', { pooling: 'sentence' })) as { data: Float32Array };
    const vectors = new Float32Array(2 * data.length);
    vectors.set(
      data.map((value) => 3e38 * Math.sign(value)),
      data.length,
    );
    const index = new SemanticIndex(embed, { vectors, similarity: 'dot' });
    await expect(index.search('a')).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/vector 1 is not finite/),
    });
  });
});
