import type { CallOptions } from './call.js';
import type { Answer, QuestionAnsweringOptions } from './question_answering.js';
import type { TextClassificationOptions, TextPair } from './text_classification.js';
import type { TextRankingOptions } from './text_ranking.js';
import type { ZeroShotClassificationOptions } from './zero_shot_classification.js';

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
