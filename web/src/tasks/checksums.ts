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

const kRules = { luhn, iban };

/** 'luhn': card numbers; 'iban': international bank account numbers. */
export type ChecksumName = keyof typeof kRules;

export const kChecksums = Object.keys(kRules) as ChecksumName[];

/** What the check digits of a text say. */
export function checksum(rule: ChecksumName, text: string): Verdict {
  return kRules[rule](codeOf(foldText(text).text));
}

function codeOf(folded: string): string {
  return folded.replaceAll(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}

/** How far from its part a number's other groups are looked for, in characters. */
const kReach = 48;
const kGroup = /[\p{L}\p{N}]+/gu;
/** What separates the groups of one number. */
const kSeparators = /^[^\p{L}\p{N}]{1,3}$/u;
const kLongestCode = 34;

/**
 * Returns the numbers with right check digits that a part of a folded text belongs to, from the first to the last character, or
 * undefined. They may be longer than the part: taggers break long numbers in two.
 */
export function numberAround(rule: ChecksumName, text: string, part: TextRange): TextRange | undefined {
  const from = Math.max(0, part.start - kReach);
  const groups = [...text.slice(from, part.end + kReach).matchAll(kGroup)].map((match) => {
    const start = from + match.index;
    return { start, end: start + match[0].length };
  });
  let found: TextRange | undefined;
  for (const [first, { start }] of groups.entries()) {
    for (let last = first; last < groups.length; ++last) {
      const { end } = groups[last]!;
      if (last > first && !kSeparators.test(text.slice(groups[last - 1]!.end, groups[last]!.start))) break;
      const code = codeOf(text.slice(start, end));
      if (code.length > kLongestCode || start >= part.end) break;
      if (end <= part.start || kRules[rule](code) !== 'right') continue;
      found = { start: Math.min(start, found?.start ?? start), end: Math.max(end, found?.end ?? end) };
    }
  }
  return found;
}
