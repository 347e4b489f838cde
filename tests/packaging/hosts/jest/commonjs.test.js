const { pipeline } = require('peruse');
const { Tokenizer } = require('peruse/tokenizer');

test.each([{}, { worker: true }, { threads: 1 }])('answers with %j', async (options) => {
  const classify = await pipeline('text-classification', 'models/classifier', options);
  expect(await classify('t1 t2')).toEqual([{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }]);
  expect(classify.info.worker).toBe(true);
  await classify.dispose();
});

test('counts tokens', async () => {
  const tokenizer = await Tokenizer.from_pretrained('models/classifier');
  expect(tokenizer.count('t1 t2 t3')).toBe(3);
  tokenizer.dispose();
});
