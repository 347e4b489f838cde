// BGE M3: dense vectors, weights of tokens and matrices of one folder, with FlagEmbedding's numbers.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  describe as describeFolder,
  max_sim,
  pipeline,
  SemanticIndex,
  type SparseFeatures,
  type Tensor,
} from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { trimCheckpoint } from '../../web/dist/quantize/trim.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kCases = ['published', 'trained'];
const kTolerance = 1e-5;
const kHow = { variant: 'simd', worker: false } as const;
const kHeads = { splade: 'sparse_linear.pt', multi_vector: 'colbert_linear.pt' } as const;
type Pooling = keyof typeof kHeads;

interface Wanted {
  size: number;
  texts: {
    text: string;
    dense: number[];
    sparse: { indices: number[]; tokens: string[]; values: number[] };
    rows: { dims: number[]; values: number[] };
  }[];
  /** The first text is the query: its scores with all texts. */
  scores: { sparse: number[]; colbert: number[] };
}

const folderOf = (name: string) => join(kFixtures, 'm3', name);
const wantedOf = async (name: string) => JSON.parse(await readFile(join(folderOf(name), 'texts.json'), 'utf8')) as Wanted;
const load = (folder: string, pooling?: Pooling) => pipeline('feature-extraction', folder, { ...kHow, ...(pooling && { pooling }) });

function expectNear(found: ArrayLike<number>, wanted: readonly number[]): void {
  expect(found.length).toBe(wanted.length);
  for (const [i, value] of wanted.entries()) expect(Math.abs(found[i]! - value)).toBeLessThan(kTolerance);
}

let root: string;
let copies = 0;
const newFolder = () => join(root, `${++copies}`);
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-m3-'));
});
afterAll(() => rm(root, { recursive: true }));

describe.each(kCases)("%s: the results are FlagEmbedding's", (name) => {
  test('sparse', async () => {
    const { size, texts, scores } = await wantedOf(name);
    const embed = await load(folderOf(name), 'splade');
    const found = await embed(
      texts.map(({ text }) => text),
      { pooling: 'splade' },
    );
    for (const [i, { text, sparse }] of texts.entries()) {
      const alone = await embed(text, { pooling: 'splade', task: 'query' });
      for (const one of [found[i]!, alone]) {
        expect([...one.indices], text).toEqual(sparse.indices);
        expect(one.tokens).toEqual(sparse.tokens);
        expect(one.size).toBe(size);
        expectNear(one.values, sparse.values);
      }
    }
    const query = new Map([...found[0]!.indices].map((id, i) => [id, found[0]!.values[i]!]));
    const product = ({ indices, values }: SparseFeatures) =>
      [...indices].reduce((sum, id, i) => sum + (query.get(id) ?? 0) * values[i]!, 0);
    for (const [i, score] of scores.sparse.entries()) expect(product(found[i]!)).toBeCloseTo(score, 4);
    expect((await embed(texts[0]!.text, { pooling: 'splade', top_k: 2 })).tokens).toEqual(texts[0]!.sparse.tokens.slice(0, 2));
    await embed.dispose();
  });

  test('multi-vector', async () => {
    const { texts, scores } = await wantedOf(name);
    const embed = await load(folderOf(name), 'multi_vector');
    const found = await embed(
      texts.map(({ text }) => text),
      { pooling: 'multi_vector' },
    );
    for (const [i, { text, rows }] of texts.entries()) {
      const alone = await embed(text, { pooling: 'multi_vector', task: 'document' });
      for (const one of [found[i]!, alone]) {
        expect(one.dims, text).toEqual(rows.dims);
        expectNear(one.data as Float32Array, rows.values);
      }
      // FlagEmbedding divides the score by the number of the query's rows.
      expect(max_sim(found[0]!, found[i]!) / found[0]!.dims[0]!).toBeCloseTo(scores.colbert[i]!, 5);
    }
    await embed.dispose();
  });

  test('dense', async () => {
    const { texts } = await wantedOf(name);
    const embed = await load(folderOf(name));
    const options = name === 'published' ? ({ pooling: 'sentence' } as const) : ({ pooling: 'cls', normalize: true } as const);
    for (const { text, dense } of texts) expectNear((await embed(text, { truncation: true, ...options })).data as Float32Array, dense);
    await embed.dispose();
  });
});

