import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createPeruse } from '../../web/dist/adapters/ai_sdk.js';
import { pipeline } from '../../web/dist/index_node.js';

const kModel = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));

test('a provider loads models by their ids, once, and counts tokens', async () => {
  const peruse = createPeruse();
  const model = peruse.embeddingModel(kModel, { document: { normalize: true } });
  expect(model).toMatchObject({ specificationVersion: 'v3', provider: 'peruse', modelId: kModel });
  const values = ['A gem.', 'A long and dull film.'];
  const { embeddings, usage } = await model.doEmbed({ values });
  const extract = await pipeline('feature-extraction', kModel);
  expect(embeddings).toEqual((await extract(values, { pooling: 'sentence', normalize: true })).tolist());
  const counts = await Promise.all(values.map((value) => extract.tokenizer.count(value)));
  expect(usage.tokens).toBe(counts[0]! + counts[1]!);
  const ranker = peruse.rerankingModel(kModel, { options: { label: 'POSITIVE' } });
  const documents = { type: 'text' as const, values: ['It is dull.', 'It is a gem.'] };
  const { ranking } = await ranker.doRerank({ query: 'The film', documents });
  expect(ranking.map(({ index }) => index).sort()).toEqual([0, 1]);
  await Promise.all([peruse.dispose(), extract.dispose()]);
  await expect(model.doEmbed({ values })).rejects.toMatchObject({ code: 'disposed' });
});

test('a model that cannot be loaded is what its call fails with', async () => {
  const peruse = createPeruse({ specificationVersion: 'v2' });
  const missing = peruse.textEmbeddingModel('./no/such/model');
  await new Promise((resolve) => setTimeout(resolve, 100)); // an unhandled rejection would fail the test
  await expect(missing.doEmbed({ values: ['A text.'] })).rejects.toMatchObject({ code: 'not_found' });
  await peruse.dispose();
});
