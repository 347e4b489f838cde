// Checks of the options of redaction.
import { checkString, checkStrings, nameOf } from '../checks.js';
import { PeruseError, show } from '../errors.js';
import { kChecksumNames, kPatternNames, type PatternFinder, type PatternName } from './pattern_names.js';
import type { Selection } from './private_details.js';
import type { RedactFinders, RedactOptions } from './types.js';

/** The checked options that do not concern the model. */
export type Choice = Selection &
  Pick<RedactOptions, 'replacer' | 'mapping' | 'finders' | 'fail_closed'> & { patterns: readonly (PatternName | PatternFinder)[] };

/** Separates the options of redaction, checked, from those of the model. */
export function checkedChoice(options: RedactOptions, defaults: RedactFinders): { choice: Choice; rest: Record<string, unknown> } {
  if (typeof options !== 'object' || options === null) {
    throw new PeruseError('invalid_argument', `Options must be an object, not ${nameOf(options)}.`);
  }
  const { replacer, rules = {}, types, threshold, mapping = {}, patterns, finders, fail_closed, ...rest } = options;
  const refuse = (name: string, wish: string, value: unknown) => {
    throw new PeruseError('invalid_argument', `${name} must be ${wish}, not ${nameOf(value)}.`);
  };
  if (replacer !== undefined && typeof replacer !== 'function') refuse('replacer', 'a function', replacer);
  if (types !== undefined) checkStrings(types, 'types');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0)) refuse('threshold', 'a number', threshold);
  if (typeof rules !== 'object' || rules === null) refuse('rules', 'an object', rules);
  if (typeof mapping !== 'object' || mapping === null) refuse('mapping', 'an object', mapping);
  checkFinders({ patterns, finders, fail_closed });
  for (const [type, rule] of Object.entries(rules)) {
    if (typeof rule === 'function' || kChecksumNames.includes(rule)) continue;
    const names = kChecksumNames.map((name) => `'${name}'`).join(', ');
    throw new PeruseError('invalid_argument', `The rule for ${type} must be a function or one of ${names}.`);
  }
  for (const [placeholder, text] of Object.entries(mapping)) checkString(text, `The mapping of ${placeholder}`);
  const chosen = patterns ?? defaults.patterns ?? false;
  const choice = {
    replacer,
    rules,
    types,
    threshold,
    mapping,
    patterns: chosen === true ? kPatternNames : chosen === false ? [] : chosen,
    finders: finders ?? defaults.finders,
    fail_closed: fail_closed ?? defaults.fail_closed,
  };
  return { choice, rest };
}

/** Checks the options that choose finders. */
export function checkFinders({ patterns = false, finders = [], fail_closed = false }: RedactFinders): void {
  if (typeof fail_closed !== 'boolean') {
    throw new PeruseError('invalid_argument', `fail_closed must be true or false, not ${nameOf(fail_closed)}.`);
  }
  if (!Array.isArray(finders) || finders.some((finder) => typeof finder !== 'function')) {
    throw new PeruseError('invalid_argument', `finders must be a list of functions, not ${nameOf(finders)}.`);
  }
  if (typeof patterns === 'boolean') return;
  if (!Array.isArray(patterns))
    throw new PeruseError('invalid_argument', `patterns must be true, false or a list, not ${nameOf(patterns)}.`);
  for (const one of patterns as readonly unknown[]) {
    const { type, find } = (typeof one === 'object' && one !== null ? one : {}) as Partial<PatternFinder>;
    if (kPatternNames.includes(one as PatternName) || (typeof type === 'string' && typeof find === 'function')) continue;
    throw new PeruseError(
      'invalid_argument',
      `There is no pattern ${show(one)}; there are ${kPatternNames.join(', ')}, and { type, find }.`,
    );
  }
}
