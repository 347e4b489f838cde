// Values of chat templates: those of Jinja, and texts of which parts are not known yet.
import { PeruseError } from '../../errors.js';

/** A text of the template, or the content of the message with this role. */
export type TemplatePart = string | { role: 'system' | 'query' | 'document' };

/** A text that consists of several parts. */
export class Joined {
  constructor(readonly parts: readonly TemplatePart[]) {}
}

export type Value = undefined | null | boolean | number | string | Joined | Value[] | Map<string, Value>;
export type Expression = (scope: Scope) => Value;

export function refuse(what: string): never {
  throw new PeruseError('unsupported', `The chat template: ${what} is not supported.`);
}

export class Scope {
  constructor(readonly names = new Map<string, Value>()) {}
  get(name: string): Value {
    return this.names.get(name);
  }
}

export function isTrue(value: Value): boolean {
  if (value instanceof Joined) return value.parts.some((part) => part !== '') || refuse('a condition on a text');
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof Map ? value.size > 0 : Boolean(value);
}

export function isEqual(a: Value, b: Value): boolean {
  if (a instanceof Joined || b instanceof Joined) refuse('a comparison with the text of a message');
  return a === b;
}

export function partsOf(value: Value): readonly TemplatePart[] {
  if (value instanceof Joined) return value.parts;
  if (value === undefined || value === null) return value === null ? ['None'] : [];
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  return refuse('printing anything but a text');
}

export function concatenated(a: Value, b: Value): Value {
  if (typeof a === 'number' || typeof b === 'number') refuse('arithmetic');
  return typeof a === 'string' && typeof b === 'string' ? a + b : new Joined([...partsOf(a), ...partsOf(b)]);
}

export function memberOf(value: Value, key: Value): Value {
  if (value instanceof Map) return typeof key === 'string' ? value.get(key) : undefined;
  if (Array.isArray(value) && typeof key === 'number') return value.at(key);
  return value instanceof Joined || typeof value === 'string' ? refuse('a part of a text') : undefined;
}

/** `is`: tests without arguments. */
export const kTests: Readonly<Record<string, (value: Value) => boolean>> = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: (value) => value === null,
  string: (value) => typeof value === 'string' || value instanceof Joined,
  mapping: (value) => value instanceof Map,
  iterable: (value) => Array.isArray(value) || value instanceof Map || typeof value === 'string' || value instanceof Joined,
};

export function listOf(value: Value): Value[] {
  return Array.isArray(value) ? value : refuse('a filter of lists on another value');
}

function selected(value: Value, [key, test, wanted]: Value[], keeps: boolean): Value[] {
  if (!['eq', 'equalto', '=='].includes(test as string)) refuse(`selectattr with the test ${JSON.stringify(test)}`);
  return listOf(value).filter((item) => isEqual(memberOf(item, key), wanted) === keeps);
}

type Filter = (value: Value, given: Value[], named: ReadonlyMap<string, Value>) => Value;

export const kFilters: Readonly<Record<string, Filter>> = {
  selectattr: (value, given) => selected(value, given, true),
  rejectattr: (value, given) => selected(value, given, false),
  map: (value, _given, named) => listOf(value).map((item) => memberOf(item, named.get('attribute') ?? refuse('map without attribute'))),
  first: (value) => listOf(value)[0],
  last: (value) => listOf(value).at(-1),
  list: (value) => [...listOf(value)],
  length: (value) => (typeof value === 'string' ? value.length : listOf(value).length),
  default: (value, [other = '', empty]) => (value === undefined || (empty === true && !isTrue(value)) ? other : value),
  trim: (value) => (typeof value === 'string' ? value.trim() : refuse('trim on the text of a message')),
};
