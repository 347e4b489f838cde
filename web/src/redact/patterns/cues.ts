import type { TextRange } from '../text_folding.js';

/** Borders of numbers and keys, for regular expressions with the flag u: letters of other scripts than Latin, and '_', are borders. */
export const kBefore = '(?<![\\p{Script=Latin}\\d])';
export const kAfter = '(?![\\p{Script=Latin}\\d])';

/** Returns a pattern that matches any of the words (regular expressions) as a whole word in any letter case. */
export function wordsOf(...words: readonly string[]): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join('|')})(?![\\p{L}\\p{N}])`, 'iu');
}

/** Whether a cue occurs in the `reach` characters before a range, on the same or the previous line. */
export function isCuedBefore(text: string, { start }: TextRange, cue: RegExp, reach: number): boolean {
  return cue.test(text.slice(Math.max(0, start - reach), start));
}

/** Returns the ranges of a pattern's matches, or of their group 'detail'. The pattern needs the flags g and d. */
export function rangesOf(text: string, pattern: RegExp): TextRange[] {
  return [...text.matchAll(pattern)].map(({ indices }) => {
    const [start, end] = indices!.groups?.detail ?? indices![0]!;
    return { start, end };
  });
}

/** Cues of numbers that are not private. */
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
/** Maximum distance of these cues before a number, in characters. */
export const kOtherReach = 24;
