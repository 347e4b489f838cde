// Numbers with check digits: cards and bank accounts. Ignores separators between the characters, and accepts the digits of every script.
import { ibanCode, ibanLength, isIban } from './ibans.js';
import type { ChecksumName } from './pattern_names.js';
import { foldText, type TextRange } from './text_folding.js';

/** 'formless' means that the text does not have the form of such a number. */
export type Verdict = 'right' | 'wrong' | 'formless';

/** Card numbers (ISO/IEC 7812-1): 12 to 19 digits, the last of which is Luhn's check digit. */
const kFewestCardDigits = 12;
const kMostCardDigits = 19;

function luhn(written: string): Verdict {
  if (written.length < kFewestCardDigits || written.length > kMostCardDigits) return 'formless';
  const code = cardDigits(written);
  if (code === undefined) return 'formless';
  let sum = 0;
  for (let i = 0; i < code.length; ++i) {
    const digit = code.charCodeAt(code.length - 1 - i) - 48;
    sum += i % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 === 0 ? 'right' : 'wrong';
}

/** Letters that are read as digits, for example O as 0, must be fewer than half of the characters. */
export function cardDigits(code: string): string | undefined {
  if (/^\d*$/.test(code)) return code;
  if (!/^[\dOIL]*$/i.test(code) || 2 * code.replaceAll(/\D/g, '').length <= code.length) return undefined;
  return code.replaceAll(/o/gi, '0').replaceAll(/[il]/gi, '1');
}

function iban(written: string): Verdict {
  const code = ibanCode(written);
  if (code === undefined) return /^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/i.test(written) ? 'wrong' : 'formless';
  return isIban(code) ? 'right' : 'wrong';
}

interface Rule {
  check: (code: string) => Verdict;
  /** Whether a number may begin with these characters, the last of which are `part`. */
  begins: (code: string, part: string) => boolean;
  shortest: number;
  longest: number;
}

const kCardPart = /^[\dOIL]*$/i;

const kRules = {
  luhn: { check: luhn, begins: (_, part) => kCardPart.test(part), shortest: kFewestCardDigits, longest: kMostCardDigits },
  iban: {
    check: iban,
    begins: (code) => /^[a-z]{0,2}$|^[a-z]{2}[\dOIL]{1,2}/i.test(code) && (code.length < 2 || code.length <= (ibanLength(code) ?? 0)),
    shortest: 15,
    longest: 33,
  },
} satisfies Record<ChecksumName, Rule>;

export function checksum(rule: ChecksumName, text: string): Verdict {
  return kRules[rule].check(foldText(text).text.replaceAll(/[^\p{L}\p{N}]/gu, ''));
}

/** Letters of other scripts are borders of a number, as spaces are: '番号は4111 1111 1111 1111です'. */
const kGroup = /[\p{Script=Latin}\d]+/gu;
const kSeparators = /^[^\p{L}\p{N}]{1,3}$/u;
const kOneSeparator = /[ \n.-]/;

/** A number in groups of characters. */
export interface GroupedNumber extends TextRange {
  groups: readonly string[];
}

function groupsOf(text: string, from = 0, to = text.length): TextRange[] {
  const groups: TextRange[] = [];
  for (const { 0: group, index } of text.slice(from, to).matchAll(kGroup)) {
    groups.push({ start: from + index, end: from + index + group.length });
  }
  return groups;
}

/** Returns the numbers that begin with a group, the shortest first. */
function numbersFrom(rule: ChecksumName, text: string, parts: readonly TextRange[], first: number): GroupedNumber[] {
  const { check, begins, shortest, longest }: Rule = kRules[rule];
  const found: GroupedNumber[] = [];
  const { start } = parts[first]!;
  let code = '';
  for (let last = first; last < parts.length; ++last) {
    const part = parts[last]!;
    if (last > first && !isSeparator(text, parts[last - 1]!.end, part.start)) break;
    if (part.end - part.start > longest - code.length) break;
    const characters = text.slice(part.start, part.end);
    code += characters;
    if (!begins(code, characters)) break;
    if (code.length < shortest || check(code) !== 'right') continue;
    const groups = parts.slice(first, last + 1).map((group) => text.slice(group.start, group.end));
    found.push({ start, end: part.end, groups });
  }
  return found;
}

function isSeparator(text: string, start: number, end: number): boolean {
  if (end - start === 1 && kOneSeparator.test(text[start]!)) return true;
  return end - start <= 6 && kSeparators.test(text.slice(start, end));
}

/** Finds numbers with right check digits in a normalised text. At each position the longest acceptable one wins. */
export function numbersIn(
  rule: ChecksumName,
  text: string,
  isAcceptable: (found: GroupedNumber) => boolean = () => true,
  firstCharacter = /./,
): TextRange[] {
  if (!firstCharacter.test(text)) return [];
  const parts = groupsOf(text);
  const found: TextRange[] = [];
  for (const [first, { start }] of parts.entries()) {
    if (start < (found.at(-1)?.end ?? 0) || !firstCharacter.test(text[start]!)) continue;
    const longest = numbersFrom(rule, text, parts, first).reverse().find(isAcceptable);
    if (longest !== undefined) found.push({ start: longest.start, end: longest.end });
  }
  return found;
}

/** Maximum distance, in characters, of a number's other groups from the given part. */
const kReach = 48;

/** Returns the range of a number with right check digits that contains `part`, or undefined. Taggers may find only a part of a long number. */
export function numberAround(rule: ChecksumName, text: string, part: TextRange): TextRange | undefined {
  const parts = groupsOf(text, Math.max(0, part.start - kReach), part.end + kReach);
  const found = parts
    .flatMap((_, first) => numbersFrom(rule, text, parts, first))
    .filter(({ start, end }) => start < part.end && end > part.start);
  if (found.length === 0) return undefined;
  const ranges: readonly TextRange[] = found;
  return ranges.reduce((all, { start, end }) => ({ start: Math.min(all.start, start), end: Math.max(all.end, end) }));
}
