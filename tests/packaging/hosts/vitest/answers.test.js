import { pipeline } from 'peruse';
import { pipeline as inlinePipeline } from 'peruse/inline';
import { expect, test } from 'vitest';

test.each([
  ['peruse', pipeline, {}],
  ['peruse', pipeline, { worker: true }],
  ['peruse/inline', inlinePipeline, {}],
  ['peruse/inline', inlinePipeline, { worker: true }],
])('%s answers', async (_, load, options) => {
  const classify = await load('text-classification', 'models/classifier', options);
  expect(await classify('t1 t2')).toEqual([{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }]);
  await classify.dispose();
});
