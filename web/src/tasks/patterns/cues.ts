// Cues: words next to a number that say what it is.
import type { TextRange } from '../text_folding.js';

/** Makes a pattern of words, which are regular expressions, that matches them as whole words in any letter case. */
export function wordsOf(...words: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`, 'iu');
}

/** Returns whether a cue occurs in the characters before a range, on the same or the previous line. */
export function isCuedBefore(text: string, { start }: TextRange, cue: RegExp, reach: number): boolean {
  return cue.test(text.slice(Math.max(0, start - reach), start));
}

/** Returns the ranges of a pattern's matches; of the group 'detail' if the pattern has one. The pattern needs the flags g and d. */
export function rangesOf(text: string, pattern: RegExp): TextRange[] {
  return [...text.matchAll(pattern)].map(({ indices }) => {
    const [start, end] = indices!.groups?.detail ?? indices![0]!;
    return { start, end };
  });
}

/** Names of numbers that are not private. */
export const kOther = wordsOf(
  'orders?',
  'invoices?',
  'receipts?',
  'bills?',
  'tickets?',
  'cases?',
  'ref(?:erence)?',
  'serial',
  's/n',
  'isbn',
  'issn',
  'ean',
  'doi',
  'vat',
  'ust-?id(?:nr)?',
  'siret',
  'siren',
  'sku',
  'imei',
  'models?',
  'parts?',
  'parcels?',
  'tracking',
  'articles?',
  'artikel(?:nummer)?',
  'version',
  'build',
  'release',
  'batch',
  'lot',
  'policy',
  'bestell\\p{L}*',
  'rechnung\\p{L}*',
  'auftrag\\p{L}*',
  'kunden\\p{L}*',
  'commande',
  'facture',
  'pedido',
  'factura',
  'ordine',
  'fattura',
  'error',
  'issue',
  'bug',
  'pr',
  'commit',
  'row',
  'line',
  'page',
);
/** How far before a number such a name is looked for, in characters. */
export const kOtherReach = 24;
