// The patterns by name. The patterns themselves (patterns.ts) are loaded at the first use.
import type { TextRange } from './text_folding.js';

/** In order of trust: where two patterns claim the same characters, the earlier one gets them. */
export const kPatternNames = ['LINK', 'EMAIL', 'KEY', 'IBAN', 'MAC', 'IP', 'CARD', 'BIRTH_DATE', 'NATIONAL_ID', 'PHONE'] as const;

/**
 * What patterns find: 'EMAIL'; 'LINK'; 'IBAN' and 'CARD' with right check digits; 'PHONE'; 'IP' and 'MAC' addresses; 'KEY' (API keys,
 * tokens, passwords after a cue); 'BIRTH_DATE' (dates next to a cue); 'NATIONAL_ID' (identity numbers with right check digits).
 */
export type PatternName = (typeof kPatternNames)[number];

/**
 * A pattern of the caller's: returns the ranges of a text's details (UTF-16 indices). It reads a normalised copy of the text
 * (docs/tasks/redact.md, "Unusual spelling").
 */
export interface PatternFinder {
  /** The type of what it finds. */
  type: string;
  find(text: string): readonly TextRange[];
}

/** A detail that a pattern finds. */
export interface PatternMatch extends TextRange {
  type: string;
}

/** Finds details in a folded text, in its order, without overlaps. */
export type FindDetails = (text: string, patterns: readonly (PatternName | PatternFinder)[]) => PatternMatch[];
