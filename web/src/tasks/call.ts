// What the calls of all tasks share: how they reach the engine, and how their arguments are checked.
import { PeruseError } from '../errors.js';

/** Options that every call takes. */
export interface CallOptions {
  /** Cancels the call: at once for the caller; the engine stops before its next batch. */
  signal?: AbortSignal;
}

/** One input of a task, as core/tasks describes it. */
export type EngineInput = Record<string, string | readonly string[]>;

/** Runs inputs through the engine: one result each, in order. */
export type Run = (inputs: EngineInput[], options: Record<string, unknown>, signal?: AbortSignal) => Promise<unknown[]>;

/** The names of a task's own options: the compiler sees to it that none is forgotten. */
export type OptionNames<O extends CallOptions> = Record<Exclude<keyof O, keyof CallOptions>, true>;

/**
 * The options for the engine: those that were given, which must be known. Whether their values make sense is the engine's
 * business, and it says so by name.
 */
export function engineOptions(task: string, known: Record<string, true>, options: object): Record<string, unknown> {
  if (typeof options !== 'object' || options === null) {
    throw new PeruseError('invalid_argument', `Options must be an object, not ${nameOf(options)}.`);
  }
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === 'signal' || value === undefined) continue;
    if (!Object.hasOwn(known, name)) {
      const names = Object.keys(known).join(', ') || 'none';
      throw new PeruseError('invalid_argument', `${task} has no option '${name}'; it has ${names}.`);
    }
    // JSON would drop these, or turn them into null, which means something.
    if (typeof value === 'function' || typeof value === 'symbol' || (typeof value === 'number' && !Number.isFinite(value))) {
      throw new PeruseError('invalid_argument', `${name} can't be ${String(value)}.`);
    }
    given[name] = value;
  }
  return given;
}

/** One or several inputs, as a list. */
export function asList(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? input : [input];
}

export function checkString(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new PeruseError('invalid_argument', `${what} is ${nameOf(value)}, not a string.`);
}

export function checkStrings(value: unknown, what: string): string[] {
  if (!Array.isArray(value)) throw new PeruseError('invalid_argument', `${what} is ${nameOf(value)}, not a list of strings.`);
  return value.map((item, index) => checkString(item, `${what}, item ${index},`));
}

/** A value in words, for messages. */
export function nameOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : typeof value;
}

/** Results of one input or of several, as they were asked for. */
export type OneOrMany<I, R> = I extends readonly unknown[] ? R[] : R;

/** The call of a task that reads texts, one or several, each by itself. */
export type TextsCall<O extends CallOptions, R> =
  <I extends string | readonly string[]>(texts: I, options?: O) => Promise<OneOrMany<I, R>>;

/** Makes such a call. */
export function textsCall<O extends CallOptions, R>(task: string, known: OptionNames<O>, run: Run): TextsCall<O, R> {
  const call = async (texts: unknown, options: O = {} as O) => {
    const settings = engineOptions(task, known, options);
    const inputs = asList(texts).map((text, index) => ({ text: checkString(text, `Input ${index}`) }));
    const results = await run(inputs, settings, options.signal);
    return Array.isArray(texts) ? results : results[0];
  };
  return call as TextsCall<O, R>;
}
