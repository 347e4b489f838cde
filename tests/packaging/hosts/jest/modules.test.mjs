import { pipeline } from 'peruse';

test.each([{}, { worker: true }])('answers with %j', async (options) => {
  const classify = await pipeline('text-classification', 'models/classifier', options);
  expect(await classify('t1 t2')).toEqual([{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }]);
  await classify.dispose();
});
