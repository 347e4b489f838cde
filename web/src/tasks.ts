// The tasks: for each, its options, its results and the shape of its call. Names are those of transformers.js.

/** Options that every call takes. */
export interface CallOptions {
  /** Cancels the call: at once for the caller; the engine stops before its next batch. */
  signal?: AbortSignal;
}

// ---------------------------------------------------------------------------------------------- text-classification

/** Two texts that belong together, for models trained on pairs. */
export interface TextPair {
  text: string;
  text_pair: string;
}

export interface TextClassificationOptions extends CallOptions {
  /** How many labels to return, best first; null returns all of them. Default 1. */
  top_k?: number | null;
  /** How logits become scores. By default the model's configuration decides. */
  function_to_apply?: 'sigmoid' | 'softmax' | 'none';
  /** Cut a text that is longer than the model takes. Default false: such a text is refused with 'text_too_long'. */
  truncation?: boolean;
  /** Tokens to cut to with `truncation`. Default: what the model takes. */
  max_length?: number;
}

export interface LabelScore {
  label: string;
  score: number;
}

type ClassifierInput = string | TextPair;

/** One text: its labels, best first. Several texts: one label each, or, where `top_k` is not 1, a list of labels each. */
export type TextClassificationOutput<I, O> = I extends readonly unknown[]
  ? O extends { top_k: infer K }
    ? K extends 1 | undefined ? LabelScore[]
      : number extends K ? LabelScore[] | LabelScore[][]
        : LabelScore[][]
    : LabelScore[]
  : LabelScore[];

/** `classify(text)`, `classify([text, ...])`, `classify({ text, text_pair })`. */
export type TextClassificationCall = <
  I extends ClassifierInput | readonly ClassifierInput[],
  const O extends TextClassificationOptions = {},
>(input: I, options?: O) => Promise<TextClassificationOutput<I, O>>;

// ----------------------------------------------------------------------------------------------- question-answering

export interface QuestionAnsweringOptions extends CallOptions {
  /** How many answers to return, best first. Default 1, which returns one object; any other number returns a list. */
  top_k?: number;
  /** Tokens that neighbouring windows of a long context share. Default min(max_seq_len / 2, 128). */
  doc_stride?: number;
  /** Longest answer, in tokens. Default 15. */
  max_answer_len?: number;
  /** Tokens per window, question included. Default min(what the model takes, 384). */
  max_seq_len?: number;
  /** Let "no answer" (an empty string) compete with the answers. Default false. */
  handle_impossible_answer?: boolean;
  /** Widen answers to whole words. Default true. */
  align_to_words?: boolean;
}

export interface Answer {
  answer: string;
  score: number;
  /** UTF-16 indices into the caller's context: `context.slice(start, end) === answer`. */
  start: number;
  end: number;
}

type AnswerOrList<O> = O extends { top_k: infer K }
  ? K extends 1 | undefined ? Answer
    : number extends K ? Answer | Answer[]
      : Answer[]
  : Answer;

/** One question: an answer, or a list where `top_k` is not 1. Several: one such result each. */
export type QuestionAnsweringOutput<Q, O> = Q extends readonly unknown[] ? AnswerOrList<O>[] : AnswerOrList<O>;

/** `answer(question, context)`; with lists, question i is asked of context i. */
export interface QuestionAnsweringCall {
  <const O extends QuestionAnsweringOptions = {}>(
    question: string, context: string, options?: O,
  ): Promise<QuestionAnsweringOutput<string, O>>;
  <const O extends QuestionAnsweringOptions = {}>(
    question: readonly string[], context: readonly string[], options?: O,
  ): Promise<QuestionAnsweringOutput<string[], O>>;
}

// --------------------------------------------------------------------------------------------------------- the map

/** Every task, and how its pipeline is called. */
export interface TaskCalls {
  'text-classification': TextClassificationCall;
  'question-answering': QuestionAnsweringCall;
}

export type Task = keyof TaskCalls;

/** Every task's options. */
export interface TaskOptions {
  'text-classification': TextClassificationOptions;
  'question-answering': QuestionAnsweringOptions;
}

/** Names that transformers.js also takes. */
export interface TaskAliases {
  'sentiment-analysis': 'text-classification';
}

export type TaskOrAlias = Task | keyof TaskAliases;

export type ResolvedTask<T extends TaskOrAlias> = T extends Task ? T : T extends keyof TaskAliases ? TaskAliases[T] : never;
