/// <reference lib="esnext.disposable" preserve="true" />
import { findDetails } from './redact/patterns.js';
import { type Redactor, redactorOf } from './tasks/pattern_redactor.js';
import type { RedactFinders } from './tasks/redact.js';

export { type ErrorCode, PeruseError } from './errors.js';
export { findPatterns } from './redact/patterns.js';
export type { CallOptions } from './tasks/call.js';
export { entityFinder, labelFinder } from './tasks/detail_finders.js';
export type { Redactor } from './tasks/pattern_redactor.js';
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
  RedactionRule,
  RedactionSession,
  RedactOptions,
  Restoration,
  SessionOptions,
  TextRange,
} from './tasks/redact.js';
export { restore } from './tasks/redact.js';

/** `createRedactor` of 'peruse', in a few kilobytes: this entry does not contain the engine. */
export function createRedactor(options: RedactFinders): Redactor {
  return redactorOf(options, async () => findDetails);
}
