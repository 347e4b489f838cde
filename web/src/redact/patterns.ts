// Finds private details by their form, in time linear in the text's length.
import { numbersIn } from './checksums.js';
import { type FindDetails, kPatternNames, type PatternFinder, type PatternMatch, type PatternName } from './pattern_names.js';
import { findEmails, findLinks } from './patterns/addresses.js';
import { findBirthDates } from './patterns/birth_dates.js';
import { findKeys } from './patterns/keys.js';
import { findNationalIds } from './patterns/national_ids.js';
import { findIpAddresses, findMacAddresses } from './patterns/network.js';
import { findPhones } from './patterns/phones.js';
import { findSpokenNumbers } from './patterns/spoken_numbers.js';
import { merged } from './private_details.js';
import { foldText, type TextRange } from './text_folding.js';

const kPatterns: Record<PatternName, (text: string) => readonly TextRange[]> = {
  LINK: findLinks,
  EMAIL: findEmails,
  KEY: findKeys,
  IBAN: (text: string) => numbersIn('iban', text),
  MAC: findMacAddresses,
  IP: findIpAddresses,
  CARD: findCards,
  BIRTH_DATE: findBirthDates,
  NATIONAL_ID: findNationalIds,
  PHONE: (text: string) => [...findPhones(text), ...findSpokenNumbers(text)],
};

/** Finds details in a folded text, in text order. Merges overlapping details; the type of the caller's own pattern wins. */
export const findDetails: FindDetails = (text, patterns) => {
  const own = patterns.filter((one) => typeof one !== 'string');
  const known = kPatternNames.filter((name) => patterns.includes(name)).map((type) => ({ type, find: kPatterns[type] }));
  const found = [own, known].flatMap((finders, which) =>
    finders.flatMap(({ type, find }) => [...find(text)].map(({ start, end }) => ({ type, start, end, score: which === 0 ? 2 : 1 }))),
  );
  return merged(found).map(({ type, start, end }) => ({ type, start, end }));
};

/** Finds private details by their form, without a model (e-mail addresses, cards, ...). Returns ranges in text order, without overlaps. */
export function findPatterns(text: string, patterns: readonly (PatternName | PatternFinder)[] = kPatternNames): PatternMatch[] {
  const folded = foldText(text);
  return findDetails(folded.text, patterns).map(({ type, ...range }) => ({ type, ...folded.original(range) }));
}

const kFewestCardDigits = 13;
const kUsualCardDigits = 16;

/** Finds card numbers. Those begin with 2 to 6 (ISO/IEC 7812), unlike ISBNs and most product numbers. */
function findCards(text: string): TextRange[] {
  return numbersIn('luhn', text, ({ start, end }) => {
    const digits = text.slice(start, end).replaceAll(/\D/g, '');
    const isRest = /\d[^\p{L}\p{N}]{1,3}$/u.test(text.slice(Math.max(0, start - 5), start)); // the digits continue a longer number
    return /^[2-6]/.test(digits) && digits.length >= kFewestCardDigits && (!isRest || digits.length === kUsualCardDigits);
  });
}
