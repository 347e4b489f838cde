// Checks of arguments, shared by all calls.
import { PeruseError } from './errors.js';

export function asList(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? input : [input];
}

export function checkString(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw new PeruseError('invalid_argument', `${what} must be a string, not ${nameOf(value)}.`);
}

export function checkStrings(value: unknown, what: string): string[] {
  if (!Array.isArray(value)) throw new PeruseError('invalid_argument', `${what} must be a list of strings, not ${nameOf(value)}.`);
  return value.map((item, index) => checkString(item, `Item ${index} of ${what}`));
}

export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
