// A cleared field in a page: results, and a notice that is loaded on use.
import { expect, test } from 'vitest';
import { pipeline } from '../../web/bundle/peruse.js';

test('empty texts have the results that they have in Node', async () => {
  const { cases } = (await (await fetch('/tests/fixtures/pipelines/empty.json')).json()) as {
    cases: { task: string; expected: { label: string; score: number }[] }[];
  };
  const classify = await pipeline('sentiment-analysis', '/models/peruse-sentiment-convbert-tiny/', { variant: 'simd' });
  const wanted = cases.find(({ task }) => task === 'text-classification')!.expected;
  const [found] = await classify('');
  expect(found).toEqual({ label: wanted[0]!.label, score: expect.closeTo(wanted[0]!.score, 4) as number });
  expect(classify.info.notices).toContain('Input 0 is empty or only white space: the result says nothing about a text.');
  await classify.dispose();
  const answer = await pipeline('question-answering', '/models/peruse-reader-deberta-tiny', { variant: 'simd' });
  expect(await answer('Who?', '')).toEqual({ answer: '', score: 0, start: 0, end: 0 });
  await answer.dispose();
});
