// Checks that a call's options exist. Which values make sense is the engine's business, and it says so by name.
import { PeruseError } from './errors.js';
import type { CallOptions, Task, TaskOptions } from './tasks.js';

/** The options that go to the engine: the compiler sees to it that these are the ones of tasks.ts. */
const kEngineOptions: { [T in Task]: Record<Exclude<keyof TaskOptions[T], keyof CallOptions>, true> } = {
  'text-classification': { top_k: true, function_to_apply: true, truncation: true, max_length: true },
  'question-answering': {
    top_k: true, doc_stride: true, max_answer_len: true, max_seq_len: true,
    handle_impossible_answer: true, align_to_words: true,
  },
};

/** The options for the engine: those that were given. */
export function engineOptions(task: Task, options: object): Record<string, unknown> {
  const known = kEngineOptions[task];
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === 'signal' || value === undefined) continue;
    if (!Object.hasOwn(known, name)) {
      throw new PeruseError('invalid_argument', `${task} has no option '${name}'; it has ${Object.keys(known).join(', ')}.`);
    }
    // JSON would turn these into null, which means something.
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new PeruseError('invalid_argument', `${name} must be a finite number, not ${value}.`);
    }
    given[name] = value;
  }
  return given;
}
