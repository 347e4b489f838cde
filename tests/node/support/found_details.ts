import { findPatterns } from '../../../web/src/redact/patterns.js';

/** The details that the patterns find, as 'TYPE text'. */
export function found(text: string): string[] {
  return findPatterns(text).map(({ type, start, end }) => `${type} ${text.slice(start, end)}`);
}
