import { describeError, PeruseError } from '../errors.js';
import { type ChecksumName, checksum, numberAround } from './checksums.js';
import type { PatternMatch } from './pattern_names.js';
import type { FoldedText, TextRange } from './text_folding.js';

/** Whether a found text really has its type: the name of a checksum, or a function of the normalised text. */
export type RedactionRule = ChecksumName | ((text: string) => boolean);

export interface Detail extends TextRange {
  type: string;
  score: number;
}

export interface Selection {
  types?: readonly string[];
  threshold?: number;
  rules?: Readonly<Record<string, RedactionRule>>;
}

/**
 * Returns the details to replace, as ranges of the original text, in text order, without overlaps. `matches` come from patterns, `readings`
 * from the model and other finders; both refer to the normalised text.
 */
export function detailsOf(
  folded: FoldedText,
  matches: readonly PatternMatch[],
  readings: readonly (readonly Detail[])[],
  { types, threshold = 0, rules = {} }: Selection,
  repeats: boolean,
): Detail[] {
  const isWanted = ({ type }: { type: string }) => types === undefined || types.includes(type);
  const fromPatterns = matches.filter(isWanted).map((match) => ({ ...match, score: 1 }));
  const fromFinders = readings
    .flatMap((found) => joined(folded.text, found))
    .flatMap((detail) => {
      if (detail.score < threshold || !isWanted(detail)) return [];
      const range = Object.hasOwn(rules, detail.type) ? underRule(rules[detail.type]!, folded.text, detail) : detail;
      return range === undefined ? [] : [{ ...detail, ...range }];
    });
  const found = [...fromPatterns, ...fromFinders];
  if (repeats) found.push(...repeatsOf(folded.text, found));
  return merged(found.map((detail) => ({ ...detail, ...folded.original(detail) })));
}

/** Merges overlapping details; the highest score gives the type, then the greatest length, then the order (patterns, model, finders). */
export function merged(found: readonly Detail[]): Detail[] {
  const apart: Detail[] = [];
  let decides: Detail | undefined;
  for (const one of [...found].sort((a, b) => a.start - b.start)) {
    const before = apart.at(-1);
    if (before === undefined || decides === undefined || one.start >= before.end) {
      if (one.end === one.start) continue;
      apart.push({ ...one });
      decides = one;
      continue;
    }
    before.end = Math.max(before.end, one.end);
    if (one.score < decides.score || (one.score === decides.score && one.end - one.start <= decides.end - decides.start)) continue;
    decides = one;
    Object.assign(before, { type: one.type, score: one.score });
  }
  return apart;
}

/** Applies a rule. Returns the part, the whole number that contains it, or undefined to leave it unchanged. */
function underRule(rule: RedactionRule, text: string, part: TextRange): TextRange | undefined {
  const found = text.slice(part.start, part.end);
  if (typeof rule === 'function') return calling('A rule', () => rule(found)) ? part : undefined;
  const whole = numberAround(rule, text, part);
  if (whole !== undefined) return { start: Math.min(whole.start, part.start), end: Math.max(whole.end, part.end) };
  return checksum(rule, found) === 'wrong' ? undefined : part;
}

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

/** Calls a function of the caller's, which `what` names in the error if it throws. */
export function calling<T>(what: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('invalid_argument', `${what} failed: ${describeError(error)}`, { cause: error });
  }
}
