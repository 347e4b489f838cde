// Checks that a call's options exist and have the right kind. What values make sense is the engine's business.
import { PeruseError } from './errors.js';
import type { Task } from './tasks.js';

type Kind = 'boolean' | 'count' | 'count or null' | 'function';

/** Options that go to the engine, by task. */
const kEngineOptions: Record<Task, Record<string, Kind>> = {
  'text-classification': { top_k: 'count or null', function_to_apply: 'function', truncation: 'boolean' },
  'question-answering': {
    top_k: 'count', doc_stride: 'count', max_answer_len: 'count', max_seq_len: 'count',
    handle_impossible_answer: 'boolean', align_to_words: 'boolean',
  },
};

const kFunctions = ['sigmoid', 'softmax', 'none'];

const kChecks: Record<Kind, { says: string; holds: (value: unknown) => boolean }> = {
  'boolean': { says: 'true or false', holds: (value) => typeof value === 'boolean' },
  'count': { says: 'a whole number', holds: (value) => isCount(value) },
  'count or null': { says: 'a whole number or null', holds: (value) => value === null || isCount(value) },
  'function': { says: `one of '${kFunctions.join("', '")}'`, holds: (value) => kFunctions.includes(value as string) },
};

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** The options for the engine: those that were given, checked. */
export function engineOptions(task: Task, options: object): Record<string, unknown> {
  const known = kEngineOptions[task];
  const checked: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === 'signal' || value === undefined) continue;
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) {
      throw new PeruseError('invalid_argument', `${task} has no option '${name}'; it has ${Object.keys(known).join(', ')}.`);
    }
    if (!kChecks[kind].holds(value)) {
      throw new PeruseError('invalid_argument', `${name} must be ${kChecks[kind].says}, not ${String(value)}.`);
    }
    checked[name] = value;
  }
  return checked;
}
