import { printable } from '../errors.js';

export { printable };

/** Formats a value as one line of JSON, and escapes control characters that JSON allows. */
export function jsonLine(value: unknown): string {
  return printable(JSON.stringify(value));
}
