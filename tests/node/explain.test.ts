import { afterEach, describe, expect, test } from 'vitest';
import { type PipelineOptions, pipeline, type TaskOrAlias } from '../../web/dist/index_node.js';
import { explain, scoresByWord, wordsOf } from '../../web/src/tasks/explain.js';
import type { TextExplanation } from '../../web/src/tasks/explanations.js';
import type { Answer } from '../../web/src/tasks/question_answering.js';
import type { PipelineTokenizer } from '../../web/src/tasks/tokenizer_calls.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function load<T extends TaskOrAlias>(task: T, name: string, options: PipelineOptions = {}) {
  const made = await pipeline(task, `models/${name}`, options as object);
  kOpen.push(made);
  return made;
}

describe('words', () => {
  test('have offsets into the text, and no white space', () => {
    const text = '  A \u{1F600} film, isn\u2019t it?\n';
    expect(wordsOf(text).map(({ start, end }) => text.slice(start, end))).toEqual(['A', '\u{1F600}', 'film', ',', 'isn\u2019t', 'it', '?']);
    expect(wordsOf('')).toEqual([]);
  });

  test('get the scores of their tokens, those with a leading space too', () => {
    const words = wordsOf('ab cd.');
    const tokens = [
      { start: 0, end: 1, score: 1 },
      { start: 1, end: 2, score: 2 },
      { start: 2, end: 5, score: 4 },
      { start: 5, end: 6, score: 8 },
    ];
    expect(scoresByWord(words, tokens)).toEqual([3, 4, 8]);
  });
});

describe('occlusion of a made model', () => {
  const seen: unknown[][] = [];
  const scoreOf = (text: string) => (text.includes('good') ? 0.6 : 0.1) + (text.includes('film') ? 0.25 : 0);
  const call = async (input: unknown, options: unknown) => {
    seen.push([input, options]);
    const one = (text: string) => [
      { label: 'POSITIVE', score: scoreOf(text) },
      { label: 'NEGATIVE', score: 1 - scoreOf(text) },
    ];
    return Array.isArray(input) ? (input as string[]).map(one) : one(input as string);
  };
  const tokenizer = { convert_tokens_to_ids: async () => [103, undefined] } as unknown as PipelineTokenizer;
  const context = { task: 'text-classification', call, tokenizer } as const;

  test('a word scores what it adds', async () => {
    seen.length = 0;
    const found = (await explain(context, ['A good film'])) as TextExplanation;
    expect(found).toMatchObject({ method: 'occlusion', label: 'POSITIVE', score: 0.85 });
    expect(found.words.map(({ word, start, end }) => [word, start, end])).toEqual([
      ['A', 0, 1],
      ['good', 2, 6],
      ['film', 7, 11],
    ]);
    for (const [index, score] of [0, 0.5, 0.25].entries()) expect(found.words[index]!.score).toBeCloseTo(score, 6);
    expect(seen[1]![0]).toEqual(['[MASK] good film', 'A [MASK] film', 'A good [MASK]']);
  });

  test('another label, another replacement', async () => {
    seen.length = 0;
    const found = (await explain(context, ['A good film', { label: 'NEGATIVE', replacement: '' }])) as TextExplanation;
    expect(found.words.map(({ score }) => Math.round(score * 100))).toEqual([0, -50, -25]);
    expect(seen[1]![0]).toEqual([' good film', 'A  film', 'A good ']);
  });

  test('many words are several calls', async () => {
    seen.length = 0;
    const found = (await explain(context, [Array.from({ length: 70 }, (_, i) => `w${i}`).join(' ')])) as TextExplanation;
    expect(found.words).toHaveLength(70);
    expect(seen.map(([input]) => (Array.isArray(input) ? input.length : 1))).toEqual([1, 32, 32, 6]);
  });

  test.each([
    [['a', { method: 'lime' }], /method must be 'occlusion' or 'gradient', not 'lime'/],
    [['a', { method: 'gradient' }], /'peruse\/teach' must be imported/],
    [['a', { label: 'x' }], /label must be one of POSITIVE, NEGATIVE/],
    [['a', { steps: 0 }], /steps must be/],
    [['a', { replacement: 7 }], /replacement must be a string/],
    [['a', 'b'], /Options must be an object/],
    [[['a']], /The text must be a string, not a list/],
  ])('%j is refused', async (given, message) => {
    await expect(explain(context, given)).rejects.toMatchObject({ name: 'PeruseError', message: expect.stringMatching(message) });
  });
});

