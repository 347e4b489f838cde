/** @jest-environment jsdom */
const { pipeline, PeruseError } = require('peruse');

test.each([{}, { worker: true }])('answers with %j', async (options) => {
  expect(document.body).toBeDefined();
  const classify = await pipeline('text-classification', 'models/classifier', options);
  expect(await classify('t1 t2')).toEqual([{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }]);
  await classify.dispose();
});

test('errors have codes', async () => {
  const error = await pipeline('text-classification', './none').catch((reason) => reason);
  expect(error).toBeInstanceOf(PeruseError);
  expect(error.code).toBe('not_found');
});
