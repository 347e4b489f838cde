// Finds private details by their form, in time linear in the text's length.

import { merged } from './details.js';
import { type FindDetails, kPatternNames, type PatternFinder, type PatternMatch, type PatternName } from './pattern_names.js';
import { findCards, findIbans } from './patterns/accounts.js';
import { findEmails, findLinks } from './patterns/addresses.js';
import { findBirthDates } from './patterns/birth_dates.js';
import { findFields } from './patterns/fields.js';
import { findHandles, findPlates } from './patterns/handles.js';
import { findTitled } from './patterns/honorifics.js';
import { findKeys } from './patterns/keys.js';
import { findNationalIds } from './patterns/national_ids.js';
import { findIpAddresses, findMacAddresses } from './patterns/network.js';
import { findPhones } from './patterns/phones.js';
import { findSayings } from './patterns/prose.js';
import { findSpokenNumbers } from './patterns/spoken_numbers.js';
import { foldText, type TextRange } from './text_folding.js';

const kPatterns: Record<PatternName, (text: string) => readonly (TextRange & { type?: string })[]> = {
  LINK: findLinks,
  EMAIL: findEmails,
  KEY: findKeys,
  IBAN: findIbans,
  MAC: findMacAddresses,
  IP: findIpAddresses,
  CARD: findCards,
  BIRTH_DATE: findBirthDates,
  NATIONAL_ID: findNationalIds,
  PHONE: (text: string) => [...findPhones(text), ...findSpokenNumbers(text)],
  PLATE: findPlates,
  HANDLE: findHandles,
  FIELD: (text: string) => [...findFields(text), ...findSayings(text), ...findTitled(text).map((range) => ({ ...range, type: 'PER' }))],
};

/** Finds details in a folded text, in text order. Merges overlapping details; the type of the caller's own pattern wins. */
export const findDetails: FindDetails = (text, patterns) => {
  const own = patterns.filter((one) => typeof one !== 'string');
  const known = kPatternNames.filter((name) => patterns.includes(name)).map((type) => ({ type, find: kPatterns[type] }));
  const found = [own, known].flatMap((finders, which) =>
    finders.flatMap(({ type, find }) =>
      [...find(text)].map((range: TextRange & { type?: string }) => ({
        type: which === 0 ? type : (range.type ?? type),
        start: range.start,
        end: range.end,
        score: which === 0 ? 2 : 1,
      })),
    ),
  );
  return merged(found).map(({ type, start, end }) => ({ type, start, end }));
};

/** Finds private details by their form, without a model (e-mail addresses, cards, ...). Returns ranges in text order, without overlaps. */
export function findPatterns(text: string, patterns: readonly (PatternName | PatternFinder)[] = kPatternNames): PatternMatch[] {
  const folded = foldText(text);
  return findDetails(folded.text, patterns).map(({ type, ...range }) => ({ type, ...folded.original(range) }));
}