test('classification: the differences are those of the pipeline itself', async () => {
  const classify = await load('text-classification', 'peruse-sentiment-convbert-tiny');
  const text = 'A warm, funny film.';
  const found = await classify.explain(text);
  const all = async (one: string) => (await classify(one, { top_k: null })).find(({ label }) => label === found.label)!.score;
  expect(found.label).toBe('POSITIVE');
  expect(found.score).toBeCloseTo(await all(text), 6);
  const funny = found.words.find(({ word }) => word === 'funny')!;
  expect(text.slice(funny.start, funny.end)).toBe('funny');
  expect(funny.score).toBeCloseTo((await all(text)) - (await all('A warm, [MASK] film.')), 5);
  const pair = await classify.explain({ text, text_pair: 'It is dull.' });
  expect(pair.text_pair_words.map(({ word }) => word)).toEqual(['It', 'is', 'dull', '.']);
  await expect(classify.explain(text, { max_answer_len: 1 } as object)).rejects.toThrow(
    /text-classification has no option 'max_answer_len'/,
  );
  await expect(classify.explain(text, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
});

test('zero-shot: the words that speak for a label', async () => {
  const classify = await load('zero-shot-classification', 'peruse-zero-shot-deberta-tiny');
  const text = 'The train to the coast leaves at nine.';
  const { label, score, words } = await classify.explain(text, ['travel', 'cooking']);
  expect(label).toBe('travel');
  const { scores } = await classify(text.replace('train', '[MASK]'), ['travel', 'cooking']).then(({ labels, scores: found }) => ({
    scores: Object.fromEntries(labels.map((one, index) => [one, found[index]!])),
  }));
  expect(words.find(({ word }) => word === 'train')!.score).toBeCloseTo(score - scores.travel!, 5);
});

test('question answering: words of question and context; the answer is looked up where it has moved', async () => {
  const answer = await load('question-answering', 'peruse-reader-deberta-tiny');
  const context = 'Ida lit the lamp in 1902.';
  const found = await answer.explain('Who lit the lamp?', context);
  expect(found.answer.answer).toBe('Ida');
  expect(found.question_words.map(({ word }) => word)).toEqual(['Who', 'lit', 'the', 'lamp', '?']);
  expect(found.words.map(({ word }) => word)).toEqual(['Ida', 'lit', 'the', 'lamp', 'in', '1902', '.']);
  const scoreIn = async (question: string, text: string, [start, end]: [number, number]) => {
    const [answers] = (await answer([question], [text], { top_k: 100 })) as Answer[][];
    return answers!.find((one) => one.start === start && one.end === end)!.score;
  };
  expect(found.words[1]!.score).toBeCloseTo(found.score - (await scoreIn('Who lit the lamp?', 'Ida [MASK] the lamp in 1902.', [0, 3])), 5);
  const when = 'When did Ida light the lamp?';
  const { answer: last, score, words } = await answer.explain(when, context);
  expect(last).toMatchObject({ answer: '1902', start: 20, end: 24 });
  expect(words[0]!.score).toBeCloseTo(score - (await scoreIn(when, '[MASK] lit the lamp in 1902.', [23, 27])), 5);
});

test('tasks without explanations have no such member', async () => {
  expect('explain' in (await load('token-classification', 'peruse-tagger-convbert-tiny'))).toBe(false);
});
