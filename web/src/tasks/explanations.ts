// The explanations of each task: their types, and what is explained.

import { PeruseError, show } from '../errors.js';
import { type CallOptions, checkString, labelList, nameOf } from './call.js';
import type { Answer, QuestionAnsweringOptions } from './question_answering.js';
import type { LabelScore, TextClassificationOptions, TextPair } from './text_classification.js';
import type { RankedDocument, TextRankingOptions } from './text_ranking.js';
import { kHypothesisTemplate, type ZeroShotClassificationOptions, type ZeroShotClassificationOutput } from './zero_shot_classification.js';

/** How to explain. */
export interface ExplainOptions extends CallOptions {
  /**
   * 'occlusion' (default) replaces one word after the other and calls the pipeline again. 'gradient' computes integrated gradients with the
   * training engine: import 'peruse/teach' first. It reads the model again, as float32, and a text must fit into the model.
   */
  method?: 'occlusion' | 'gradient';
  /** For occlusion: the text in place of a word. Default: the model's mask token; '' removes the word. */
  replacement?: string;
  /** For gradients: points of the integral. More are more exact. Default 50. */
  steps?: number;
}

/** What a word contributes to the explained value: positive if it supports it. */
export interface ExplainedWord {
  word: string;
  /** For occlusion: the score with the word, minus the score without it. For gradients: its share of the logit. */
  score: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
}

/** The explanation of one result. */
export interface Explanation {
  method: 'occlusion' | 'gradient';
  /** The explained value of the whole input: its score; for gradients its logit. */
  score: number;
  /** With gradients: the logit if every word is masked. The scores of all words add up to the difference. */
  baseline_score?: number;
}

/** The explanation of a label, by the words of the text. */
export interface TextExplanation extends Explanation {
  label: string;
  words: ExplainedWord[];
}

/** The explanation of a label, by the words of both texts of a pair. */
export interface PairExplanation extends TextExplanation {
  text_pair_words: ExplainedWord[];
}

/** The explanation of a document's score, by the words of query and document. */
export interface RankingExplanation extends Explanation {
  query_words: ExplainedWord[];
  words: ExplainedWord[];
}

/** The explanation of an answer, by the words of question and context. */
export interface AnswerExplanation extends Explanation {
  answer: Answer;
  question_words: ExplainedWord[];
  words: ExplainedWord[];
}

/** Options of an explanation of a label. */
export interface LabelExplanationOptions {
  /** The label to explain. Default: the best. */
  label?: string;
}

/** The signatures of `explain`. */
export interface Explains {
  'text-classification': <I extends string | TextPair>(
    input: I,
    options?: ExplainOptions & LabelExplanationOptions & Omit<TextClassificationOptions, 'top_k'>,
  ) => Promise<I extends TextPair ? PairExplanation : TextExplanation>;
  'zero-shot-classification': (
    text: string,
    candidate_labels: string | readonly string[],
    options?: ExplainOptions & LabelExplanationOptions & ZeroShotClassificationOptions,
  ) => Promise<TextExplanation>;
  'text-ranking': (
    query: string,
    document: string,
    options?: ExplainOptions & Omit<TextRankingOptions, 'top_k' | 'return_documents'>,
  ) => Promise<RankingExplanation>;
  'question-answering': (
    question: string,
    context: string,
    options?: ExplainOptions & Omit<QuestionAnsweringOptions, 'top_k'>,
  ) => Promise<AnswerExplanation>;
}

/** The call's `explain`, where the task has one. */
export type Explaining<T> = T extends keyof Explains
  ? {
      /** Explains a result by the words of the input: how much each supports it. */
      readonly explain: Explains[T];
    }
  : unknown;

// What the training engine computes for an explanation (core/train/session/teach_session.h).

export type GradientRequest = (
  | { text: string; pair?: string; label?: string; entailment?: boolean }
  | { question: string; context: string; answer: { start: number; end: number } }
) & { steps?: number };

export interface GradientResult {
  value: number;
  baseline_value: number;
  tokens: { start: number; end: number; sequence: 0 | 1 | null; score: number }[];
}

export type ExplainGradient = (request: GradientRequest, signal?: AbortSignal) => Promise<GradientResult>;

/** The texts with one place of text number `index` replaced by `length` characters. */
export interface Variant {
  texts: string[];
  index: number;
  place: { start: number; end: number };
  length: number;
}

export interface Explained {
  /** `member` names the property of the result that lists the text's words. Without it, the words are not explained. */
  texts: { text: string; member?: string }[];
  score: number;
  result: Record<string, unknown>;
  scoresOf(variants: readonly Variant[], signal?: AbortSignal): Promise<number[]>;
  gradientRequest(): GradientRequest;
}

type Options = Record<string, unknown>;
type Call = (...given: unknown[]) => Promise<unknown>;

/** Answers among which the explained one is looked up after a replacement. */
const kAnswers = 100;

interface ExplainedTask {
  /** Number of arguments of the call before its options. */
  inputs: 1 | 2;
  explain: (call: Call, inputs: readonly unknown[], options: Options) => Promise<Explained>;
}

/** What each task with explain() explains: the score of one result, for the texts as they are and with a word replaced. */
export const kExplained: Record<keyof Explains, ExplainedTask> = {
  'text-classification': { inputs: 1, explain: (call, [input], options) => classification(call, input, options) },
  'zero-shot-classification': {
    inputs: 2,
    explain: async (call, [text, labels], options) => zeroShot(call, checkString(text, 'The text'), labels, options),
  },
  'text-ranking': {
    inputs: 2,
    explain: async (call, [query, document], options) =>
      ranking(call, checkString(query, 'The query'), checkString(document, 'The document'), options),
  },
  'question-answering': {
    inputs: 2,
    explain: async (call, [question, context], options) =>
      answering(call, checkString(question, 'The question'), checkString(context, 'The context'), options),
  },
};

