// Private details whose form gives them away, found in a folded text without a model. The time is linear in the text's length.
import { numbersIn } from './checksums.js';
import type { TextRange } from './text_folding.js';

/** A detail that a pattern finds. */
export interface PatternMatch extends TextRange {
  type: PatternName;
}

/** In order of trust: where two patterns claim the same characters, the earlier one gets them. */
const kPatterns = {
  EMAIL: findEmails,
  LINK: findLinks,
  IBAN: (text: string) => numbersIn('iban', text),
  CARD: findCards,
  PHONE: findPhones,
} satisfies Record<string, (text: string) => TextRange[]>;

/** 'EMAIL', 'LINK', 'IBAN' and 'CARD' (with right check digits), 'PHONE'. */
export type PatternName = keyof typeof kPatterns;

export const kPatternNames = Object.keys(kPatterns) as PatternName[];

/** Finds details in a folded text, in its order, without overlaps. */
export function findPatterns(text: string, names: readonly PatternName[] = kPatternNames): PatternMatch[] {
  const taken = new Uint8Array(text.length);
  const found: PatternMatch[] = [];
  for (const type of kPatternNames) {
    if (!names.includes(type)) continue;
    for (const { start, end } of kPatterns[type](text)) {
      if (taken.subarray(start, end).includes(1)) continue;
      taken.fill(1, start, end);
      found.push({ type, start, end });
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

const kLocalPart = /[\p{L}\p{N}\p{M}._%+'-]/u;
const kDomain = /[\p{L}\p{N}\p{M}-]+(?:\.[\p{L}\p{N}\p{M}-]+)+/uy;

/** From each @ to both sides: a regular expression would read a long word again from each of its letters. */
function findEmails(text: string): TextRange[] {
  const found: TextRange[] = [];
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    kDomain.lastIndex = at + 1;
    const domain = kDomain.exec(text)?.[0];
    if (domain === undefined) continue;
    let start = at;
    while (start > 0 && kLocalPart.test(text[start - 1]!)) --start;
    while (start < at && /[.'%+-]/.test(text[start]!)) ++start;
    if (start < at) found.push({ start, end: at + 1 + domain.replace(/-+$/, '').length });
  }
  return found;
}

function findLinks(text: string): TextRange[] {
  const links = text.matchAll(/\b(?:https?:\/\/|www\.)[^\s<>"')\]]+/gi);
  return [...links].flatMap(({ 0: link, index }) => {
    const words = link.replace(/[.,;:!?]+$/, '');
    return /^(https?:\/\/|www)$/i.test(words) ? [] : [{ start: index, end: index + words.length }];
  });
}

/** Numbers of twelve digits are mostly something else. */
const kFewestCardDigits = 13;
const kUsualCardDigits = 16;

function findCards(text: string): TextRange[] {
  return numbersIn('luhn', text).filter(({ start, end }) => {
    const digits = digitsOf(text.slice(start, end));
    const isRest = /\d[^\p{L}\p{N}]{1,3}$/u.test(text.slice(Math.max(0, start - 5), start)); // Of a longer row of digits.
    return digits >= kFewestCardDigits && (!isRest || digits === kUsualCardDigits);
  });
}

/** Digits of the longest telephone number (ITU-T E.164), and of the shortest that is worth hiding. */
const kMostDigits = 15;
const kFewestDigits = 7;

function findPhones(text: string): TextRange[] {
  const runs = text.matchAll(/[+(]{0,2}\d[\d ()./-]*/g);
  return [...runs].flatMap(({ 0: run, index }) => {
    if (/[\p{L}\p{N}_]/u.test(text[index - 1] ?? ' ')) return [];
    const parts = digitsOf(run) > kMostDigits ? [...run.matchAll(kPart)] : [{ 0: run, index: 0 }];
    return parts.flatMap((part) => {
      const number = part[0].replace(/\D+$/, '');
      const digits = digitsOf(number);
      const isDate = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(number);
      if (digits < kFewestDigits || digits > kMostDigits || isDate) return [];
      const start = index + part.index;
      return [{ start, end: start + number.length }];
    });
  });
}

/** One of several numbers in a row: '030 123456 / 040 765432'. */
const kPart = /[^ /](?:(?! [/-] | {2}).)*/g;

function digitsOf(text: string): number {
  return text.replaceAll(/\D/g, '').length;
}
