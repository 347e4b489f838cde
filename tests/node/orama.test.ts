import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { peruseEmbeddings } from '../../web/dist/adapters/orama.js';
import { pipeline } from '../../web/dist/index_node.js';

const kModel = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));

test.each(['', '  '])('an empty term (%j) is near to no document, and does not throw', async (term) => {
  const extract = await pipeline('feature-extraction', kModel);
  const { beforeSearch } = peruseEmbeddings(extract, { from: ['title'] });
  const parameters = { mode: 'hybrid', term, vector: undefined as { property?: string; value?: number[] } | undefined };
  await beforeSearch(undefined, parameters);
  const { dims } = await extract('a', { pooling: 'mean' });
  expect(parameters.vector).toEqual({ property: 'embedding', value: new Array(dims[1]!).fill(0) });
  await extract.dispose();
});