test('three pipelines share the weights, and say what each needs', async () => {
  const folder = folderOf('published');
  const [dense, sparse, rows] = [await load(folder), await load(folder, 'splade'), await load(folder, 'multi_vector')];
  expect([dense, sparse, rows].map(({ info }) => info.shared)).toEqual([false, true, true]);
  await expect(dense('a', { pooling: 'splade' })).rejects.toThrow(/loaded with pooling: "splade"/);
  await expect(dense('a', { pooling: 'multi_vector' })).rejects.toThrow(/loaded with pooling: "multi_vector"/);
  await expect(sparse('a', { pooling: 'sentence' })).rejects.toThrow(/pass pooling "splade"/);
  await expect(sparse('a', { pooling: 'splade', normalize: true })).rejects.toThrow(/normalize is for dense vectors/);
  await expect(rows('a', { pooling: 'sentence' })).rejects.toThrow(/pass pooling "multi_vector"/);
  await Promise.all([dense, sparse, rows].map((one) => one.dispose()));
});

test('the files are requested only for their pooling, and only where a folder may have them', async () => {
  const requested: string[] = [];
  const server = createServer((request, response) => {
    requested.push(request.url!);
    readFile(join(kFixtures, request.url!)).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, resolve));
  const at = `http://localhost:${(server.address() as AddressInfo).port}`;
  const layersOf = async (folder: string, pooling?: Pooling) => {
    requested.length = 0;
    const embed = await load(`${at}/${folder}`, pooling).catch(() => undefined);
    await embed?.dispose();
    return requested.filter((url) => url.endsWith('.pt'));
  };
  try {
    expect(await layersOf('m3/published')).toEqual([]);
    expect(await layersOf('m3/published', 'splade')).toEqual(['/m3/published/sparse_linear.pt']);
    expect(await layersOf('m3/trained', 'multi_vector')).toEqual(['/m3/trained/colbert_linear.pt']);
    for (const other of ['sparse/plain', 'sparse/splade', 'sparse/router']) expect(await layersOf(other, 'splade')).toEqual([]);
    for (const other of ['late_interaction/fixed', 'late_interaction/pylate', 'late_interaction/stanford']) {
      expect(await layersOf(other, 'multi_vector')).toEqual([]);
    }
  } finally {
    server.close();
  }
});

test('the option is allowed, and has no effect, if the folder says the same', async () => {
  for (const [folder, pooling] of [
    ['sparse/splade', 'splade'],
    ['sparse/csr', 'splade'],
    ['late_interaction/fixed', 'multi_vector'],
    ['late_interaction/stanford', 'multi_vector'],
  ] as const) {
    const [with_, without] = [await load(join(kFixtures, folder), pooling), await load(join(kFixtures, folder))];
    expect(await with_('a b', { pooling })).toEqual(await without('a b', { pooling }));
    await Promise.all([with_.dispose(), without.dispose()]);
  }
});

describe.each(Object.entries(kHeads) as [Pooling, string][])('%s: a fault of %s is one error that names it', (pooling, file) => {
  const withFile = async (content: Uint8Array | undefined) => {
    const folder = newFolder();
    await cp(folderOf('published'), folder, { recursive: true });
    await (content ? writeFile(join(folder, file), content) : rm(join(folder, file)));
    return load(folder, pooling);
  };

  test('it is missing', async () => {
    await expect(withFile(undefined)).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(file) });
  });

  test('it is that of the other pooling', async () => {
    const other = kHeads[pooling === 'splade' ? 'multi_vector' : 'splade'];
    const content = await readFile(join(folderOf('published'), other));
    await expect(withFile(content)).rejects.toMatchObject({ code: 'shape_mismatch', message: expect.stringContaining(file) });
  });

  test('it is cut, empty, or no file of weights', async () => {
    const content = await readFile(join(folderOf('published'), file));
    for (const bad of [content.subarray(0, 700), new Uint8Array(0), new TextEncoder().encode('<html></html>')]) {
      await expect(withFile(bad)).rejects.toMatchObject({
        code: expect.stringMatching(/^(malformed_file|truncated_file)$/),
        message: expect.stringContaining(file),
      });
    }
  });

  test('its pickle calls a function', async () => {
    const content = Buffer.from(await readFile(join(folderOf('published'), file)));
    const at = content.indexOf('_rebuild_tensor_v2');
    expect(at).toBeGreaterThan(0);
    content.write('_system_command_v2', at);
    await expect(withFile(content)).rejects.toMatchObject({
      code: expect.stringMatching(/^(malformed_file|unsupported)$/),
      message: expect.stringContaining(file),
    });
  });

  test('its numbers are of another model', async () => {
    // The same shapes under other names.
    const content = Buffer.from(await readFile(join(folderOf('published'), file)));
    content.write('w3ight', content.indexOf('weight'));
    await expect(withFile(content)).rejects.toMatchObject({ code: 'missing_tensor', message: expect.stringContaining(file) });
  });
});

