// trim, shrink and quantize on every kind of embedder and ranker: what was kept gives the source's numbers, or the command refuses by name.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FeatureExtractionOptions, pipeline } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { trimCheckpoint } from '../../web/dist/quantize/trim.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kHow = { worker: false, variant: 'simd' } as const;

let root: string;
let folders = 0;
const newFolder = () => join(root, `${++folders}`);
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-kinds-'));
});
afterAll(() => rm(root, { recursive: true }));

async function foldersOf(kind: string): Promise<string[]> {
  const names = await readdir(join(kFixtures, kind), { withFileTypes: true });
  return names.filter((entry) => entry.isDirectory()).map(({ name }) => `${kind}/${name}`);
}

/** The first texts that the folder's goldens have. */
async function textsOf(folder: string): Promise<string[]> {
  const stored = JSON.parse(await readFile(join(folder, 'texts.json'), 'utf8')) as { text: string }[] | { texts: { text: string }[] };
  const texts = (Array.isArray(stored) ? stored : stored.texts).map(({ text }) => text).filter(Boolean);
  return [...new Set(texts)].slice(0, 4);
}

interface RouteText {
  text: string;
  task: 'query' | 'document' | null;
  vector: number[];
}

type Given = Pick<FeatureExtractionOptions, 'pooling' | 'prompt_name'> & { task?: 'query' | 'document' };

