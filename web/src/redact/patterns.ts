// Finds private details by their form, in time linear in the text's length.

import { type Detail, merged } from './details.js';
import { type DetailSearch, kPatternNames, type PatternFinder, type PatternMatch, type PatternName } from './pattern_names.js';
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
import { kFindSayings } from './patterns/prose.js';
import { findSpokenNumbers } from './patterns/spoken_numbers.js';
import { foldText, type TextRange } from './text_folding.js';

type Search = (text: string) => readonly (TextRange & { type?: string })[];

/** The searches of each pattern. A search of a message takes about 10 ms at most the first time, when its expressions are compiled. */
const kPatterns: Record<PatternName, readonly Search[]> = {
  LINK: [findLinks],
  EMAIL: [findEmails],
  KEY: [findKeys],
  IBAN: [findIbans],
  MAC: [findMacAddresses],
  IP: [findIpAddresses],
  CARD: [findCards],
  BIRTH_DATE: [findBirthDates],
  NATIONAL_ID: [findNationalIds],
  PHONE: [findPhones, findSpokenNumbers],
  PLATE: [findPlates],
  HANDLE: [findHandles],
  FIELD: [findFields, ...kFindSayings, (text) => findTitled(text).map((range) => ({ ...range, type: 'PER' }))],
};

/** Finds details in a folded text, in text order. Merges overlapping details; the type of the caller's own pattern wins. Yields after each search. */
export function* searchDetails(text: string, patterns: readonly (PatternName | PatternFinder)[]): DetailSearch {
  const found: Detail[] = [];
  for (const { type, find } of patterns.filter((one) => typeof one !== 'string')) {
    for (const { start, end } of find(text)) found.push({ type, start, end, score: 2 });
    yield;
  }
  for (const name of kPatternNames.filter((one) => patterns.includes(one))) {
    for (const search of kPatterns[name]) {
      for (const { type = name, start, end } of search(text)) found.push({ type, start, end, score: 1 });
      yield;
    }
  }
  return merged(found).map(({ type, start, end }) => ({ type, start, end }));
}

/** Finds private details by their form, without a model (e-mail addresses, cards, ...). Returns ranges in text order, without overlaps. */
export function findPatterns(text: string, patterns: readonly (PatternName | PatternFinder)[] = kPatternNames): PatternMatch[] {
  const folded = foldText(text);
  const search = searchDetails(folded.text, patterns);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value.map(({ type, ...range }) => ({ type, ...folded.original(range) }));
  }
}
