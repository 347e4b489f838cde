// The names of the patterns. The patterns themselves (patterns.ts) are loaded at the first use.
import type { TextRange } from './text_folding.js';

/** Ordered by reliability: if two patterns match the same characters, the earlier one wins. */
export const kPatternNames = [
  'LINK',
  'EMAIL',
  'KEY',
  'IBAN',
  'MAC',
  'IP',
  'CARD',
  'BIRTH_DATE',
  'NATIONAL_ID',
  'PHONE',
  'PLATE',
  'HANDLE',
  'FIELD',
] as const;

/**
 * Details that patterns find: 'EMAIL'; 'LINK'; 'IBAN' and 'CARD' with right check digits; 'PHONE'; 'IP' and 'MAC' addresses; 'KEY' (API keys,
 * tokens, passwords after a cue such as 'password:'); 'BIRTH_DATE' (dates after a cue); 'NATIONAL_ID' (identity numbers with right check digits);
 * 'PLATE' (number plates); 'HANDLE' ('@name'); 'FIELD': values of private keys of JSON, heads of CSV, key=value lines, mail headers and
 * signatures, with the types PER, LOC, ID, KEY, PHONE, EMAIL and BIRTH_DATE.
 */
export type PatternName = (typeof kPatternNames)[number];

/** Rules that verify check digits. */
export const kChecksumNames = ['luhn', 'iban'] as const;

/** 'luhn' checks card numbers, 'iban' international bank account numbers. */
export type ChecksumName = (typeof kChecksumNames)[number];

/** A pattern of the caller's. It reads a normalised copy of the text (docs/tasks/redact.md, "Unusual spelling"). */
export interface PatternFinder {
  /** The type of the private details that the pattern finds, for example 'ORDER'. */
  type: string;
  find(text: string): readonly TextRange[];
}

/** A detail that a pattern has found. */
export interface PatternMatch extends TextRange {
  type: string;
}

/** Finds details in a normalised text, in text order, without overlaps, in steps. */
export type DetailSearch = Generator<undefined, PatternMatch[], undefined>;
