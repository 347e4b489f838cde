// Embedders, rankers, sparse and late-interaction encoders of 2026: each has a row in the docs, and a folder of its kind with goldens of
// transformers or sentence-transformers, which the named test compares.
import { access, readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');

const kSentence = 'tests/node/sentence.test.ts';
const kRankers = 'tests/node/rankers.test.ts';
const kSparse = 'tests/node/sparse.test.ts';
const kMatrices = 'tests/node/late_interaction.test.ts';
const kM3 = 'tests/node/m3.test.ts';
const kTiny = 'tests/fixtures/tiny/cases.json'; // the programs of tests/native/models compare all of these

const kCovered: readonly (readonly [id: string, folder: string, test: string])[] = [
  ['EuroBERT/EuroBERT-210m', 'tiny/eurobert-masked-lm', kTiny],
  ['jinaai/jina-embeddings-v5-text-nano-retrieval', 'sentence/eurobert-nano', kSentence],
  ['jinaai/jina-embeddings-v5-text-small-retrieval', 'sentence/qwen3-embedding', kSentence],
  ['Qwen/Qwen3-Embedding-0.6B', 'sentence/qwen3-embedding', kSentence],
  ['Qwen/Qwen3-Reranker-0.6B', 'ranking/qwen3-reranker', kRankers],
  ['Qwen/Qwen3-Reranker-0.6B', 'ranking/qwen3-bare', kRankers],
  ['Qwen/Qwen3-Reranker-0.6B', 'tiny/qwen3-sequence', kTiny],
  ['google/embeddinggemma-300m', 'sentence/embedding-gemma', kSentence],
  ['jinaai/jina-embeddings-v3', 'tiny/jina-v3-adapter', kTiny],
  ['jinaai/jina-reranker-v2-base-multilingual', 'tiny/jina-flash-sequence', kTiny],
  ['openai/privacy-filter', 'tiny/privacy-filter-token', kTiny],
  ['nomic-ai/nomic-embed-text-v2-moe', 'tiny/nomic-bert-experts', kTiny],
  ['naver/splade-v3', 'sparse/plain', kSparse],
  ['opensearch-project/opensearch-neural-sparse-encoding-doc-v3-distill', 'sparse/router-idf', kSparse],
  ['colbert-ir/colbertv2.0', 'late_interaction/stanford', kMatrices],
  ['answerdotai/answerai-colbert-small-v1', 'late_interaction/stanford-marked', kMatrices],
  ['lightonai/GTE-ModernColBERT-v1', 'late_interaction/pylate', kMatrices],
  ['lightonai/LateOn', 'late_interaction/pylate', kMatrices],
  ['jinaai/jina-colbert-v2', 'late_interaction/stanford-flash', kMatrices],
  ['mixedbread-ai/mxbai-edge-colbert-v0-17m', 'late_interaction/pylate-prompts', kMatrices],
  ['BAAI/bge-m3', 'm3/published', kM3],
];

describe('has a row in docs/models.md and a folder with goldens', () => {
  test.each(kCovered)('%s: %s', async (id, folder, comparing) => {
    expect(await read('docs/models.md')).toContain(`\`${id}\``);
    await access(new URL(`../fixtures/${folder}`, import.meta.url));
    expect(await read(comparing)).toMatch(new RegExp(`['"]${folder.slice(folder.indexOf('/') + 1)}['"]`));
  });
});

test.each([
  ['bge-m3', 'colbert_linear.pt'],
  ['Router', 'Asym'],
  ['Jina v5', 'custom_st.Transformer'],
])('what is not read of %s is in docs/limits.md: %s', async (name, part) => {
  const rows = (await read('docs/limits.md')).split('\n');
  expect(rows.some((row) => row.startsWith('|') && row.includes(name) && row.includes(part))).toBe(true);
});
