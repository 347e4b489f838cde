// pipeline('redact', null, { patterns }): redaction without a model, and so without an engine.
import { PeruseError } from '../errors.js';
import type { FindDetails } from './pattern_names.js';
import { type RedactCall, type RedactFinders, redact } from './redact.js';

/** A redactor without a model. Call it as a pipeline for redact; the options of models are refused. */
export type PatternRedactor = RedactCall & {
  readonly task: 'redact';
  /** Does nothing: there is no memory to give back. Code that disposes of pipelines may call it. */
  dispose(): Promise<void>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Makes a redactor of patterns and finders. */
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
