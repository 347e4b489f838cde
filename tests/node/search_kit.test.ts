import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pipeline, pipeline, SemanticIndex } from '../../web/dist/index_node.js';
import { Keywords } from '../../web/dist/search/keywords.js';
import { kVectorSearch } from '../../web/dist/tasks/vector_search.js';
import { pipelineModel } from './support/pipeline_models.js';

const folderOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const kSettings = { variant: 'simd', worker: false } as const;

let embed: Pipeline<'feature-extraction'>;
let tiny: Pipeline<'feature-extraction'>; // Vectors of 8 numbers.
beforeAll(async () => {
  embed = await pipeline('feature-extraction', folderOf('models/peruse-sentiment-convbert-tiny'), kSettings);
  tiny = await pipeline('feature-extraction', folderOf('tests/fixtures/sentence/mean'), kSettings);
});
afterAll(async () => {
  await embed.dispose();
  await tiny.dispose();
});

const kItems = [
  { id: 'tap', text: 'The tap in the kitchen drips all night.', metadata: { kind: 'repair', year: 2024 } },
  { id: 'bill', text: 'Please send me the bill again.', metadata: { kind: 'money', year: 2025 } },
  { id: 'heat', text: 'The heating in the hall fails when it is cold.', metadata: { kind: 'repair', year: 2025 } },
];

