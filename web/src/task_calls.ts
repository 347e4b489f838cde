// From a call as the caller writes it to inputs and options for the engine, and from its results to what the caller gets.
import type { EngineInput } from './engine.js';
import { PeruseError } from './errors.js';
import { engineOptions } from './task_options.js';
import type {
  Answer, CallOptions, LabelScore, QuestionAnsweringOptions, Task, TaskCalls, TextClassificationOptions, TextPair,
} from './tasks.js';

/** Runs inputs through the engine: one result each. */
export type Run = (inputs: EngineInput[], options: Record<string, unknown>, signal?: AbortSignal) => Promise<unknown[]>;

/** How each task is called. */
export const kTaskCalls: { [T in Task]: (run: Run) => TaskCalls[T] } = {
  'text-classification': (run) => {
    const call = async (input: unknown, options: TextClassificationOptions = {}) => {
      checkOptionsObject(options);
      const inputs = asList(input).map((item, index) => classifierInput(item, index));
      const settings = { top_k: 1, ...engineOptions('text-classification', options) };
      const results = (await run(inputs, settings, options.signal)) as LabelScore[][];
      if (!Array.isArray(input)) return results[0];
      return settings.top_k === 1 ? results.flat() : results;
    };
    return call as TaskCalls['text-classification'];
  },

  'question-answering': (run) => {
    const call = async (question: unknown, context: unknown, options: QuestionAnsweringOptions = {}) => {
      checkOptionsObject(options);
      const inputs = questionInputs(question, context);
      const settings = { top_k: 1, ...engineOptions('question-answering', options) };
      const results = (await run(inputs, settings, options.signal)) as Answer[][];
      const answers = settings.top_k === 1 ? results.map((list) => list[0]) : results;
      return Array.isArray(question) ? answers : answers[0];
    };
    return call as TaskCalls['question-answering'];
  },
};

function asList(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? input : [input];
}

function classifierInput(item: unknown, index: number): EngineInput {
  if (typeof item === 'string') return { text: item };
  const pair = item as Partial<TextPair> | null;
  if (typeof pair === 'object' && typeof pair?.text === 'string' && typeof pair.text_pair === 'string') {
    return { text: pair.text, text_pair: pair.text_pair };
  }
  throw new PeruseError('invalid_argument', `Input ${index} is ${nameOf(item)}; text-classification takes a string or { text, text_pair }.`);
}

function questionInputs(question: unknown, context: unknown): EngineInput[] {
  if (Array.isArray(question) !== Array.isArray(context)) {
    throw new PeruseError('invalid_argument', 'Question and context must be two strings or two lists of strings.');
  }
  const questions = asList(question);
  const contexts = asList(context);
  if (questions.length !== contexts.length) {
    throw new PeruseError('invalid_argument', `There are ${questions.length} questions but ${contexts.length} contexts.`);
  }
  return questions.map((item, index) => ({
    question: checkString(item, 'question', index),
    context: checkString(contexts[index], 'context', index),
  }));
}

function checkString(value: unknown, what: string, index: number): string {
  if (typeof value === 'string') return value;
  throw new PeruseError('invalid_argument', `The ${what} ${index} is ${nameOf(value)}, not a string.`);
}

function nameOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;
}

function checkOptionsObject(options: CallOptions): void {
  if (typeof options !== 'object' || options === null) {
    throw new PeruseError('invalid_argument', `Options must be an object, not ${nameOf(options)}.`);
  }
}
