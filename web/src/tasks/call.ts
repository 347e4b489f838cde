// Requests to the engine and checks of arguments, shared by all tasks.
import { asList, checkString, checkStrings, nameOf } from '../checks.js';
import { PeruseError, show } from '../errors.js';
import type { CallOptions, Schema } from '../options.js';

export type { CallOptions };
export { asList, checkString, checkStrings, nameOf };

/** The type of options if the caller passes none. */
export type NoOptions = Record<never, never>;

export type EngineInput = Record<string, string | readonly string[] | readonly number[]>;

/** Whether one of the input's texts is empty or only white space. */
export function hasBlank(input: EngineInput): boolean {
  return Object.values(input).some((value) => typeof value === 'string' && value.trim() === '');
}

/** Runs inputs through the engine, with options for it and those of the call. Returns one result for each, in order. */
export type Run = (inputs: EngineInput[], options: Record<string, unknown>, call: CallOptions) => Promise<unknown[]>;

/** The options of each task that has some. */
export const kOptionsByTask = new Map<string, Schema>();

/** Declares a task's own options, which messages of other tasks name. */
export function callOptions<S extends Schema>(task: string, schema: S): S {
  kOptionsByTask.set(task, schema);
  return schema;
}

/** Options of transformers.js's and transformers' calls that a task without them ignores, as in transformers.js, but with a notice. */
const kIgnored = ['padding', 'batch_size', 'max_length', 'truncation', 'add_special_tokens'];

/** The names of options that have no effect, because the task does not have them. */
export function ignoredOptions(known: object = {}, options: object = {}): string[] {
  return kIgnored.filter((name) => (options as Record<string, unknown>)[name] !== undefined && !Object.hasOwn(known, name));
}

/** Returns the options for the engine. Checks their names; the engine checks their values. */
export function engineOptions(task: string, known: object, options: object): Record<string, unknown> {
  const ignored = ignoredOptions(known, options ?? {});
  const own = ignored.length === 0 ? options : Object.fromEntries(Object.entries(options).filter(([name]) => !ignored.includes(name)));
  return checkedOptions(task, { ...known, head_mask: true }, own);
}

/** Options of transformers that Peruse does not have, and why. */
const kUnneeded: Record<string, string> = {
  max_question_len: ' (transformers itself ignores it with fast tokenizers; a question without room for the context throws text_too_long)',
  delimiter: " (words are joined by a space; start and end are indices of words.join(' '))",
};

/** Checks the names of options that the engine does not receive. */
export function checkedOptions(task: string, known: object, options: object): Record<string, unknown> {
  if (typeof options !== 'object' || options === null) {
    throw new PeruseError('invalid_argument', `Options must be an object, not ${nameOf(options)}.`);
  }
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === 'signal' || name === 'priority' || value === undefined) continue;
    if (!Object.hasOwn(known, name)) {
      const owners = [...kOptionsByTask].filter(([, names]) => Object.hasOwn(names, name)).map(([owner]) => owner);
      const owned = owners.length === 0 ? '' : `, which is an option of ${owners.join(', ')}`;
      const names = Object.keys(known).join(', ') || 'none';
      const reason = Object.hasOwn(kUnneeded, name) ? kUnneeded[name] : '';
      throw new PeruseError('invalid_argument', `${task} has no option ${show(name)}${owned}${reason}; it has ${names}.`);
    }
    given[name] = plain(name, value);
  }
  return given;
}

/** Levels of objects and lists in an option's value. */
const kLevels = 4;

/** A copy of the value for JSON, which would otherwise drop some values, convert others to null, or call toJSON(). */
export function plain(name: string, value: unknown, levels = kLevels): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw new PeruseError('invalid_argument', `${name} can't be ${show(value)}.`);
  if (levels === 0) throw new PeruseError('invalid_argument', `${name} is nested too deeply, or contains itself.`);
  if (Array.isArray(value)) return Array.from(value as unknown[], (item) => plain(name, item, levels - 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(`${name}.${key}`, item, levels - 1)]));
}

/** Returns labels from a list, or from one string with commas between them. */
export function labelList(labels: unknown, what: string): string[] {
  if (typeof labels !== 'string') return checkStrings(labels, what);
  return labels
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

/** One result for one input, a list for a list. */
export type OneOrMany<I, R> = I extends readonly unknown[] ? R[] : R;

/** The call of a task that reads one text or several independent ones. */
export function textsCall(task: string, known: object, run: Run): (texts: unknown, options?: CallOptions) => Promise<unknown> {
  return async (texts, options = {}) => {
    const settings = engineOptions(task, known, options);
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const results = await run(inputs, settings, options);
    return Array.isArray(texts) ? results : results[0];
  };
}
