// Texts that are empty or only white space: the results of transformers and transformers.js, and a notice.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createRedactor, pipeline } from '../../web/dist/index_node.js';
import { pipelineModel, readFixture } from './support/pipeline_models.js';

interface Case {
  task: 'text-classification' | 'token-classification' | 'feature-extraction' | 'zero-shot-classification';
  model: string;
  text: string;
  labels?: string[];
  options?: object;
  expected: unknown;
}

const kHere = { worker: false, variant: 'simd' } as const;
const modelOf = (name: string) => join(fileURLToPath(new URL('../../models', import.meta.url)), `peruse-${name}-tiny`);
const { cases } = await readFixture<{ cases: Case[] }>('pipelines/empty.json');
const kNotice = 'Input 0 is empty or only white space: the result says nothing about a text.';

/** Columns of hidden states in the fixture. */
const kColumns = 4;

async function resultOf({ task, model, text, labels, options }: Case): Promise<{ result: unknown; notices: readonly string[] }> {
  const pipe = (await pipeline(task, modelOf(model), kHere)) as unknown as ((...given: unknown[]) => Promise<unknown>) & {
    info: { notices: string[] };
    dispose(): Promise<void>;
  };
  const found = await pipe(text, ...(labels ? [labels] : []), options);
  await pipe.dispose();
  const { notices } = pipe.info;
  if (task === 'feature-extraction') {
    const [rows] = (found as { tolist(): number[][][] }).tolist();
    return { result: rows!.map((row) => row.slice(0, kColumns)), notices };
  }
  if (task !== 'zero-shot-classification') return { result: found, notices };
  const { labels: names, scores } = found as { labels: string[]; scores: number[] };
  return { result: labels!.map((label) => scores[names.indexOf(label)]), notices };
}

function close(expected: unknown): unknown {
  if (typeof expected === 'number') return expect.closeTo(expected, 4);
  if (Array.isArray(expected)) return expected.map(close);
  if (typeof expected !== 'object' || expected === null) return expected;
  return Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, close(value)]));
}

test.each(cases)('$task of $text is that of transformers', async (one) => {
  const { result, notices } = await resultOf(one);
  expect(result).toEqual(close(one.expected));
  expect(notices).toContain(kNotice);
});

test('an empty question or context has no answer', async () => {
  const answer = await pipeline('question-answering', modelOf('reader-deberta'), kHere);
  const nothing = { answer: '', score: 0, start: 0, end: 0 };
  expect(await answer('Who?', ' ')).toEqual(nothing);
  expect(await answer('', 'Ada wrote it.')).toEqual(nothing);
  expect(await answer('Who?', '', { top_k: 3 })).toEqual([]);
  expect(await answer(['Who wrote it?', ''], ['Ada wrote it.', ''])).toEqual([
    expect.objectContaining({ answer: expect.stringMatching(/./) }),
    nothing,
  ]);
  expect(answer.info.notices).toEqual([kNotice, kNotice.replace('0', '1')]);
  await answer.dispose();
});

test('an empty query ranks documents, and an empty mask text is an error', async () => {
  const rank = await pipeline('text-ranking', await pipelineModel('convbert', 'one-logit'), kHere);
  expect(await rank('', ['a', 'b', ''])).toHaveLength(3);
  expect(rank.info.notices).toContain(kNotice);
  const fill = await pipeline('fill-mask', await pipelineModel('convbert', 'masked-lm'), kHere);
  await expect(fill('')).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('has no mask token [MASK]') });
  await Promise.all([rank.dispose(), fill.dispose()]);
});

test('redaction returns an empty text as it is', async () => {
  const plain = await createRedactor({ patterns: true });
  expect(await plain('')).toMatchObject({ text: '' });
  const redact = await pipeline('redact', modelOf('tagger-convbert'), kHere);
  expect(await redact('')).toMatchObject({ text: '' });
  expect(await redact(' \n')).toMatchObject({ text: ' \n' });
  await Promise.all([plain.dispose(), redact.dispose()]);
});

test('notices name inputs without text', async () => {
  const classify = await pipeline('sentiment-analysis', modelOf('sentiment-convbert'), kHere);
  expect(await classify(['A gem.', '', ' ', '', '\t'])).toHaveLength(5);
  expect(classify.info.notices).toEqual(['Inputs 1, 2, 3 and 1 more are empty or only white space: the results say nothing about a text.']);
  await classify.dispose();
});
