/// <reference lib="esnext.disposable" preserve="true" />
import { kRedactKit } from './redact/kit.js';
import { type Redactor, redactorOf } from './redact/redactor.js';
import type { RedactFinders, RedactionOf, RedactOptions } from './redact/types.js';

export { type ErrorCode, PeruseError } from './errors.js';
export { findPatterns } from './redact/patterns.js';
export { restore } from './redact/placeholders.js';
export type { Redactor } from './redact/redactor.js';
export type {
  DetailFinder,
  FoundDetail,
  FoundEntity,
  PatternFinder,
  PatternMatch,
  PatternName,
  RedactCall,
  RedactedEntity,
  RedactFinders,
  Redaction,
  RedactionOf,
  RedactionRule,
  RedactionSession,
  RedactOptions,
  Restoration,
  SessionOptions,
  TextRange,
  UnreadRange,
} from './redact/types.js';
export type { CallOptions } from './tasks/call.js';
export { entityFinder, labelFinder } from './tasks/detail_finders.js';

const loadKit = async () => kRedactKit;

/** `createRedactor` of 'peruse', in a few kilobytes: this entry does not contain the engine. */
export function createRedactor(options: RedactFinders): Redactor {
  return redactorOf(options, loadKit);
}

/**
 * Redacts a text, or a list of texts, without a model: `await redact('Mail mary@example.org.')`. Options are those of a redactor's call.
 * Without `patterns` and `finders` all patterns are used.
 *
 * @throws PeruseError 'invalid_argument' if the options turn all patterns and finders off.
 */
export async function redact<I extends string | readonly string[]>(texts: I, options: RedactOptions = {}): Promise<RedactionOf<I>> {
  const { patterns, finders, fail_closed } = (options ?? {}) as RedactOptions;
  const redactor = redactorOf({ patterns: patterns ?? !finders?.length, finders, fail_closed }, loadKit);
  return redactor(texts, options);
}
