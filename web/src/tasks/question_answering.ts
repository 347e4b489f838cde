import { PeruseError } from '../errors.js';
import { type Given, option } from '../options.js';
import { asList, type CallOptions, callOptions, checkString, engineOptions, type NoOptions, type Run } from './call.js';
import type { TaskDefinition } from './definition.js';

const kTask = 'question-answering';
const kOptions = callOptions(kTask, {
  /** Number of answers, best first. Default 1, which returns an object; other numbers return a list. */
  top_k: option({ kind: 'number', default: 1, flag: { short: 'k', help: 'number of answers, best first (1)' } }),
  /** Number of tokens that neighbouring windows of a long context share. Default min(max_length / 2, 128). */
  stride: option({ kind: 'number', default: '128, or half a window' }),
  /** Maximum length of an answer, in tokens. Default 15. */
  max_answer_len: option({ kind: 'number', default: 15 }),
  /** Number of tokens in a window, with the question. Default: the model's limit, at most 384. */
  max_length: option({ kind: 'number', default: '384, or what the model takes' }),
  /** Whether "no answer" (an empty string) competes with the answers. Default false. */
  handle_impossible_answer: option({
    kind: 'boolean',
    default: false,
    flag: { name: 'impossible', help: 'allow an empty answer for "no answer"' },
  }),
  /** Extend answers to whole words. Default true. */
  align_to_words: option({ kind: 'boolean', default: true }),
  /** transformers' name of `stride`. */
  doc_stride: option({ kind: 'number' }),
  /** transformers' name of `max_length`. */
  max_seq_len: option({ kind: 'number' }),
  /** transformers.js 2's name of `top_k`. Ignored if `top_k` is given. */
  topk: option({ kind: 'number' }),
});

/** Names of options in transformers and transformers.js 2. */
const kOtherNames = [
  ['topk', 'top_k'],
  ['doc_stride', 'stride'],
  ['max_seq_len', 'max_length'],
] as const;

/** Options of question answering. */
export interface QuestionAnsweringOptions extends CallOptions, Given<typeof kOptions> {}

/** A part of the context that answers the question. */
export interface Answer {
  answer: string;
  score: number;
  /** UTF-16 indices into the context: `context.slice(start, end) === answer`. */
  start: number;
  end: number;
}

type AnswerOrList<O> = O extends { top_k: infer K } | { topk: infer K }
  ? K extends 1 | undefined
    ? Answer
    : number extends K
      ? Answer | Answer[]
      : Answer[]
  : Answer;

/** An answer for one question, or a list if `top_k` is not 1. For several questions, a list of these results. */
export type QuestionAnsweringOutput<Q, O> = Q extends readonly unknown[] ? AnswerOrList<O>[] : AnswerOrList<O>;

/** The call of question answering. */
export interface QuestionAnsweringCall {
  /** Returns the answer in the context: `answer(question, context)`. A long context is read in windows. */
  <const O extends QuestionAnsweringOptions = NoOptions>(
    question: string,
    context: string,
    options?: O,
  ): Promise<QuestionAnsweringOutput<string, O>>;
  /** Returns an answer for each question, which has its own context. */
  <const O extends QuestionAnsweringOptions = NoOptions>(
    question: readonly string[],
    context: readonly string[],
    options?: O,
  ): Promise<QuestionAnsweringOutput<string[], O>>;
}

function createCall(run: Run): QuestionAnsweringCall {
  const call = async (question: unknown, context: unknown, options: QuestionAnsweringOptions = {}) => {
    const settings = engineOptions(kTask, kOptions, options);
    for (const [other, name] of kOtherNames) {
      if (other in settings) settings[name] ??= settings[other];
      delete settings[other];
    }
    if (settings.top_k === undefined) settings.top_k = 1;
    const inputs = questionInputs(question, context);
    const results = (await run(inputs, settings, options)) as Answer[][];
    const lists = results.map((list, index) => list.map((one) => cutFrom(inputs[index]!.context, one)));
    const answers = settings.top_k === 1 ? lists.map((list) => list[0] ?? kNoAnswer) : lists;
    return Array.isArray(question) ? answers : answers[0];
  };
  return call as QuestionAnsweringCall;
}

/** The only answer, if the question or the context is empty. */
const kNoAnswer: Answer = { answer: '', score: 0, start: 0, end: 0 };

/** The task. */
export const questionAnswering = {
  engine: { name: kTask, classes: ['ForQuestionAnswering'] },
  call: createCall,
  options: kOptions,
  example: 'deepset/minilm-uncased-squad2',
  explains: 'question-answering',
  teach: { name: kTask, examples: 'answers' },
} as const satisfies TaskDefinition;

/** Cuts the answer from the caller's context, in which the engine has replaced lone surrogates. */
function cutFrom(context: string, answer: Answer): Answer {
  return { ...answer, answer: context.slice(answer.start, answer.end) };
}

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
