import type { ParseArgsConfig } from 'node:util';
import type { Io } from './io.js';

export interface Option {
  type: 'string' | 'boolean';
  short?: string;
  value?: string;
  help: string;
}

export type Options = Record<string, Option>;

export type Values = { [name: string]: string | boolean | undefined };

export interface Command {
  summary: string;
  /** The arguments, for example '<model> [text ...]'. */
  usage: string;
  details?: string;
  options: Options;
  run(positionals: string[], values: Values, io: Io): Promise<void>;
}

/** An invalid command line: exit code 2, with a hint at --help. */
export class UsageError extends Error {}

/** Rows that failed, although the command worked: exit code 3. */
export class RowErrors extends Error {
  constructor(errors: number, rows: number) {
    super(`${errors} of ${rows} rows have an error instead of a result`);
  }
}

export function parseArgsOptions(options: Options): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(Object.entries(options).map(([name, { type, short }]) => [name, short ? { type, short } : { type }]));
}

export function text(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export function flag(values: Values, name: string): boolean {
  return values[name] === true;
}

export function number(values: Values, name: string): number | undefined {
  const value = text(values, name);
  if (value === undefined) return undefined;
  const parsed = Number(value);
  if (value.trim() === '' || !Number.isFinite(parsed)) throw new UsageError(`--${name} takes a number, not '${value}'`);
  return parsed;
}

/** Splits a value at commas. Throws UsageError without items. */
export function list(values: Values, name: string): string[] | undefined {
  const items = text(values, name)
    ?.split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  if (items?.length === 0) throw new UsageError(`--${name} names no ${name.replace(/s$/, '')}`);
  return items;
}

export function choice<const T extends string>(values: Values, name: string, words: readonly T[]): T | undefined {
  const value = text(values, name);
  if (value === undefined || words.includes(value as T)) return value as T | undefined;
  throw new UsageError(`--${name} takes ${words.join(' or ')}, not '${value}'`);
}

/** The positional arguments. Throws UsageError if a named one is missing. */
export function needed<const Names extends readonly string[]>(
  positionals: string[],
  names: Names,
): [...{ [K in keyof Names]: string }, ...string[]] {
  const missing = names[positionals.length];
  if (missing !== undefined) throw new UsageError(`<${missing}> is missing`);
  return positionals as [...{ [K in keyof Names]: string }, ...string[]];
}
