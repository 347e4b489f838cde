// Numbers of cards and bank accounts with right check digits.
import { cardDigits, type GroupedNumber, numbersIn } from '../checksums.js';
import type { TextRange } from '../text_folding.js';
import { isCuedBefore, wordsOf } from './cues.js';

/** First digits of the card networks and the lengths of their numbers: Visa, Mastercard, Mir, American Express, Diners, JCB, Maestro, others. */
const kNetworks: readonly (readonly [first: RegExp, ...lengths: number[]])[] = [
  [/^4/, 13, 16, 19],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, 16],
  [/^220[0-4]/, 16, 17, 18, 19],
  [/^3[47]/, 15],
  [/^3(?:0[0-5]|095|[689])/, 14, 16, 17, 18, 19],
  [/^35(?:2[89]|[3-8])/, 16, 17, 18, 19],
  [/^(?:5[06-9]|6)/, 13, 14, 15, 16, 17, 18, 19],
];

const kCardCue = wordsOf('(?:credit|debit)? ?cards?', 'visa', 'master ?card', 'amex', '(?:kredit)?karte', 'carte', 'tarjeta', 'cart[aã]o?');
const kCueReach = 40;

export function findCards(text: string): TextRange[] {
  return numbersIn(
    'luhn',
    text,
    (found) => {
      const digits = cardDigits(found.groups.join(''))!;
      if (!kNetworks.some(([first, ...lengths]) => first.test(digits) && lengths.includes(digits.length))) return false;
      const isRest = /\d[^\p{L}\p{N}]{1,3}$/u.test(text.slice(Math.max(0, found.start - 5), found.start)); // the digits continue a longer number
      if (isRest && digits.length !== 16) return false;
      return isPrinted(found) || isCuedBefore(text, found, kCardCue, kCueReach);
    },
    /[2-6]/,
  );
}

/** Whether the groups are those of cards: one, blocks of four, 4-6-5 (American Express) and 4-6-4, or digits spaced out. */
function isPrinted({ groups }: GroupedNumber): boolean {
  const lengths = groups.map((group) => group.length);
  const isIn = (size: number) => lengths.slice(0, -1).every((length) => length % size === 0) && lengths.at(-1)! <= 2 * size;
  if (groups.length === 1 || isIn(4) || /^4,6,[45]$/.test(lengths.join())) return true;
  if (lengths.some((length) => length !== lengths[0]) || lengths[0]! > 2) return false;
  return groups.some((group, i) => i > 0 && Number(group) !== Number(groups[i - 1]) + 1); // '51 52 53 ...' is a count
}

/** In other groups than those of four, a number must have this many digits: a list of years and words rarely has. */
const kManyDigits = 12;

export function findIbans(text: string): TextRange[] {
  return numbersIn(
    'iban',
    text,
    ({ groups }) => {
      const code = groups.join('');
      const isPrintedSo = groups.length === 1 || (groups.slice(0, -1).every(({ length }) => length === 4) && code === code.toUpperCase());
      return isPrintedSo || code.replaceAll(/\D/g, '').length >= kManyDigits;
    },
    /[a-z]/i,
  );
}
