// The explanations of pipelines, which load on use (web/bundle/peruse-extras.js in pages).
import { PeruseError, show } from '../errors.js';
import type { TextRange } from '../redact/text_folding.js';
import { checkString, nameOf } from './call.js';
import {
  type Explained,
  type ExplainedWord,
  type ExplainGradient,
  type ExplainOptions,
  type Explains,
  type Explanation,
  type GradientRequest,
  kExplained,
} from './explanations.js';
import type { PipelineTokenizer } from './tokenizer_calls.js';

/** Inputs of one call: few, so that an abort takes effect soon. */
const kAtOnce = 32;

export async function explain(context: ExplainContext, given: readonly unknown[]): Promise<Explanation> {
  const task = kExplained[context.task];
  const last = given.at(-1);
  const hasOptions = given.length > task.inputs && last !== undefined;
  if (hasOptions && (typeof last !== 'object' || last === null || Array.isArray(last))) {
    throw new PeruseError('invalid_argument', `Options must be an object, not ${nameOf(last)}.`);
  }
  const options = (hasOptions ? last : {}) as ExplainOptions;
  const { method = 'occlusion', replacement, steps = 50, ...others } = options;
  if (method !== 'occlusion' && method !== 'gradient') {
    throw new PeruseError('invalid_argument', `method must be 'occlusion' or 'gradient', not ${show(method)}.`);
  }
  if (replacement !== undefined) checkString(replacement, 'replacement');
  if (!Number.isSafeInteger(steps) || steps < 1) {
    throw new PeruseError('invalid_argument', `steps must be a whole number from 1 on, not ${show(steps)}.`);
  }
  const explained = await task.explain(context.call, given.slice(0, task.inputs), others as Record<string, unknown>);
  if (method === 'gradient') return byGradient(context, explained, steps, options.signal);
  return byOcclusion(explained, replacement ?? (await maskOf(context.tokenizer)), options.signal);
}

async function byOcclusion(explained: Explained, replacement: string, signal: AbortSignal | undefined): Promise<Explanation> {
  const words = explained.texts.map(({ text }) => wordsOf(text));
  const variants = words.flatMap((places, index) =>
    places.map((place) => {
      const { text } = explained.texts[index]!;
      const occluded = text.slice(0, place.start) + replacement + text.slice(place.end);
      return { index, place, texts: explained.texts.map((one, at) => (at === index ? occluded : one.text)) };
    }),
  );
  const scores: number[] = [];
  for (let at = 0; at < variants.length; at += kAtOnce) {
    const part = variants.slice(at, at + kAtOnce);
    scores.push(
      ...(await explained.scoresOf(
        part.map((one) => ({ ...one, length: replacement.length })),
        signal,
      )),
    );
  }
  let next = 0;
  const named = words.map((places, index) =>
    places.map((place) => namedWord(explained.texts[index]!.text, place, explained.score - scores[next++]!)),
  );
  return { method: 'occlusion', score: explained.score, ...explained.result, ...membersOf(explained, named) };
}

async function byGradient(
  { gradient }: ExplainContext,
  explained: Explained,
  steps: number,
  signal: AbortSignal | undefined,
): Promise<Explanation> {
  if (gradient === undefined) {
    throw new PeruseError(
      'unsupported',
      "method 'gradient' needs the training engine: the module 'peruse/teach' must be imported before pipeline() is called.",
    );
  }
  const request: GradientRequest = { ...explained.gradientRequest(), steps };
  const { value, baseline_value, tokens } = await gradient(request, signal);
  const named = explained.texts.map(({ text }, index) => {
    const places = wordsOf(text);
    const own = tokens.filter(({ sequence }) => sequence === index);
    return scoresByWord(places, own).map((score, word) => namedWord(text, places[word]!, score));
  });
  return { method: 'gradient', score: value, baseline_score: baseline_value, ...explained.result, ...membersOf(explained, named) };
}

function namedWord(text: string, { start, end }: TextRange, score: number): ExplainedWord {
  return { word: text.slice(start, end), score, start, end };
}

function membersOf({ texts }: Explained, words: readonly ExplainedWord[][]): Record<string, ExplainedWord[]> {
  return Object.fromEntries(texts.flatMap(({ member }, index) => (member === undefined ? [] : [[member, words[index]!]])));
}

const kMasks = ['[MASK]', '<mask>'];

/** The text that the tokenizer reads as its mask, or '' if it has none. */
async function maskOf(tokenizer: PipelineTokenizer): Promise<string> {
  const ids = await tokenizer.convert_tokens_to_ids(kMasks);
  return kMasks.find((_, index) => ids[index] !== undefined) ?? '';
}

/** The members of a pipeline that explanations use. */
interface ExplainContext {
  task: keyof Explains;
  call: (...given: unknown[]) => Promise<unknown>;
  tokenizer: PipelineTokenizer;
  /** Absent without the training engine. */
  gradient?: ExplainGradient | undefined;
}

/** Words and punctuation marks in order, by the rules of Unicode, which also split Chinese and Japanese. */
export function wordsOf(text: string): TextRange[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return Array.from(segments, ({ segment, index }) => ({ start: index, end: index + segment.length })).filter(
    ({ start, end }) => text.slice(start, end).trim() !== '',
  );
}

/** Adds up the scores of tokens by word. A token belongs to the first word that ends after its start. */
export function scoresByWord(words: readonly TextRange[], tokens: readonly (TextRange & { score: number })[]): number[] {
  const scores = words.map(() => 0);
  for (const { start, score } of tokens) {
    const found = words.findIndex(({ end }) => end > start);
    scores[found < 0 ? words.length - 1 : found]! += score;
  }
  return scores;
}
