// Check digits of cards and accounts. Ignores separators between the characters, and accepts the digits of every script.
import { foldText, type TextRange } from './text_folding.js';

/** 'formless' means that the text does not have the form of such a number. */
export type Verdict = 'right' | 'wrong' | 'formless';

/** Card numbers (ISO/IEC 7812-1): 12 to 19 digits, the last of which is Luhn's check digit. */
function luhn(code: string): Verdict {
  if (!/^\d{12,19}$/.test(code)) return 'formless';
  let sum = 0;
  for (let i = 0; i < code.length; ++i) {
    const digit = Number(code[code.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 === 0 ? 'right' : 'wrong';
}

/** Bank accounts (ISO 13616): country, two check digits, 15 to 34 letters and digits in all; remainder 1 modulo 97. */
function iban(code: string): Verdict {
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(code)) return 'formless';
  let remainder = 0;
  for (const char of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(char, 36); // A is 10, B 11, ...
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return remainder === 1 ? 'right' : 'wrong';
}

/** `begins` matches the first characters of such a number; `shortest` and `longest` limit its length. */
const kRules = {
  luhn: { check: luhn, begins: /^\d*$/, shortest: 12, longest: 19 },
  iban: { check: iban, begins: /^(?:[A-Z]{0,2}|[A-Z]{2}\d{1,2}|[A-Z]{2}\d{2}[A-Z\d]+)$/, shortest: 15, longest: 34 },
};

/** 'luhn' checks card numbers, 'iban' international bank account numbers. */
export type ChecksumName = keyof typeof kRules;

export const kChecksums = Object.keys(kRules) as ChecksumName[];

export function checksum(rule: ChecksumName, text: string): Verdict {
  return kRules[rule].check(codeOf(foldText(text).text));
}

function codeOf(folded: string): string {
  return folded.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}

const kGroup = /[\p{L}\p{N}]+/gu;
const kSeparators = /^[^\p{L}\p{N}]{1,3}$/u;

function groupsOf(text: string, from = 0, to = text.length): TextRange[] {
  return [...text.slice(from, to).matchAll(kGroup)].map(({ 0: group, index }) => ({
    start: from + index,
    end: from + index + group.length,
  }));
}

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

/** Finds numbers with right check digits in a normalised text. At each position the longest acceptable one wins. */
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

/** Maximum distance, in characters, of a number's other groups from the given part. */
const kReach = 48;

/** Returns the range of a number with right check digits that contains `part`, or undefined. Taggers may find only a part of a long number. */
export function numberAround(rule: ChecksumName, text: string, part: TextRange): TextRange | undefined {
  const groups = groupsOf(text, Math.max(0, part.start - kReach), part.end + kReach);
  const found = groups
    .flatMap((_, first) => [...numbersFrom(rule, text, groups, first)])
    .filter(({ start, end }) => start < part.end && end > part.start);
  if (found.length === 0) return undefined;
  return { start: Math.min(...found.map(({ start }) => start)), end: Math.max(...found.map(({ end }) => end)) };
}
