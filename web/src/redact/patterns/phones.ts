// Telephone numbers: with an international or national prefix, with the usual groups, or after a cue. Other numbers (orders, invoices,
// ISBNs) are not private.
import type { TextRange } from '../text_folding.js';
import { isCuedBefore, kOther, kOtherReach, wordsOf } from './cues.js';

/** Longest telephone number (ITU-T E.164), in digits. */
const kMostDigits = 15;
const kFewestDigits = 7;

const kCue = wordsOf(
  '(?:tele)?(?:ph|f)o(?:ne|on|n)s?(?:nummer|num+ers?)?',
  'tel',
  'telefono?',
  'teléfono',
  'téléphone',
  'handy(?:nummer)?',
  'mobil(?:e|nummer)?',
  'móvil',
  'portable',
  'cell(?:ulare|ular|phone)?',
  'celular',
  'fax',
  'call(?:ed|ing)?',
  'ring',
  'rings?',
  'dial(?:led)?',
  'text(?:ed)? (?:me|us|him|her)',
  'sms',
  'whats ?app',
  'signal',
  'reach(?:ed)?',
  'contact',
  'hotline',
  'appel\\p{L}*',
  'llam\\p{L}*',
  'ruf\\p{L}*',
  'anruf\\p{L}*',
  'bel(?:len)?',
  'chiam\\p{L}*',
  'lig(?:ar|ue)',
  'тел(?:ефон)?',
);
const kWordlessCue = /電話|电话|手机|手機|携帯|전화/;
const kCueReach = 32;

export function findPhones(text: string): TextRange[] {
  const runs = text.matchAll(/[+(]{0,2}\d(?:[\d ()./-]|\n(?=[\d(]))*/g);
  return [...runs].flatMap(({ 0: run, index }) => {
    const before = text[index - 1] ?? ' ';
    if (/[\p{Script=Latin}\p{N}]/u.test(before) || (before === '#' && !run.startsWith('+'))) return []; // '#4471' is an order
    return numbersOf(run).flatMap((part) => {
      const number = part.text.replace(/\D+$/, '');
      const range = { start: index + part.index, end: index + part.index + number.length };
      return isPhone(text, range) ? [range] : [];
    });
  });
}

/** The numbers of a run of digits and separators: '030 123456 / 040 765432' holds two. */
function numbersOf(run: string): { text: string; index: number }[] {
  if (digitsOf(run) <= kMostDigits && !/ [/-] | {2}|\n/.test(run)) return [{ text: run, index: 0 }];
  const parts = [...run.matchAll(kPart)].map(({ 0: text, index }) => ({ text, index }));
  // '+1  617  555' is one number: its first part is too short for a whole one.
  const isPrefix = /^\(?\+/.test(run) && digitsOf(parts[0]?.text ?? '') < kFewestDigits;
  if (isPrefix && digitsOf(run) <= kMostDigits) return [{ text: run, index: 0 }];
  return parts;
}

const kPart = /[^ /\n](?:(?! [/-] | {2}|\n).)*/g;

function isPhone(text: string, range: TextRange): boolean {
  const number = text.slice(range.start, range.end);
  const digits = digitsOf(number);
  if (digits < kFewestDigits || digits > kMostDigits || isOtherNumber(text, range.end, number)) return false;
  if (/^[+(]{0,2}\+/.test(number)) return true;
  if ([kCue, kWordlessCue].some((cue) => isCuedBefore(text, range, cue, kCueReach))) return true;
  return !isCuedBefore(text, range, kOther, kOtherReach) && kForms.some((form) => form.test(number));
}

/** Whether it is a date, an amount, a decimal number or a range of years. */
function isOtherNumber(text: string, end: number, number: string): boolean {
  const isDate = /^\d{1,4} ?[./-] ?\d{1,2} ?[./-] ?\d{1,4}(?!\d| ?[-.]\d)/.test(number);
  const isYears = /^(?:1[5-9]|20)\d\d ?[-/] ?(?:1[5-9]|20)\d\d$/.test(number);
  const isAmount =
    /^\d{1,3}(?:[. ]\d{3})+$/.test(number) && /^(?:,\d{1,2}(?!\d)| ?(?:[€$£¥%]|eur|usd|gbp|kg|km|people))/i.test(text.slice(end, end + 8));
  const isDecimal = /^\d{1,3}(?:[. ]?\d{3})*$/.test(number) && /^,\d{1,2}(?!\d)/.test(text.slice(end, end + 4));
  const isUnit = /^\p{Script=Latin}/u.test(text.slice(end, end + 2));
  return isDate || isYears || isAmount || isDecimal || isUnit || /^\d+\.\d+$/.test(number);
}

/** National forms: with a trunk prefix, North American, or in three or more groups. */
const kForms = [
  /^\(?0[1-9][\d ()./-]{6,}$/,
  /^00[1-9][\d ()./-]{7,}$/,
  /^(?:1[ .-]?)?\(?[2-9]\d\d\)?[ ./-]{0,2}[2-9]\d\d[ .-]?\d{4}$/,
  /^[2-9]\d\d[-.]\d{4}$/,
  /^[1-9]\d{1,3}(?:[ .-]\d{2,4}){2,4}$/,
  /^\(\d{1,5}\)[\d ./-]{5,}$/,
];

function digitsOf(text: string): number {
  return text.replaceAll(/\D/g, '').length;
}
