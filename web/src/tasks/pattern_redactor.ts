import { nameOf } from '../checks.js';
import { asArgumentError, PeruseError } from '../errors.js';
import type { FindDetails } from '../redact/pattern_names.js';
import { type RedactCall, type RedactFinders, redact } from './redact.js';

/** A redactor without a model. It is called like a pipeline for redact, and throws for options of models. */
export type Redactor = RedactCall & {
  /** Does nothing, because no memory needs to be freed. */
  dispose(): Promise<void>;
  /** The same as dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** `createRedactor` of an entry that loads the patterns this way. */
export function redactorOf(options: RedactFinders, loadPatterns: () => Promise<FindDetails>): Redactor {
  try {
    if (typeof options !== 'object' || options === null) {
      throw new PeruseError('invalid_argument', `The options of createRedactor() must be an object, not ${nameOf(options)}.`);
    }
    const { patterns, finders, fail_closed, ...rest } = options;
    const [name] = Object.keys(rest);
    if (name !== undefined) throw new PeruseError('invalid_argument', `${name} is an option of models; createRedactor() has none.`);
    if (!patterns && !finders?.length) {
      throw new PeruseError('invalid_argument', 'createRedactor() needs `patterns` or `finders`: without a model it finds nothing.');
    }
    const dispose = async () => {};
    return Object.assign(redact(undefined, { defaults: { patterns, finders, fail_closed }, loadPatterns }), {
      dispose,
      ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}),
    }) as Redactor;
  } catch (error) {
    throw asArgumentError(error);
  }
}