describe('texts by id', () => {
  test('are added, replaced and removed', async () => {
    const index = new SemanticIndex(embed);
    await index.add(kItems);
    expect(index.size).toBe(3);
    const [hit] = await index.search(kItems[2]!.text, { top_k: 1 });
    expect(hit).toEqual({
      id: 'heat',
      index: 2,
      start: 0,
      end: 46,
      text: kItems[2]!.text,
      metadata: kItems[2]!.metadata,
      score: expect.closeTo(1, 5),
    });
    await index.update([
      { id: 'heat', text: 'Where do the bees live?' },
      { id: 'new', text: 'A new one.' },
    ]);
    expect(index.size).toBe(4);
    expect((await index.search('Where do the bees live?', { top_k: 1 }))[0]).toMatchObject({ id: 'heat', score: expect.closeTo(1, 5) });
    expect((await index.search(kItems[2]!.text)).filter(({ score }) => score > 0.9999)).toEqual([]);
    expect(await index.remove(['tap', 'unknown'])).toBe(1);
    expect(await index.has('tap')).toBe(false);
    expect((await index.search('tap')).map(({ id }) => id).sort()).toEqual(['bill', 'heat', 'new']);
  });

  test('a failing call changes nothing', async () => {
    const index = new SemanticIndex(embed);
    await index.add(kItems);
    const refused = (message: RegExp) => ({ code: 'invalid_argument', message: expect.stringMatching(message) });
    await expect(
      index.add([
        { id: 'b', text: 'b' },
        { id: 'tap', text: 'a' },
      ]),
    ).rejects.toMatchObject(refused(/id "?'?tap/));
    await expect(
      index.add([
        { id: 'b', text: 'b' },
        { id: 'b', text: 'a' },
      ]),
    ).rejects.toMatchObject(refused(/Two inputs/));
    await expect(index.add([{ id: {} as never, text: 'b' }])).rejects.toMatchObject(refused(/id of input 0/));
    await expect(index.add([{ text: 'b', metadata: 3 as never }])).rejects.toMatchObject(refused(/metadata of input 0/));
    await expect(index.update([{ id: 'tap', text: 'a '.repeat(9000) }], { pooling: 'mean' })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
    await expect(index.add(['x'], { pooling: 'cls' })).rejects.toMatchObject(refused(/were added with pooling/));
    await expect(index.remove('tap' as never)).rejects.toMatchObject(refused(/must be a list/));
    expect(index.size).toBe(3);
    expect((await index.search(kItems[0]!.text, { top_k: 1 }))[0]!.id).toBe('tap');
  });

  test('a filter of values or a function chooses among them', async () => {
    const index = new SemanticIndex(embed);
    await index.add(kItems);
    const ids = async (filter: object) => (await index.search('a', { filter } as never)).map(({ id }) => id).sort();
    expect(await ids({ kind: 'repair' })).toEqual(['heat', 'tap']);
    expect(await ids({ kind: 'repair', year: 2025 })).toEqual(['heat']);
    expect(await ids({ year: [2024, 2026] })).toEqual(['tap']);
    expect(await ids((_: unknown, id: string) => id !== 'tap')).toEqual(['bill', 'heat']);
    await expect(index.search('a', { filter: 'x' as never })).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('chunks', () => {
  const text = readFileSync(folderOf('models/everyday_messages.txt'), 'utf8').slice(0, 6000);

  test('are whole sentences that overlap, cover the text, and fit the limit', async () => {
    const index = new SemanticIndex(embed, { chunk_tokens: 60, chunk_overlap: 20 });
    await index.add([
      { id: 'long', text },
      { id: 'short', text: 'A short one.' },
    ]);
    expect(index.size).toBe(2);
    const hits = (await index.search('bill', { top_k: 1000 })).sort((a, b) => a.start - b.start);
    const long = hits.filter(({ id }) => id === 'long');
    expect(long.length).toBeGreaterThan(10);
    expect(long[0]!.start).toBe(0);
    expect(long.at(-1)!.end).toBe(text.length);
    let overlaps = 0;
    for (const [place, { start, end, text: part }] of long.entries()) {
      expect(part).toBe(text.slice(start, end));
      expect(await embed.tokenizer.count(part, { add_special_tokens: false })).toBeLessThanOrEqual(60);
      if (place === 0) continue;
      expect(start).toBeLessThanOrEqual(long[place - 1]!.end);
      expect(end).toBeGreaterThan(long[place - 1]!.end);
      if (start === long[place - 1]!.end) continue;
      overlaps += 1;
      const shared = text.slice(start, long[place - 1]!.end);
      expect(await embed.tokenizer.count(shared, { add_special_tokens: false })).toBeLessThanOrEqual(20);
    }
    expect(overlaps).toBeGreaterThan(5);
    await index.remove(['long']);
    expect(await index.search('bill')).toHaveLength(1);
  });

  test('split a sentence that is too long between words', async () => {
    const words = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
    const index = new SemanticIndex(embed, { chunk_tokens: 30 });
    await index.add([words]);
    const hits = (await index.search('word', { top_k: 1000 })).sort((a, b) => a.start - b.start);
    for (const { start } of hits.slice(1)) expect(words.slice(start - 1, start)).toBe(' ');
    expect(new Set(hits.flatMap(({ text: part }) => part.trim().split(' '))).size).toBe(300);
  });

  test('refuse limits that make no sense', async () => {
    for (const options of [
      { chunk_tokens: 0 },
      { chunk_tokens: 10, chunk_overlap: 10 },
      { chunk_overlap: 3 },
      { storage: 'int4' },
      { chunks: 3 },
    ]) {
      await expect(new SemanticIndex(embed, options as never).add(['a'])).rejects.toMatchObject({ code: 'invalid_argument' });
    }
  });
});

describe('rankings', () => {
  test('BM25 scores as bm25s (Lucene)', () => {
    const { cases } = JSON.parse(readFileSync(folderOf('tests/fixtures/bm25.json'), 'utf8')) as {
      cases: { documents: string[]; queries: { query: string; scores: number[] }[] }[];
    };
    for (const { documents, queries } of cases) {
      const keywords = new Keywords();
      keywords.add(99, 'removed removed words of the first');
      for (const [row, document] of documents.entries()) keywords.add(row, document);
      keywords.remove(99, 'removed removed words of the first');
      for (const { query, scores } of queries) {
        const found = new Map(keywords.search(query, 1000, () => true).map(({ row, score }) => [row, score]));
        for (const [row, score] of scores.entries()) expect(found.get(row) ?? 0).toBeCloseTo(score, 5);
      }
    }
  });

  test('keywords are fused with vectors by reciprocal rank', async () => {
    const index = new SemanticIndex(embed);
    await index.add(kItems);
    const byVector = (await index.search('drips', { top_k: 3 })).map(({ id }) => id);
    const hits = await index.search('drips', { keywords: true });
    const score = (id: string) => 1 / (61 + byVector.indexOf(id)) + (id === 'tap' ? 1 / 61 : 0);
    expect(hits.map(({ id }) => id)[0]).toBe('tap');
    for (const hit of hits) expect(hit.score).toBeCloseTo(score(hit.id as string), 9);
    await index.update([{ id: 'bill', text: 'It drips, drips and drips.' }]);
    await index.remove(['tap']);
    expect((await index.search('drips', { keywords: true }))[0]!.id).toBe('bill');
    expect(await index.search('drips', { keywords: true, filter: { kind: 'repair' } })).toHaveLength(1);
  });

  test('words of texts without spaces are found', async () => {
    const keywords = new Keywords();
    keywords.add(0, '東京都に住んでいます');
    keywords.add(1, 'ＡＢＣ-12 is written in full width');
    expect(keywords.search('東京', 5, () => true)).toHaveLength(1);
    expect(keywords.search('abc', 5, () => true)[0]!.row).toBe(1);
  });

  test('a cross-encoder orders the first hits', async () => {
    const rank = await pipeline('text-ranking', await pipelineModel('convbert', 'one-logit'), kSettings);
    const index = new SemanticIndex(embed);
    await index.add(kItems);
    const first = await index.search('cold', { top_k: 2 });
    const ranked = await rank(
      'cold',
      first.map(({ text }) => text),
    );
    const hits = await index.search('cold', { top_k: 2, rerank: rank, rerank_top: 2 });
    expect(hits).toEqual(ranked.map(({ corpus_id, score }) => ({ ...first[corpus_id], score })));
    await expect(index.search('cold', { rerank: embed as never })).rejects.toMatchObject({ code: 'invalid_argument' });
    await rank.dispose();
  });

  test('near-duplicates are pairs of different texts', async () => {
    const index = new SemanticIndex(embed);
    await index.add([...kItems, { id: 'again', text: 'The tap in the kitchen drips all night!' }, { id: 'same', text: kItems[1]!.text }]);
    const vectors = new Map(
      await Promise.all(
        [...kItems, { id: 'again', text: 'The tap in the kitchen drips all night!' }].map(async ({ id, text }) => {
          return [id, (await embed(text, { pooling: 'sentence', normalize: true })).data] as const;
        }),
      ),
    );
    const product = (a: string, b: string) => vectors.get(a)!.reduce((sum, value, i) => sum + value * vectors.get(b)![i]!, 0);
    const threshold = product('tap', 'again') - 1e-4;
    const pairs = await index.nearDuplicates({ threshold });
    expect(pairs[0]).toMatchObject({ first: { id: 'bill' }, second: { id: 'same', index: 4, start: 0 }, score: expect.closeTo(1, 5) });
    expect(pairs.map(({ first, second }) => `${first.id} ${second.id}`)).toContain('tap again');
    expect(pairs.every(({ score }) => score >= threshold)).toBe(true);
    for (const wrong of [Number.NaN, '0.9' as never])
      await expect(index.nearDuplicates({ threshold: wrong })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(index.nearDuplicates({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
  });
});

describe('many rows', () => {
  const kRows = 3000;
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 0x7fffffff;
    return seed / 0x7fffffff - 0.5;
  };
  const rowsOf = (count: number) => {
    const vectors = Float32Array.from({ length: count * 8 }, random);
    return vectors.map((value, at) => value / Math.hypot(...vectors.subarray(at - (at % 8), at - (at % 8) + 8)));
  };
  const vectors = rowsOf(kRows);

  test.each(['float32', 'int8'] as const)('%s: the engine finds what comparing all rows finds, also after changes', async (storage) => {
    const index = new SemanticIndex(tiny, { vectors, storage, similarity: 'dot' });
    await index.search('a');
    const removed = Array.from({ length: 1500 }, (_, i) => i * 2).filter((id) => id % 7 !== 0);
    await index.remove(removed.slice(0, 100));
    const again = async () => {
      const found = await index.search('b d', { top_k: 25 });
      for (const { id } of found) expect(await index.has(id)).toBe(true);
      return found;
    };
    await again();
    await index.remove(removed);
    await index.add(['c d', 'e f g']);
    const found = await again();
    const kept = index.vectors;
    expect(kept).toHaveLength(index.size * 8);
    const { data } = (await tiny(['b d'], { pooling: 'sentence' }))[0]!;
    const scores = Array.from({ length: index.size }, (_, row) =>
      kept.subarray(row * 8, row * 8 + 8).reduce((sum, value, i) => sum + value * data[i]!, 0),
    );
    for (const [place, score] of scores
      .sort((a, b) => b - a)
      .slice(0, 25)
      .entries())
      expect(found[place]!.score).toBeCloseTo(score, 4);
  });

  test('a search during an addition finds what was there before', async () => {
    const index = new SemanticIndex(tiny, { vectors });
    let added = false;
    const texts = Array.from({ length: 2000 }, (_, i) => `a ${i % 2 ? 'b' : 'c'} d`);
    const adding = index.add(texts).then(() => {
      added = true;
    });
    const hits = await index.search('b d', { top_k: 3 });
    expect(added).toBe(false);
    expect(hits.every(({ id }) => (id as number) < kRows)).toBe(true);
    await adding;
    expect((await index.search('a b d', { top_k: 1 }))[0]!.id).toBeGreaterThanOrEqual(kRows);
  });

  test('rows of int8 take a quarter of the memory in the engine', async () => {
    const wide = rowsOf(200_000);
    const before = (await tiny.memory()).heapBytes;
    const index = new SemanticIndex(tiny, { vectors: wide, storage: 'int8' });
    await index.search('a');
    expect((await tiny.memory()).heapBytes - before).toBeLessThan(3 * wide.length + (1 << 20));
    await index.release();
    expect(await tiny[kVectorSearch].nearest({ index: 1, query: new Float32Array(8), top_k: 1 })).toBeNull();
  });
});

describe('one file', () => {
  test.each(['float32', 'int8'] as const)('%s: gives the same index back', async (storage) => {
    const index = new SemanticIndex(embed, { chunk_tokens: 12, storage });
    await index.add(kItems, { pooling: 'mean' });
    await index.remove(['bill']);
    const file = await index.save();
    const again = await SemanticIndex.load(embed, file);
    const search = (one: SemanticIndex) => one.search('cold', { pooling: 'mean', keywords: true });
    expect(await search(again)).toEqual(await search(index));
    expect(again.size).toBe(2);
    await again.add(['one more'], { pooling: 'mean' });
    expect((await again.search('one more', { pooling: 'mean', top_k: 1 }))[0]).toMatchObject({ id: 3, text: 'one more' });
    await expect(again.add(['x'], { pooling: 'cls' })).rejects.toMatchObject({ code: 'invalid_argument' });
    const bytes = new Uint8Array(await file.arrayBuffer());
    expect((await SemanticIndex.load(embed, bytes)).vectors).toEqual((await SemanticIndex.load(embed, bytes.buffer)).vectors);
  });

  test('an empty index can be stored', async () => {
    const again = await SemanticIndex.load(embed, await new SemanticIndex(embed).save());
    expect(await again.search('a')).toEqual([]);
  });

  test('another model, precision or damage is refused', async () => {
    const index = new SemanticIndex(embed);
    await index.add(kItems);
    const file = await index.save();
    const other = await pipeline('feature-extraction', folderOf('models/peruse-tagger-convbert-tiny'), kSettings);
    const rounded = await pipeline('feature-extraction', folderOf('models/peruse-sentiment-convbert-tiny'), { ...kSettings, dtype: 'q8' });
    const refusal = (message: RegExp) => ({ code: 'invalid_argument', message: expect.stringMatching(message) });
    await expect(SemanticIndex.load(other, file)).rejects.toMatchObject(refusal(/made with .*sentiment.* not with .*tagger/));
    await expect(SemanticIndex.load(rounded, file)).rejects.toMatchObject(refusal(/dtype 'fp32'/));
    await expect(SemanticIndex.load(tiny, file)).rejects.toMatchObject({ code: 'invalid_argument' });
    const bytes = new Uint8Array(await file.arrayBuffer());
    const code = (damaged: Uint8Array) =>
      SemanticIndex.load(embed, damaged).then(
        () => 'none',
        (error: { code: string }) => error.code,
      );
    expect(await code(bytes.slice(0, -1))).toBe('truncated_file');
    expect(await code(bytes.slice(0, 40))).toBe('truncated_file');
    expect(await code(bytes.slice(0, 5))).toBe('truncated_file');
    expect(await code(new Uint8Array([...bytes, 0]))).toBe('malformed_file');
    expect(await code(bytes.map((byte, at) => (at === 20 ? 0 : byte)))).toBe('malformed_file');
    expect(await code(new TextEncoder().encode('Something else altogether'))).toBe('malformed_file');
    await expect(SemanticIndex.load(embed, 'x' as never)).rejects.toMatchObject({ code: 'invalid_argument' });
    await other.dispose();
    await rounded.dispose();
  });
});