test('another pooling of a load, or a folder without such layers, is refused by name', async () => {
  await expect(load(join(kFixtures, 'sentence/mean'), 'multi_vector')).rejects.toThrow(
    /no such pooling, and there is no colbert_linear.pt/,
  );
  await expect(load(join(kFixtures, 'sparse/plain'), 'multi_vector')).rejects.toThrow(/colbert_linear.pt/);
  await expect(load(folderOf('published'), 'mean' as Pooling)).rejects.toThrow(/pooling must be 'splade' or 'multi_vector'/);
});

test('describe says what each load gives', async () => {
  const vectorsOf = async (pooling?: Pooling) => (await describeFolder(folderOf('published'), pooling && { pooling })).vectors;
  expect(await vectorsOf()).toMatchObject({ kind: 'dense', dimensions: 8, pooling: ['cls'], similarity: 'cosine' });
  expect(await vectorsOf('splade')).toMatchObject({ kind: 'sparse', dimensions: 43, pooling: ['splade'], similarity: 'dot' });
  expect(await vectorsOf('multi_vector')).toMatchObject({ kind: 'multi_vector', dimensions: 8, pooling: [], similarity: 'maxsim' });
  const { downloads, refused } = await describeFolder(folderOf('published'), { pooling: 'splade' });
  expect(refused['feature-extraction']).toBeUndefined();
  expect(downloads[0]!.tasks).toContain('feature-extraction');
});

test.each([undefined, 'splade', 'multi_vector'] as const)('an index of kind %s ranks as the vectors do', async (pooling) => {
  const texts = (await wantedOf('published')).texts.map(({ text }) => text).filter(Boolean);
  const embed = await load(folderOf('published'), pooling);
  const index = new SemanticIndex(embed);
  await index.add(texts, pooling && { pooling });
  const [first] = await index.search(texts[0]!);
  expect(first!.text).toBe(pooling === 'splade' ? texts.at(-1) : texts[0]);
  const again = await SemanticIndex.load(embed, await index.save());
  expect((await again.search(texts[0]!)).map(({ text }) => text)).toEqual((await index.search(texts[0]!)).map(({ text }) => text));
  await embed.dispose();
});

describe('copies keep the layers', () => {
  const texts = async () => (await wantedOf('published')).texts.map(({ text }) => text).filter(Boolean);
  const numbersOf = async (folder: string, pooling: Pooling) => {
    const embed = await load(folder, pooling);
    const found = (await embed(await texts(), { pooling })) as (Tensor | SparseFeatures)[];
    await embed.dispose();
    return found;
  };

  test.each(Object.keys(kHeads) as Pooling[])('trimmed, the numbers stay: %s', async (pooling) => {
    const out = newFolder();
    const used = await texts();
    const { piecesBefore, piecesAfter } = await trimCheckpoint(folderOf('published'), out, { texts: used, held_out: used });
    expect(piecesAfter).toBeLessThan(piecesBefore);
    const [before, after] = [await numbersOf(folderOf('published'), pooling), await numbersOf(out, pooling)];
    for (const [i, one] of before.entries()) {
      if ('tokens' in one) expect((after[i] as SparseFeatures).tokens).toEqual(one.tokens);
      const values = (of: Tensor | SparseFeatures) => ('tokens' in of ? of.values : (of.data as Float32Array));
      expect(values(after[i]!)).toEqual(values(one));
    }
  });

  test.each([quantizeCheckpoint, shrinkCheckpoint])('in 8 bits: %o', async (rewrite) => {
    const out = newFolder();
    await rewrite(folderOf('trained'), out);
    for (const file of Object.values(kHeads))
      expect(await readFile(join(out, file))).toEqual(await readFile(join(folderOf('trained'), file)));
    for (const pooling of Object.keys(kHeads) as Pooling[]) expect((await numbersOf(out, pooling)).length).toBe((await texts()).length);
  });
});
