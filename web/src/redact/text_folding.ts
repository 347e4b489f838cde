// Folding: a normalised copy of a text, in which different spellings of the same characters are equal. Finders of private details read the
// copy, and their offsets are mapped back to the text.
import { replaceHomoglyphs } from './homoglyphs.js';

/** A range of UTF-16 indices. */
export interface TextRange {
  start: number;
  end: number;
}

export interface FoldedText {
  readonly text: string;
  original(range: TextRange): TextRange;
}

/**
 * Folds a text. Letter case stays.
 * - Line ends become '\n'.
 * - Compatibility characters (full-width, mathematical, superscript, circled) are replaced by Unicode's NFKC.
 * - Decimal digits of every script become 0 to 9.
 * - Invisible characters are removed: zero-width spaces, soft hyphens, direction marks, variation selectors.
 * - Spaces and tabs become ' '. Hyphens, minus signs, en dashes, and longer dashes between digits become '-'.
 * - Letters that resemble Latin ones are replaced in words that imitate Latin (homoglyphs.ts).
 */
export function foldText(text: string): FoldedText {
  if (/^[\n -~]*$/.test(text)) return { text, original: ({ start, end }) => ({ start, end }) };
  return new Folding(text);
}

/** A character or line end with the marks and invisible characters that follow it. */
const kCharacter = /(?:\r\n|.)[\p{M}\p{Cf}\p{Default_Ignorable_Code_Point}]*/gsu;
const kInvisible = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Me}]|(?![\s\x85])\p{Cc}/gu;
const kSpace = /[\p{Zs}\t\v\f\x85\u2800]/gu;
const kHyphen = /[\u2010-\u2013\u2043\u2212\u02d7\u058a\u05be\u1806]/g;
const kLongDash = /(?<=\d ?)[\u2014\u2015\u2e3a\u2e3b\u301c\u3030](?= ?\d)/g;

class Folding implements FoldedText {
  readonly text: string;
  /** For each UTF-16 unit of `text`: start and end of its character in the original. */
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;

  constructor(original: string) {
    const characters = original.match(kCharacter)!;
    const known = new Map<string, string>(); // a text has few different characters
    for (const character of characters) {
      if (!known.has(character)) known.set(character, foldCharacter(character));
    }
    const folded = characters.map((character) => known.get(character)!).join('');
    this.#starts = new Uint32Array(folded.length);
    this.#ends = new Uint32Array(folded.length);
    let start = 0;
    let at = 0;
    for (const character of characters) {
      const to = at + known.get(character)!.length;
      this.#starts.fill(start, at, to);
      start += character.length;
      this.#ends.fill(start, at, to);
      at = to;
    }
    this.text = replaceHomoglyphs(folded.replaceAll(kLongDash, '-')); // these two steps do not change the length
  }

  original({ start, end }: TextRange): TextRange {
    const from = this.#starts[start] ?? this.#ends.at(-1) ?? 0;
    return { start: from, end: end > start ? this.#ends[end - 1]! : from };
  }
}

/** Ligatures of whole sentences, such as U+FDFA with 18 letters, stay. */
const kMostAdded = 6;

function foldCharacter(character: string): string {
  if (/^[\n -~]$/.test(character)) return character;
  const visible = character.replaceAll(kInvisible, '');
  const normalized = visible.normalize('NFKC');
  const compatible = normalized.length > visible.length + kMostAdded ? visible : normalized;
  // NFKC would convert a spacing accent to a space and a combining mark
  const isAccent = compatible.startsWith(' ') && !/^\p{Zs}/u.test(visible);
  return (isAccent ? visible : compatible)
    .replaceAll(/\P{ASCII}/gu, enclosed)
    .replaceAll(/\p{Nd}/gu, decimal)
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(kSpace, ' ')
    .replaceAll(kHyphen, '-');
}

/** Enclosed digits and letters that NFKC does not change: first, last, and the character of the first. */
const kEnclosed: readonly (readonly [number, number, string])[] = [
  [0x2776, 0x277e, '1'],
  [0x2780, 0x2788, '1'],
  [0x278a, 0x2792, '1'],
  [0x24f5, 0x24fd, '1'],
  [0x24ff, 0x24ff, '0'],
  [0x1f10b, 0x1f10b, '0'],
  [0x1f10c, 0x1f10c, '0'],
  [0x1f150, 0x1f169, 'A'],
  [0x1f170, 0x1f189, 'A'],
];

function enclosed(character: string): string {
  const code = character.codePointAt(0)!;
  const range = kEnclosed.find(([first, last]) => code >= first && code <= last);
  return range === undefined ? character : String.fromCharCode(range[2].charCodeAt(0) + code - range[0]);
}

/** Value of a decimal digit: every script has its digits in a row, from zero to nine. */
function decimal(digit: string): string {
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(digit.codePointAt(0)! - value - 1))) ++value;
  return String(value);
}
