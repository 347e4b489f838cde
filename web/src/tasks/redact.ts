// redact: what a token classifier finds in a text is replaced by placeholders, and can be put back.
import { describe, PeruseError, show } from '../errors.js';
import {
  asList,
  type CallOptions,
  checkString,
  checkStrings,
  engineOptions,
  nameOf,
  type OneOrMany,
  type OptionNames,
  type Run,
} from './call.js';
import { type ChecksumName, checksum, kChecksums, numberAround } from './checksums.js';
import { isPersonType, recased } from './letter_case.js';
import { findPatterns, kPatternNames, type PatternName } from './patterns.js';
import { Placeholders } from './placeholders.js';
import { type FoldedText, foldText, type TextRange } from './text_folding.js';
import type { EntityGroup } from './token_classification.js';

export { restore } from './placeholders.js';

/** Whether a found text is really of its type: check digits by name, or a function of the text as it was read (folded). */
export type RedactionRule = ChecksumName | ((text: string) => boolean);

/** Options of redaction. */
export interface RedactOptions extends CallOptions {
  /** The types to replace, as the model names them ('EMAIL'). Default: all. */
  types?: readonly string[];
  /** Leave entities alone whose score is lower. Default 0. */
  threshold?: number;
  /**
   * Replace a token if the probability of label 'O' (not private) is below this value, from 0 to 1. A higher value finds more
   * details and more false alarms. With 0, the default, the best label decides.
   */
  recall?: number;
  /** Gives what stands in place of an entity. Default: its placeholder, '[EMAIL_1]'. */
  replacer?: (entity: FoundEntity) => string;
  /**
   * By type, a rule that leaves entities alone: 'luhn' (card numbers) and 'iban' those whose check digits are wrong, a function
   * those for which it returns false. Default: none.
   */
  rules?: Readonly<Record<string, RedactionRule>>;
  /**
   * Placeholders of earlier calls: the same text gets the same placeholder again. One that stands literally in a text is itself
   * replaced, so that `restore` does not mistake it.
   */
  mapping?: Readonly<Record<string, string>>;
  /**
   * Also replace what these patterns find, without the model: 'EMAIL', 'LINK', 'IBAN', 'CARD', 'PHONE'; true means all of them.
   * Default false.
   */
  patterns?: boolean | readonly PatternName[];
  /** How tokens become entities (token-classification). Default 'simple'. */
  aggregation_strategy?: 'simple' | 'first' | 'max' | 'average';
  /** Tokens that neighbouring windows of a long text share. Default: 64, or a quarter of a shorter window. */
  stride?: number;
  /** Tokens of a window. Default: what the model takes, at most 512. */
  max_length?: number;
}

/** An entity, about to be replaced. */
export interface FoundEntity {
  type: string;
  text: string;
  score: number;
  /** UTF-16 indices into the caller's text. */
  start: number;
  end: number;
  /** '[EMAIL_1]': the same for the same text, wherever it stands. */
  placeholder: string;
}

/** An entity that was replaced. */
export interface RedactedEntity extends FoundEntity {
  replacement: string;
}

/** A text without its entities. */
export interface Redaction {
  text: string;
  /** In the order of the text. */
  entities: RedactedEntity[];
  /** The text behind each placeholder, including those of `options.mapping` and of all texts of the call: one frozen object for all. */
  readonly mapping: Readonly<Record<string, string>>;
}

/** `redact(text)`, `redact([text, ...])`: long texts are read in windows, all of them. */
export type RedactCall = <I extends string | readonly string[]>(texts: I, options?: RedactOptions) => Promise<OneOrMany<I, Redaction>>;

const kOptions: OptionNames<RedactOptions> = {
  types: true,
  threshold: true,
  recall: true,
  replacer: true,
  rules: true,
  mapping: true,
  patterns: true,
  aggregation_strategy: true,
  stride: true,
  max_length: true,
};

/** For callers within the package that make many calls: placeholders that stay from call to call, instead of `mapping`. */
export const kPlaceholders = Symbol('placeholders');

/** The type of an earlier text's placeholder if a text contains it. */
const kStanding = 'PLACEHOLDER';

/** Makes the call. */
export function redact(run: Run): RedactCall {
  const call = async (texts: unknown, options: RedactOptions & { [kPlaceholders]?: Placeholders } = {}) => {
    if (typeof options !== 'object' || options === null) engineOptions('redact', kOptions, options); // Which refuses it.
    const { replacer, rules, types, threshold, mapping, patterns, ...rest } = options;
    const settings = engineOptions('redact', kOptions, rest);
    const choice = checkChoice({ replacer, rules, types, threshold, mapping, patterns });
    const originals = asList(texts).map((text, index) => checkString(text, `Input ${index}`));
    const folded = originals.map(foldText);
    const copies = folded.map(({ text }) => recased(text));
    const inputs = [...folded, ...copies.filter((copy) => copy !== undefined)].map(({ text }) => ({ text }));
    const found = (await run(inputs, { aggregation_strategy: 'simple', windows: true, ...settings }, options.signal)) as EntityGroup[][];
    const placeholders = options[kPlaceholders] ?? new Placeholders(mapping);
    for (const text of originals) placeholders.note(text);
    let next = originals.length; // Readings of copies follow those of the texts.
    const results = originals.map((original, index) => {
      const copy = copies[index];
      const second = copy === undefined ? [] : (found[next++] ?? []);
      const readings = [found[index]!, copy?.namesOnly ? second.filter(({ entity_group }) => isPersonType(entity_group)) : second];
      return replaceAll(original, wanted(folded[index]!, readings, choice), choice.replacer, placeholders);
    });
    return Array.isArray(texts) ? results : results[0];
  };
  return call as RedactCall;
}

