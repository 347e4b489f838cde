// Placeholders such as [PER_1]: assigns them, and restores the texts that they replace.

import { checkString, nameOf } from '../checks.js';
import { PeruseError } from '../errors.js';
import { foldText, type TextRange } from './text_folding.js';

const kBrackets = /\[[^[\]]+\]/g;

const wordsWith = (separator: string) => String.raw`\p{L}[\p{L}\p{N}]{0,30}(?:${separator}[\p{L}\p{N}]{1,30}){0,5}?`;
/** A placeholder as a language model may write it: '[per_1]', '(PER 1)', '\[PER\_1\]', "[PER_1's]", or 'PER_1' with the underscore. */
const kVariant = new RegExp(
  String.raw`\\?[[({<【［「] ?(?<name>${wordsWith('(?:\\\\?_|[ -])')})(?:\\?_|[ -])?(?<number>\d{1,6})(?<suffix>['’]?s)? ?\\?[\])}>】］」]` +
    String.raw`|(?<![\p{L}\p{N}_\\])(?<bareName>${wordsWith('\\\\?_')})\\?_(?<bareNumber>\d{1,6})(?![\p{L}\p{N}_])`,
  'giu',
);

interface Written extends TextRange {
  written: string;
  /** The usual spelling: '[PER_1]'. */
  placeholder: string;
  /** A possessive within the brackets: "'s". */
  suffix: string;
}

function writtenIn(text: string): Written[] {
  return [...text.matchAll(kVariant)].map(({ 0: written, index, groups = {} }) => {
    const name = (groups.name ?? groups.bareName!).replaceAll('\\', '').replaceAll(/[ -]/g, '_').toUpperCase();
    const number = Number(groups.number ?? groups.bareNumber);
    return { written, start: index, end: index + written.length, placeholder: `[${name}_${number}]`, suffix: groups.suffix ?? '' };
  });
}

/** A text with its details restored. */
export interface Restoration {
  text: string;
  /** The placeholders that were replaced, each once. */
  restored: string[];
  /** Placeholders in the text that the mapping lacks, as they are spelled there: '[PER_9]'. */
  unrestored: string[];
}

/**
 * Replaces each placeholder of the mapping by its text, also if a language model changed its letter case, brackets or possessive. Reports the
 * restored and the unknown placeholders.
 */
export function restore(text: string, mapping: Readonly<Record<string, string>>): Restoration {
  if (typeof mapping !== 'object' || mapping === null) {
    throw new PeruseError('invalid_argument', `The mapping must be an object, not ${nameOf(mapping)}.`);
  }
  const isKnown = (placeholder: string) => Object.hasOwn(mapping, placeholder);
  const types = new Set(Object.keys(mapping).map(typeOf));
  const restored = new Set<string>();
  const unrestored = new Set<string>();
  let result = '';
  let at = 0;
  for (const { written, placeholder, suffix, start, end } of literalFirst(checkString(text, 'The text'), isKnown)) {
    if (isKnown(placeholder)) {
      result += text.slice(at, start) + mapping[placeholder]! + suffix;
      at = end;
      restored.add(placeholder);
    } else if (types.has(typeOf(placeholder)) || /^\[[\p{Lu}\p{N}_]+_\d+\]$/u.test(written)) {
      unrestored.add(written);
    }
  }
  return { text: result + text.slice(at), restored: [...restored], unrestored: [...unrestored] };
}

/** The placeholders of a text: exact spellings have priority over variants. */
function literalFirst(text: string, isKnown: (placeholder: string) => boolean): Written[] {
  const literal = [...text.matchAll(kBrackets)]
    .filter(([written]) => isKnown(written))
    .map(({ 0: written, index }) => ({ written, placeholder: written, suffix: '', start: index, end: index + written.length }));
  const starts = new Set(literal.map(({ start }) => start));
  const ends = new Set(literal.map(({ end }) => end));
  const variants = writtenIn(text).filter(({ start, end }) => !starts.has(start) && !ends.has(end));
  return [...literal, ...variants].sort((a, b) => a.start - b.start);
}

function typeOf(placeholder: string): string {
  return placeholder.replace(/_\d+\]$/, '');
}

/** The form in which a session compares texts: 'MARY  MILLER' equals 'Mary Miller'. */
export function sameWords(text: string): string {
  return foldText(text).text.trim().replaceAll(/\s+/g, ' ').toLowerCase();
}

/** Assigns placeholders: equal texts of a type get the same one, and none equals a placeholder in the caller's texts. */
export class Placeholders {
  readonly #byText = new Map<string, string>();
  readonly #texts = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** Placeholders that the caller's texts contain. */
  readonly #written = new Set<string>();
  readonly #form: (text: string) => string;
  #mapping: Readonly<Record<string, string>> | undefined;

  /** Texts with the same `form` get the same placeholder. */
  constructor(mapping: Readonly<Record<string, string>> = {}, form: (text: string) => string = (text) => text) {
    this.#form = form;
    for (const [placeholder, text] of Object.entries(mapping)) this.#add(placeholder, typeOf(placeholder), text);
  }

  /** Records the placeholders that a text contains. Must be called for all texts before the first placeholder is assigned. */
  note(text: string): void {
    for (const { placeholder } of writtenIn(text)) this.#written.add(placeholder);
    for (const [written] of text.matchAll(kBrackets)) this.#written.add(written);
  }

  /** Ranges in which a text contains placeholders of earlier texts, in any spelling. restore() would replace them. */
  standingIn(text: string): TextRange[] {
    return literalFirst(text, (written) => this.#texts.has(written))
      .filter(({ placeholder }) => this.#texts.has(placeholder))
      .map(({ start, end }) => ({ start, end }));
  }

  of(type: string, text: string): string {
    const name = `[${type.toUpperCase().replaceAll(/[^\p{L}\p{N}]+/gu, '_') || 'ENTITY'}`;
    const known = this.#byText.get(`${name} ${this.#form(text)}`);
    if (known !== undefined) return known;
    for (;;) {
      const count = (this.#counts.get(name) ?? 0) + 1;
      this.#counts.set(name, count);
      const placeholder = `${name}_${count}]`;
      if (this.#texts.has(placeholder) || this.#written.has(placeholder)) continue;
      this.#add(placeholder, name, text);
      return placeholder;
    }
  }

  /** The text of each placeholder. Returns the same frozen object until a placeholder is added. */
  mapping(): Readonly<Record<string, string>> {
    this.#mapping ??= Object.freeze(Object.fromEntries(this.#texts));
    return this.#mapping;
  }

  #add(placeholder: string, name: string, text: string): void {
    this.#byText.set(`${name} ${this.#form(text)}`, placeholder);
    this.#texts.set(placeholder, text);
    this.#mapping = undefined;
  }
}
