// Check digits: whether a number with the form of a card, say, can be one. Spaces, dashes and other signs between its characters do
// not count, nor does the script of its digits.
import { foldText, type TextRange } from './text_folding.js';

/** 'formless': the text does not have the form of such a number, so its check digits say nothing. */
export type Verdict = 'right' | 'wrong' | 'formless';

/** Card numbers: ISO/IEC 7812-1, 12 to 19 digits, the last of which is Luhn's check digit. */
function luhn(code: string): Verdict {
  if (!/^\d{12,19}$/.test(code)) return 'formless';
  let sum = 0;
  for (let i = 0; i < code.length; ++i) {
    const digit = Number(code[code.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 === 0 ? 'right' : 'wrong';
}

/** ISO 13616: 15 to 34 letters and digits, a country and two check digits first; remainder 1 modulo 97 (ISO/IEC 7064). */
function iban(code: string): Verdict {
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(code)) return 'formless';
  let remainder = 0;
  for (const char of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(char, 36); // A is 10, B 11, ...
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return remainder === 1 ? 'right' : 'wrong';
}

/** `begins`: what the beginning of such a number looks like; `shortest` and `longest`: its characters. */
const kRules = {
  luhn: { check: luhn, begins: /^\d*$/, shortest: 12, longest: 19 },
  iban: { check: iban, begins: /^(?:[A-Z]{0,2}|[A-Z]{2}\d{1,2}|[A-Z]{2}\d{2}[A-Z\d]+)$/, shortest: 15, longest: 34 },
};

/** 'luhn': card numbers; 'iban': international bank account numbers. */
export type ChecksumName = keyof typeof kRules;

export const kChecksums = Object.keys(kRules) as ChecksumName[];

/** What the check digits of a text say. */
export function checksum(rule: ChecksumName, text: string): Verdict {
  return kRules[rule].check(codeOf(foldText(text).text));
}

function codeOf(folded: string): string {
  return folded.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}

const kGroup = /[\p{L}\p{N}]+/gu;
/** What separates the groups of one number. */
const kSeparators = /^[^\p{L}\p{N}]{1,3}$/u;

/** Groups of letters and digits, in the order of a folded text. */
function groupsOf(text: string, from = 0, to = text.length): TextRange[] {
  return [...text.slice(from, to).matchAll(kGroup)].map(({ 0: group, index }) => ({
    start: from + index,
    end: from + index + group.length,
  }));
}

/** The numbers that begin with a group and have right check digits, from the shortest on. */
function* numbersFrom(rule: ChecksumName, text: string, groups: readonly TextRange[], first: number): Generator<TextRange> {
  const { check, begins, shortest, longest } = kRules[rule];
  const { start } = groups[first]!;
  let code = '';
  for (let last = first; last < groups.length; ++last) {
    const group = groups[last]!;
    if (last > first && !kSeparators.test(text.slice(groups[last - 1]!.end, group.start))) return;
    if (group.end - group.start > longest - code.length) return;
    code += text.slice(group.start, group.end).toUpperCase();
    if (!begins.test(code)) return;
    if (code.length >= shortest && check(code) === 'right') yield { start, end: group.end };
  }
}

/** Finds the numbers with right check digits in a folded text: the longest acceptable one of those that begin at one position. */
export function numbersIn(rule: ChecksumName, text: string, isAcceptable: (range: TextRange) => boolean = () => true): TextRange[] {
  const groups = groupsOf(text);
  const found: TextRange[] = [];
  for (const [first, { start }] of groups.entries()) {
    if (start < (found.at(-1)?.end ?? 0)) continue;
    const longest = [...numbersFrom(rule, text, groups, first)].filter(isAcceptable).at(-1);
    if (longest !== undefined) found.push(longest);
  }
  return found;
}

/** How far from its part a number's other groups are looked for, in characters. */
const kReach = 48;

/**
 * Returns the numbers with right check digits that a part of a folded text belongs to, from the first to the last character, or
 * undefined. They may be longer than the part: taggers break long numbers in two.
 */
export function numberAround(rule: ChecksumName, text: string, part: TextRange): TextRange | undefined {
  const groups = groupsOf(text, Math.max(0, part.start - kReach), part.end + kReach);
  const found = groups
    .flatMap((_, first) => [...numbersFrom(rule, text, groups, first)])
    .filter(({ start, end }) => start < part.end && end > part.start);
  if (found.length === 0) return undefined;
  return { start: Math.min(...found.map(({ start }) => start)), end: Math.max(...found.map(({ end }) => end)) };
}
