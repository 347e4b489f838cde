// Decides which findings are replaced: types, scores, rules, whole numbers.
import { checksum, numberAround, numbersIn } from './checksums.js';
import { calling, type Detail } from './details.js';
import { type ChecksumName, kChecksumNames, type PatternMatch } from './pattern_names.js';
import { isPublic } from './public_words.js';
import type { FoldedText, TextRange } from './text_folding.js';

/** Whether a found text really has its type: the name of a checksum, or a function of the normalised text. */
export type RedactionRule = ChecksumName | ((text: string) => boolean);

export interface Selection {
  types?: readonly string[];
  threshold?: number;
  rules?: Readonly<Record<string, RedactionRule>>;
}

/** Types that are not private unless the caller names them. A date of birth is found by its cue (patterns/birth_dates.ts). */
const kPublicTypes =
  /^(?:date|time|date_?time|amount|money|currency|quantity|measure(?:ment)?|percent(?:age)?|cardinal|ordinal|number|misc|product|event|work(?:_of_art)?|language|law|norp|nrp)$/i;

/**
 * Returns the details to replace, as ranges of the original text. `matches` come from patterns, `lists` from the model and other finders;
 * both refer to `reading`, which is one of the readings of the text.
 */
export function detailsOf(
  reading: FoldedText,
  matches: readonly PatternMatch[],
  lists: readonly (readonly Detail[])[],
  { types, threshold = 0, rules = {} }: Selection,
  repeats: boolean,
  readings: readonly FoldedText[] = [reading],
): Detail[] {
  const { text } = reading;
  const isWanted = ({ type }: { type: string }) => (types === undefined ? !kPublicTypes.test(type) : types.includes(type));
  const fromPatterns = matches.filter(isWanted).map((match) => ({ ...match, score: 1 }));
  const fromFinders = lists
    .flatMap((found) => joined(text, found))
    .flatMap((detail) => {
      if (hasBorders(text, detail, fromPatterns)) return [];
      if (detail.score < threshold || !isWanted(detail) || (types === undefined && isPublic(text, detail))) return [];
      const rule = Object.hasOwn(rules, detail.type) ? rules[detail.type] : undefined;
      const range = rule === undefined ? wholeNumber(text, detail) : underRule(rule, reading, detail, readings);
      if (range === undefined) return [];
      // A part counts less than a finding that has the whole number.
      const isPart = rule === undefined && range.end - range.start > detail.end - detail.start;
      return [{ ...detail, ...range, score: isPart ? 0.99 * detail.score : detail.score }];
    });
  const found = [...fromPatterns, ...fromFinders];
  // A person's name is hidden wherever the text has it.
  const repeated = repeats ? found : found.filter(({ type }) => /^(?:private_)?per(?:son)?$|name/i.test(type));
  return found.concat(repeatsOf(text, repeated)).map((detail) => ({ ...detail, ...reading.original(detail) }));
}

/** Whether a pattern has found the same detail without words around it: 'mail mary@example.org'. */
function hasBorders(text: string, { type, start, end }: Detail, matches: readonly Detail[]): boolean {
  return matches.some(
    (match) =>
      match.type === type &&
      start <= match.start &&
      match.end <= end &&
      !/[\d@]|\p{Lu}/u.test(text.slice(start, match.start) + text.slice(match.end, end)),
  );
}

/** Applies a rule. Returns the part, the whole number that contains it, or undefined to leave it unchanged. */
function underRule(rule: RedactionRule, reading: FoldedText, part: TextRange, readings: readonly FoldedText[]): TextRange | undefined {
  const found = reading.text.slice(part.start, part.end);
  if (typeof rule === 'function') return calling('A rule', () => rule(found)) ? part : undefined;
  const whole = numberAround(rule, reading.text, part);
  if (whole !== undefined) return union(part, whole);
  if (checksum(rule, found) !== 'wrong') return part;
  const { start, end } = reading.original(part);
  const isRightElsewhere = readings.some(
    (other) =>
      other !== reading &&
      numbersIn(rule, other.text)
        .map((number) => other.original(number))
        .some((number) => number.start < end && number.end > start),
  );
  return isRightElsewhere ? part : undefined;
}

/** Extends a part of a number to the whole: to the ends of its groups of digits, to letters before it ('M-44812'), and if its check digits are right, to all groups. */
function wholeNumber(text: string, part: TextRange): TextRange {
  let { start, end } = part;
  if (!/\d/.test(text.slice(start, end))) return part;
  while (/\d/.test(text[start] ?? '') && /\d/.test(text[start - 1] ?? '')) --start;
  while (/\d/.test(text[end - 1] ?? '') && /\d/.test(text[end] ?? '')) ++end;
  if (text.slice(start, end).replaceAll(/\D/g, '').length < 4) return { start, end };
  if (/\d/.test(text[start]!))
    start -= /(?<![\p{L}\p{N}])[A-Z]{1,4}[-/]?$/u.exec(text.slice(Math.max(0, start - 6), start))?.[0].length ?? 0;
  for (const name of kChecksumNames) {
    const whole = numberAround(name, text, { start, end });
    if (whole !== undefined) return union({ start, end }, whole);
  }
  return { start, end };
}

function union(a: TextRange, b: TextRange): TextRange {
  return { start: Math.min(a.start, b.start), end: Math.max(a.end, b.end) };
}

/** Removes white space at the ends, and joins touching details of one type. */
function joined(text: string, details: readonly Detail[]): Detail[] {
  const found: Detail[] = [];
  for (const { type, score, start, end } of details) {
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

/** Minimum length of a repeated detail; shorter words, such as 'I', have other meanings. */
const kShortestRepeat = 3;

/** Finds further occurrences of details as whole words: a model may miss a name that it found in another sentence. */
function repeatsOf(text: string, found: readonly Detail[]): Detail[] {
  const byFirstWord = new Map<string, Map<string, Detail>>();
  for (const detail of found) {
    const words = text.slice(detail.start, detail.end);
    const first = /^[\p{L}\p{N}]+/u.exec(words)?.[0];
    if (first === undefined || words.length < kShortestRepeat) continue;
    if (!byFirstWord.has(first)) byFirstWord.set(first, new Map());
    byFirstWord.get(first)!.set(words, detail);
  }
  const repeats: Detail[] = [];
  for (const { 0: word, index: start } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    for (const [words, { type, score }] of byFirstWord.get(word) ?? []) {
      const end = start + words.length;
      if (text.startsWith(words, start) && !/^[\p{L}\p{N}]/u.test(text.slice(end, end + 2))) repeats.push({ type, score, start, end });
    }
  }
  return repeats;
}
