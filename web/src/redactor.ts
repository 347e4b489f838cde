import { runtime } from './platform/current.js';
import { type Redactor, redactorOf } from './redact/redactor.js';
import type { RedactFinders } from './redact/types.js';

/**
 * Returns a redactor that works without a model, with patterns and finders: `createRedactor({ patterns: true })`. In pages the patterns are
 * loaded at the first call.
 *
 * @throws PeruseError 'invalid_argument' if the options contain neither patterns nor finders, or an option of models.
 */
export function createRedactor(options: RedactFinders): Redactor {
  return redactorOf(options, () => runtime().redaction());
}
