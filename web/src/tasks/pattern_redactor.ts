import { PeruseError } from '../errors.js';
import type { FindDetails } from '../redact/pattern_names.js';
import { type RedactCall, type RedactFinders, redact } from './redact.js';

/** A redactor without a model. It is called like a pipeline for redact, and throws for options of models. */
export type PatternRedactor = RedactCall & {
  readonly task: 'redact';
  /** Does nothing, because no memory needs to be freed. */
  dispose(): Promise<void>;
  /** The same as dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

export function patternRedactor(
  { patterns, finders, fail_closed, ...rest }: RedactFinders,
  loadPatterns: () => Promise<FindDetails>,
): PatternRedactor {
  const [name] = Object.keys(rest);
  if (name !== undefined) throw new PeruseError('invalid_argument', `${name} is an option of models; pipeline('redact', null) has none.`);
  if (!patterns && !finders?.length) {
    throw new PeruseError('invalid_argument', "pipeline('redact', null) needs `patterns` or `finders`: without a model it finds nothing.");
  }
  const dispose = async () => {};
  return Object.assign(redact(undefined, { defaults: { patterns, finders, fail_closed }, loadPatterns }), {
    task: 'redact' as const,
    dispose,
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}),
  }) as PatternRedactor;
}