async function classification(call: Call, input: unknown, { label, ...options }: Options): Promise<Explained> {
  const isPair = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (!isPair) checkString(input, 'The text');
  const { text, text_pair } = (isPair ? input : { text: input }) as { text: string; text_pair?: string };
  const all = { ...options, top_k: null };
  const found = (await call(input, all)) as LabelScore[];
  const best = label === undefined ? found[0]! : found.find((one) => one.label === label);
  if (best === undefined)
    throw unknownLabel(
      label,
      found.map((one) => one.label),
    );
  const scoreIn = (scores: LabelScore[]) => scores.find((one) => one.label === best.label)!.score;
  return {
    texts: [{ text, member: 'words' }, ...(isPair ? [{ text: text_pair!, member: 'text_pair_words' }] : [])],
    score: best.score,
    result: { label: best.label },
    scoresOf: async (variants, signal) => {
      const inputs = variants.map(({ texts }) => (isPair ? { text: texts[0], text_pair: texts[1] } : texts[0]));
      return ((await call(inputs, { ...all, signal })) as LabelScore[][]).map(scoreIn);
    },
    gradientRequest: () => ({ text, ...(isPair ? { pair: text_pair! } : {}), label: best.label }),
  };
}

async function zeroShot(call: Call, text: string, candidates: unknown, { label, ...options }: Options): Promise<Explained> {
  const labels = labelList(candidates, 'candidate_labels');
  const found = (await call(text, labels, options)) as ZeroShotClassificationOutput;
  const scoreIn = (one: ZeroShotClassificationOutput, of: string) => one.scores[one.labels.indexOf(of)]!;
  const chosen = label === undefined ? found.labels[0]! : found.labels.find((one) => one === label);
  if (chosen === undefined) throw unknownLabel(label, labels);
  const { hypothesis_template: template = kHypothesisTemplate } = options as { hypothesis_template?: string };
  return {
    texts: [{ text, member: 'words' }],
    score: scoreIn(found, chosen),
    result: { label: chosen },
    scoresOf: async (variants, signal) => {
      const outputs = (await call(
        variants.map(({ texts }) => texts[0]!),
        labels,
        { ...options, signal },
      )) as ZeroShotClassificationOutput[];
      return outputs.map((one) => scoreIn(one, chosen));
    },
    gradientRequest: () => ({ text, pair: template.replace('{}', () => chosen), entailment: true }),
  };
}

async function ranking(call: Call, query: string, document: string, options: Options): Promise<Explained> {
  const scores = async (of: string, documents: string[], signal?: AbortSignal) => {
    const ranked = (await call(of, documents, { ...options, ...(signal === undefined ? {} : { signal }) })) as RankedDocument[];
    return ranked.sort((a, b) => a.corpus_id - b.corpus_id).map(({ score }) => score);
  };
  const { label } = options as { label?: string };
  return {
    texts: [
      { text: query, member: 'query_words' },
      { text: document, member: 'words' },
    ],
    score: (await scores(query, [document]))[0]!,
    result: {},
    scoresOf: async (variants, signal) => {
      const ofDocument = variants.filter(({ index }) => index === 1).map(({ texts }) => texts[1]!);
      const others = ofDocument.length > 0 ? await scores(query, ofDocument, signal) : [];
      const ofQuery: number[] = [];
      for (const { texts } of variants.filter(({ index }) => index === 0)) ofQuery.push(...(await scores(texts[0]!, [document], signal)));
      return [...ofQuery, ...others]; // the query's words come first
    },
    gradientRequest: () => ({ text: query, pair: document, ...(label === undefined ? {} : { label }) }),
  };
}

async function answering(call: Call, question: string, context: string, options: Options): Promise<Explained> {
  const answer = (await call(question, context, options)) as Answer;
  const many = { ...options, top_k: kAnswers };
  return {
    texts: [
      { text: question, member: 'question_words' },
      { text: context, member: 'words' },
    ],
    score: answer.score,
    result: { answer },
    scoresOf: async (variants, signal) => {
      const [questions, contexts] = [variants.map(({ texts }) => texts[0]!), variants.map(({ texts }) => texts[1]!)];
      const lists = (await call(questions, contexts, { ...many, signal })) as Answer[][];
      return lists.map((list, index) => {
        const { start, end } = movedAnswer(answer, variants[index]!);
        return list.find((one) => one.start === start && one.end === end)?.score ?? 0;
      });
    },
    gradientRequest: () => ({ question, context, answer: { start: answer.start, end: answer.end } }),
  };
}

/** Where the answer is after the replacement. */
function movedAnswer(answer: Answer, { index, place, length }: Variant): { start: number; end: number } {
  const more = index === 1 ? length - (place.end - place.start) : 0;
  return {
    start: place.end <= answer.start ? answer.start + more : answer.start,
    end: place.start < answer.end ? answer.end + more : answer.end,
  };
}

function unknownLabel(label: unknown, labels: readonly string[]): PeruseError {
  const shown = typeof label === 'string' ? show(label) : nameOf(label);
  return new PeruseError('invalid_argument', `label must be one of ${labels.slice(0, 20).join(', ')}, not ${shown}.`);
}
