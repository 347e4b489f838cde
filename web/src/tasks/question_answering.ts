// question-answering: the span of a context that answers a question.
import { PeruseError } from '../errors.js';
import { asList, type CallOptions, checkString, engineOptions, type NoOptions, type OptionNames, type Run } from './call.js';

/** Options of question answering. */
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

/** An answer, cut from the context. */
export interface Answer {
  answer: string;
  score: number;
  /** UTF-16 indices into the caller's context: `context.slice(start, end) === answer`. */
  start: number;
  end: number;
}

type AnswerOrList<O> = O extends { top_k: infer K }
  ? K extends 1 | undefined
    ? Answer
    : number extends K
      ? Answer | Answer[]
      : Answer[]
  : Answer;

/** One question: an answer, or a list where `top_k` is not 1. Several: one such result each. */
export type QuestionAnsweringOutput<Q, O> = Q extends readonly unknown[] ? AnswerOrList<O>[] : AnswerOrList<O>;

/** `answer(question, context)`; with lists, question i is asked of context i. A long context is read in windows, all of it. */
export interface QuestionAnsweringCall {
  <const O extends QuestionAnsweringOptions = NoOptions>(
    question: string,
    context: string,
    options?: O,
  ): Promise<QuestionAnsweringOutput<string, O>>;
  <const O extends QuestionAnsweringOptions = NoOptions>(
    question: readonly string[],
    context: readonly string[],
    options?: O,
  ): Promise<QuestionAnsweringOutput<string[], O>>;
}

const kTask = 'question-answering';
const kOptions: OptionNames<QuestionAnsweringOptions> = {
  top_k: true,
  doc_stride: true,
  max_answer_len: true,
  max_seq_len: true,
  handle_impossible_answer: true,
  align_to_words: true,
};

/** Makes the call. */
export function questionAnswering(run: Run): QuestionAnsweringCall {
  const call = async (question: unknown, context: unknown, options: QuestionAnsweringOptions = {}) => {
    const settings = { top_k: 1, ...engineOptions(kTask, kOptions, options) };
    const inputs = questionInputs(question, context);
    const results = (await run(inputs, settings, options.signal)) as Answer[][];
    const lists = results.map((list, index) => list.map((one) => cutFrom(inputs[index]!.context, one)));
    const answers = settings.top_k === 1 ? lists.map((list) => list[0]) : lists;
    return Array.isArray(question) ? answers : answers[0];
  };
  return call as QuestionAnsweringCall;
}

/** The answer in the caller's own words: the engine has read lone surrogates as U+FFFD. */
function cutFrom(context: string, answer: Answer): Answer {
  return { ...answer, answer: context.slice(answer.start, answer.end) };
}

/** As the pipeline of Python takes it. */
function isOneObject(question: unknown): boolean {
  return typeof question === 'object' && question !== null && 'question' in question && 'context' in question;
}

function questionInputs(question: unknown, context: unknown): { question: string; context: string }[] {
  if (isOneObject(question)) {
    throw new PeruseError(
      'invalid_argument',
      `${kTask} takes two arguments: answer(question, context), not answer({ question, context }).`,
    );
  }
  if (Array.isArray(question) !== Array.isArray(context)) {
    throw new PeruseError('invalid_argument', 'Question and context must be two strings or two lists of strings.');
  }
  const questions = asList(question);
  const contexts = asList(context);
  if (questions.length !== contexts.length) {
    throw new PeruseError('invalid_argument', `There are ${questions.length} questions but ${contexts.length} contexts.`);
  }
  return questions.map((item, index) => ({
    question: checkString(item, `Question ${index}`),
    context: checkString(contexts[index], `Context ${index}`),
  }));
}