async function numbersOf(folder: string, texts: readonly string[], given: Given): Promise<number[][]> {
  const embed = await pipeline('feature-extraction', folder, kHow);
  try {
    const found: number[][] = [];
    for (const text of texts) {
      const vectors = (await embed(text, given as FeatureExtractionOptions)) as { data?: Float32Array; values?: number[] };
      found.push([...(vectors.data ?? vectors.values!)]);
    }
    return found;
  } finally {
    await embed.dispose();
  }
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

const kDense = ['sentence/embedding-gemma', 'sentence/qwen3-embedding', 'sentence/eurobert-nano'];
const kLate = await foldersOf('late_interaction');
const kAllSparse = await foldersOf('sparse');
const kCoded = kAllSparse.filter((name) => name.startsWith('sparse/csr')); // whose numbers are not those of pieces
const kSparse = kAllSparse.filter((name) => name !== 'sparse/plain' && !kCoded.includes(name)); // only an option makes sparse/plain sparse

describe('trim keeps the numbers of texts whose pieces are kept', () => {
  test.each(kLate)('%s: markers, prefixes and masks too', async (name) => {
    const [folder, out] = [join(kFixtures, name), newFolder()];
    const texts = await textsOf(folder);
    const { piecesBefore, piecesAfter } = await trimCheckpoint(folder, out, { texts, held_out: texts });
    expect(piecesAfter).toBeLessThan(piecesBefore);
    const isRefused = name.endsWith('/deberta'); // its queries: an expansion that the encoder does not attend to
    for (const task of isRefused ? (['document'] as const) : (['query', 'document'] as const)) {
      const given = { pooling: 'multi_vector', task } as const;
      expect(await numbersOf(out, texts, given), task).toEqual(await numbersOf(folder, texts, given));
    }
  });

  test.each(kCoded)('%s: numbers of a SparseAutoEncoder', async (name) => {
    const [folder, out] = [join(kFixtures, name), newFolder()];
    const texts = await textsOf(folder);
    const { piecesBefore, piecesAfter } = await trimCheckpoint(folder, out, { texts, held_out: texts });
    expect(piecesAfter).toBeLessThan(piecesBefore);
    const given = { pooling: 'splade' } as const;
    expect(await numbersOf(out, texts, given)).toEqual(await numbersOf(folder, texts, given));
  });

  test.each(kDense)('%s: prompts too', async (name) => {
    const [folder, out] = [join(kFixtures, name), newFolder()];
    const texts = await textsOf(folder);
    await trimCheckpoint(folder, out, { texts, held_out: texts });
    const { prompts } = JSON.parse(await readFile(join(folder, 'config_sentence_transformers.json'), 'utf8')) as { prompts: object };
    for (const prompt_name of [undefined, ...Object.keys(prompts)]) {
      const given = { pooling: 'sentence', ...(prompt_name !== undefined && { prompt_name }) } as const;
      expect(await numbersOf(out, texts, given), prompt_name).toEqual(await numbersOf(folder, texts, given));
    }
  });
});

describe('a vocabulary that a model computes with is not trimmed', () => {
  const refusals = [
    ...kSparse.map((name) => [name, /SpladePooling: each number of its vectors/] as const),
    ['ranking/qwen3-reranker', /LogitScore: it reads the score/] as const,
    ['ranking/qwen3-bare', /a language model ranks by pieces of its answer/] as const,
  ];
  test.each(refusals)('%s', async (name, message) => {
    const folder = join(kFixtures, name);
    const how = { texts: ['a b', 'b c'], force: true };
    for (const rewrite of [trimCheckpoint, shrinkCheckpoint]) {
      const out = newFolder();
      await expect(rewrite(folder, out, how)).rejects.toMatchObject({ code: 'unsupported', message: expect.stringMatching(message) });
      await expect(readdir(out)).rejects.toThrow('ENOENT');
    }
  });
});

describe('a q8 copy loads, and its numbers are close', () => {
  const all = [
    ...kDense.map((name) => [name, { pooling: 'sentence' }] as const),
    ...kSparse.map((name) => [name, { pooling: 'splade', task: 'document' }] as const),
    ...kLate.map((name) => [name, { pooling: 'multi_vector', task: 'document' }] as const),
  ];
  test.each(all)('%s', async (name, given) => {
    const [folder, out] = [join(kFixtures, name), newFolder()];
    await quantizeCheckpoint(folder, out);
    const texts = await textsOf(folder);
    const [before, after] = [await numbersOf(folder, texts, given), await numbersOf(out, texts, given)];
    before.forEach((numbers, i) => {
      expect(after[i]!.length).toBe(numbers.length);
      expect(cosine(numbers, after[i]!)).toBeGreaterThan(0.97);
    });
  });

  test.each(['ranking/qwen3-reranker', 'ranking/qwen3-bare', 'ranking/eurobert-dense'])('%s', async (name) => {
    const [folder, out] = [join(kFixtures, name), newFolder()];
    await quantizeCheckpoint(folder, out);
    const rank = await pipeline('text-ranking', out, kHow);
    const [first] = await rank('a b', ['b c', 'c d']);
    expect(first!.score).toBeTypeOf('number');
    await rank.dispose();
  });
});

describe('of a Router whose routes have encoders of their own, one route is written', () => {
  const folder = join(kFixtures, 'router/two-encoders');
  const wantedOf = async (route: string) => {
    const texts = JSON.parse(await readFile(join(folder, 'texts.json'), 'utf8')) as RouteText[];
    return texts.filter(({ task }) => task === route);
  };

  test.each(['query', 'document'] as const)('trimmed, with the vectors of sentence-transformers: %s', async (route) => {
    const [out, wanted] = [newFolder(), await wantedOf(route)];
    const texts = wanted.map(({ text }) => text);
    const { piecesBefore, piecesAfter } = await trimCheckpoint(folder, out, { route, texts, held_out: texts });
    expect(piecesAfter).toBeLessThan(piecesBefore);
    expect(await readdir(out)).not.toContain('router_config.json');
    const found = await numbersOf(out, texts, { pooling: 'sentence', task: route });
    wanted.forEach(({ vector }, i) => {
      vector.forEach((value, j) => {
        expect(found[i]![j], texts[i]).toBeCloseTo(value, 5);
      });
    });
  });

  test.each(['query', 'document'] as const)('q8, close to them, also by shrink: %s', async (route) => {
    const wanted = await wantedOf(route);
    for (const rewrite of [quantizeCheckpoint, shrinkCheckpoint]) {
      const out = newFolder();
      await rewrite(folder, out, { route });
      const found = await numbersOf(
        out,
        wanted.map(({ text }) => text),
        { pooling: 'sentence', task: route },
      );
      wanted.forEach(({ vector }, i) => {
        expect(cosine(found[i]!, vector)).toBeGreaterThan(0.97);
      });
    }
  });

  test('without a route nothing is written', async () => {
    for (const rewrite of [trimCheckpoint, quantizeCheckpoint, shrinkCheckpoint]) {
      const out = newFolder();
      await expect(rewrite(folder, out, { texts: ['a'] })).rejects.toThrow(/option route: 'query' or 'document'/);
      await expect(readdir(out)).rejects.toThrow('ENOENT');
    }
  });
});

test('of a plain SPLADE checkpoint, the weights of the kept pieces stay', async () => {
  const [folder, out] = [join(kFixtures, 'sparse/plain'), newFolder()];
  const texts = await textsOf(folder);
  await trimCheckpoint(folder, out, { texts, held_out: texts });
  const weightsOf = async (from: string) => {
    const embed = await pipeline('feature-extraction', from, { ...kHow, pooling: 'splade' });
    const found = await embed(texts, { pooling: 'splade' });
    await embed.dispose();
    return found.map(({ tokens, values }) => new Map(tokens.map((token, i) => [token, values[i]!])));
  };
  const [before, after] = [await weightsOf(folder), await weightsOf(out)];
  const vocabulary = JSON.parse(await readFile(join(out, 'tokenizer.json'), 'utf8')) as { model: { vocab: object } };
  after.forEach((weights, i) => {
    const kept = [...before[i]!].filter(([token]) => token in vocabulary.model.vocab);
    expect(kept.length).toBeGreaterThan(0);
    expect(weights).toEqual(new Map(kept));
  });
});
