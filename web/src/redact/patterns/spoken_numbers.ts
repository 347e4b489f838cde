// Numbers spelled out in words to evade patterns: 'four one one one ...'.
import type { TextRange } from '../text_folding.js';
import { rangesOf } from './cues.js';

const kDigitWords = [
  'zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple',
  'null|eins|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun',
  'zéro|deux|trois|quatre|cinq|sept|huit|neuf',
  'cero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve',
].join('|');

/** At least seven digits, the length of the shortest telephone number. */
const kSpoken = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:plus )?(?:(?:${kDigitWords}|\\d{1,4})(?:[ ,.-]{1,3}|$)){6,30}(?:${kDigitWords}|\\d{1,4})(?![\\p{L}\\p{N}])`,
  'giud',
);

export function findSpokenNumbers(text: string): TextRange[] {
  const isSpoken = ({ start, end }: TextRange) => (text.slice(start, end).match(/\p{L}{2,}/gu)?.length ?? 0) >= 3;
  return rangesOf(text, kSpoken).filter(isSpoken);
}
