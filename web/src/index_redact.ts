/// <reference lib="esnext.disposable" preserve="true" />
import { asArgumentError, PeruseError, show } from './errors.js';
import { findDetails } from './redact/patterns.js';
import { type PatternRedactor, patternRedactor } from './tasks/pattern_redactor.js';
import type { RedactFinders } from './tasks/redact.js';

export { type ErrorCode, PeruseError } from './errors.js';
export { findDetails, findPatterns } from './redact/patterns.js';
export { entityFinder, labelFinder } from './tasks/detail_finders.js';
export type { PatternRedactor } from './tasks/pattern_redactor.js';
export type * from './tasks/redact.js';
export { redact, restore, restoreAll } from './tasks/redact.js';

/** `pipeline` of 'peruse' for redaction without a model, in a few kilobytes: it does not contain the engine. */
export async function pipeline(task: 'redact', source: null, settings: RedactFinders): Promise<PatternRedactor> {
  if (task !== 'redact' || (source !== null && source !== undefined)) {
    const words = `not pipeline(${show(task)}, ${show(source)})`;
    throw new PeruseError(
      'invalid_argument',
      `peruse/redact supports only pipeline('redact', null, { patterns }), ${words}; use 'peruse'.`,
    );
  }
  try {
    return patternRedactor(settings ?? {}, async () => findDetails);
  } catch (error) {
    throw asArgumentError(error);
  }
}
