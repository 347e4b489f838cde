// Compares pipelines with transformers' results on the demo models (tests/fixtures/demo), in Node and in browsers.
import { expect } from 'vitest';
import type {
  Answer,
  EntityGroup,
  LabelScore,
  QuestionAnsweringOptions,
  TextClassificationOptions,
  TokenClassificationOptions,
  TokenEntity,
  ZeroShotClassificationOptions,
  ZeroShotClassificationOutput,
} from '../../../web/dist/face.js';
import { renamedOptions } from './renamed_options.js';

/** Rounding of two float32 implementations over a dozen layers and a softmax. */
export const kScoreTolerance = 1e-4;

export interface SentimentFixture {
  options: TextClassificationOptions;
  cases: { text: string; labels: LabelScore[] }[];
}

export interface ReaderFixture {
  cases: { question: string; context: string; options: QuestionAnsweringOptions; answers: Answer[] }[];
}

export interface TaggerFixture {
  /** Offsets are code points. */
  cases: { text: string; options: TokenClassificationOptions; entities: (TokenEntity | EntityGroup)[] }[];
}

export interface ZeroShotFixture {
  cases: { text: string; candidates: string[]; options: ZeroShotClassificationOptions; labels: string[]; scores: number[] }[];
}

export function toUtf16(text: string, codePoint: number): number {
  let index = 0;
  for (let i = 0; i < codePoint; ++i) index += text.codePointAt(index)! > 0xffff ? 2 : 1;
  return index;
}

function expectScores(actual: { score: number }[], expected: { score: number }[], what: string): void {
  actual.forEach(({ score }, i) => {
    expect(Math.abs(score - expected[i]!.score), `score ${i} of ${what}: ${score}, not ${expected[i]!.score}`).toBeLessThan(
      kScoreTolerance,
    );
  });
}

export async function checkSentiment(
  fixture: SentimentFixture,
  classify: (texts: string[], options: TextClassificationOptions) => Promise<unknown>,
): Promise<void> {
  const results = (await classify(
    fixture.cases.map(({ text }) => text),
    fixture.options,
  )) as LabelScore[][];
  expect(results).toHaveLength(fixture.cases.length);
  fixture.cases.forEach(({ text, labels }, i) => {
    const what = JSON.stringify(text.slice(0, 60));
    expect(
      results[i]!.map(({ label }) => label),
      what,
    ).toEqual(labels.map(({ label }) => label));
    expectScores(results[i]!, labels, what);
  });
}

export async function checkReader(
  fixture: ReaderFixture,
  answer: (question: string, context: string, options: QuestionAnsweringOptions) => Promise<unknown>,
): Promise<void> {
  for (const { question, context, options, answers } of fixture.cases) {
    const what = JSON.stringify({ question, options });
    const actual = [await answer(question, context, renamedOptions(options))].flat() as Answer[];
    const expected = answers.map((one) => ({ ...one, start: toUtf16(context, one.start), end: toUtf16(context, one.end) }));
    const spans = (list: Answer[]) => list.map(({ answer: text, start, end }) => ({ answer: text, start, end }));
    expect(spans(actual), what).toEqual(spans(expected));
    for (const one of actual) expect(context.slice(one.start, one.end), what).toBe(one.answer);
    expectScores(actual, expected, what);
  }
}

export async function checkTagger(
  fixture: TaggerFixture,
  tag: (text: string, options: TokenClassificationOptions) => Promise<(TokenEntity | EntityGroup)[]>,
): Promise<void> {
  for (const { text, options, entities } of fixture.cases) {
    const what = JSON.stringify({ text: text.slice(0, 60), options });
    const actual = await tag(text, options);
    const expected = entities.map((one) => ({ ...one, start: toUtf16(text, one.start), end: toUtf16(text, one.end) }));
    const spans = (list: (TokenEntity | EntityGroup)[]) =>
      list.map(({ start, end, ...one }) => ({
        ...('entity' in one ? { entity: one.entity, index: one.index } : { entity_group: one.entity_group }),
        start,
        end,
      }));
    expect(spans(actual), what).toEqual(spans(expected));
    expectScores(actual, expected, what);
  }
}

export async function checkZeroShot(
  fixture: ZeroShotFixture,
  classify: (text: string, labels: string[], options: ZeroShotClassificationOptions) => Promise<ZeroShotClassificationOutput>,
): Promise<void> {
  const scored = (scores: number[]) => scores.map((score) => ({ score }));
  for (const { text, candidates, options, labels, scores } of fixture.cases) {
    const what = JSON.stringify({ text: text.slice(0, 60), options });
    const actual = await classify(text, candidates, options);
    expect(actual.sequence).toBe(text);
    expect(actual.labels, what).toEqual(labels);
    expectScores(scored(actual.scores), scored(scores), what);
  }
}

/** Largest difference of q8's scores. A label may differ only if it was nearly undecided. */
export const kQuantizedDrift = 0.05;

/** Compares q8's labels with the expected ones. Returns the number of differences, and the largest difference of scores. */
export async function checkQuantizedSentiment(
  fixture: SentimentFixture,
  classify: (texts: string[], options: TextClassificationOptions) => Promise<unknown>,
): Promise<{ different: number; drift: number }> {
  const results = (await classify(
    fixture.cases.map(({ text }) => text),
    fixture.options,
  )) as LabelScore[][];
  let different = 0;
  let drift = 0;
  fixture.cases.forEach(({ text, labels }, i) => {
    const what = JSON.stringify(text.slice(0, 60));
    const scoreOf = (list: LabelScore[], label: string) => list.find((one) => one.label === label)!.score;
    for (const { label, score } of labels) drift = Math.max(drift, Math.abs(scoreOf(results[i]!, label) - score));
    if (results[i]![0]!.label === labels[0]!.label) return;
    ++different;
    expect(labels[0]!.score - labels[1]!.score, what).toBeLessThan(2 * kQuantizedDrift);
  });
  expect(drift).toBeLessThan(kQuantizedDrift);
  return { different, drift };
}