type Choice = Pick<RedactOptions, 'replacer' | 'rules' | 'types' | 'threshold' | 'mapping' | 'patterns'>;

function checkChoice(choice: Choice): Choice {
  const { replacer, rules = {}, types, threshold, mapping = {}, patterns = false } = choice;
  const refuse = (name: string, wish: string, value: unknown) => {
    throw new PeruseError('invalid_argument', `${name} must be ${wish}, not ${nameOf(value)}.`);
  };
  if (replacer !== undefined && typeof replacer !== 'function') refuse('replacer', 'a function', replacer);
  if (types !== undefined) checkStrings(types, 'types');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0)) refuse('threshold', 'a number', threshold);
  if (typeof rules !== 'object' || rules === null) refuse('rules', 'an object', rules);
  if (typeof mapping !== 'object' || mapping === null) refuse('mapping', 'an object', mapping);
  for (const name of typeof patterns === 'boolean' ? [] : checkStrings(patterns, 'patterns')) {
    if (kPatternNames.includes(name as PatternName)) continue;
    throw new PeruseError('invalid_argument', `There is no pattern ${show(name)}; there are ${kPatternNames.join(', ')}.`);
  }
  for (const [type, rule] of Object.entries(rules)) {
    if (typeof rule === 'function' || kChecksums.includes(rule)) continue;
    throw new PeruseError(
      'invalid_argument',
      `The rule for ${type} must be a function or one of ${kChecksums.map((name) => `'${name}'`).join(', ')}.`,
    );
  }
  for (const [placeholder, text] of Object.entries(mapping)) checkString(text, `The mapping of ${placeholder}`);
  return choice;
}

/** Calls a function of the caller's. An error that it throws is reported under its name. */
function calling<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new PeruseError('invalid_argument', `${what} failed: ${describe(error)}`, { cause: error });
  }
}

interface Found extends TextRange {
  type: string;
  score: number;
}

/** Returns the entities to replace, as ranges of the original text. Ranges may overlap. */
function wanted(folded: FoldedText, readings: readonly (readonly EntityGroup[])[], choice: Choice): Found[] {
  const { types, threshold = 0, rules = {}, patterns = false } = choice;
  const names = patterns === true ? kPatternNames : patterns === false ? [] : patterns;
  const isWanted = ({ type }: { type: string }) => types === undefined || types.includes(type);
  const details = findPatterns(folded.text, names).filter(isWanted);
  const fromPatterns = details.map(({ type, ...range }) => ({ type, score: 1, ...folded.original(range) }));
  const fromModel = readings
    .flatMap((entities) => joined(folded.text, entities))
    .flatMap((entity) => {
      const { type, score } = entity;
      if (score < threshold || !isWanted(entity)) return [];
      const range = Object.hasOwn(rules, type) ? underRule(rules[type]!, folded.text, entity) : entity;
      return range === undefined ? [] : [{ type, score, ...folded.original(range) }];
    });
  return [...fromPatterns, ...fromModel];
}

/** Returns the part to replace under a rule: the part found, the whole number that it belongs to, or undefined to leave it alone. */
function underRule(rule: RedactionRule, text: string, part: TextRange): TextRange | undefined {
  const found = text.slice(part.start, part.end);
  if (typeof rule === 'function') return calling('A rule', () => rule(found)) ? part : undefined;
  const whole = numberAround(rule, text, part);
  if (whole !== undefined) return { start: Math.min(whole.start, part.start), end: Math.max(whole.end, part.end) };
  return checksum(rule, found) === 'wrong' ? undefined : part;
}

/** Entities without white space around them; those of one type that touch are one. */
function joined(text: string, entities: readonly EntityGroup[]): Found[] {
  const found: Found[] = [];
  for (const { entity_group: type, score, start, end } of entities) {
    const inner = text.slice(start, end);
    const from = start + inner.length - inner.trimStart().length;
    const to = end - (inner.length - inner.trimEnd().length);
    const before = found.at(-1);
    if (before !== undefined && before.type === type && before.end === from && start === from) {
      before.end = to;
      before.score = Math.min(before.score, score);
    } else if (to > from) {
      found.push({ type, score, start: from, end: to });
    }
  }
  return found;
}

/** Merges ranges that overlap. The result has the type of the surest one. */
function merged(found: readonly Found[]): Found[] {
  const apart: Found[] = [];
  for (const one of [...found].sort((a, b) => a.start - b.start)) {
    const before = apart.at(-1);
    if (before !== undefined && one.start < before.end) {
      before.end = Math.max(before.end, one.end);
      if (one.score > before.score) Object.assign(before, { type: one.type, score: one.score });
    } else if (one.end > one.start) {
      apart.push({ ...one });
    }
  }
  return apart;
}

/** The text with its details replaced. */
function replaceAll(text: string, details: readonly Found[], replacer: RedactOptions['replacer'], placeholders: Placeholders): Redaction {
  const entities: RedactedEntity[] = [];
  const standing = placeholders.standingIn(text).map((range) => ({ type: kStanding, score: 1, ...range }));
  let result = '';
  let at = 0;
  for (const { type, score, start, end } of merged([...standing, ...details])) {
    const original = text.slice(start, end);
    const entity = { type, text: original, score, start, end, placeholder: placeholders.of(type, original) };
    const replacement =
      replacer === undefined
        ? entity.placeholder
        : checkString(
            calling('The replacer', () => replacer(entity)),
            "The replacer's result",
          );
    entities.push({ ...entity, replacement });
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return {
    text: result + text.slice(at),
    entities,
    get mapping() {
      return placeholders.mapping();
    },
  };
}
