// What rules find in a message: things whose form gives them away, with their checksums where they have any.
import type { Span } from './marked_text.js';

export interface Detail extends Span {
  readonly kind: string;
}

const kRules: readonly { kind: string; pattern: RegExp; check?: (found: string) => boolean }[] = [
  { kind: 'EMAIL', pattern: /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu },
  { kind: 'LINK', pattern: /\b(?:https?:\/\/|www\.)[^\s<>"')\]]*[^\s<>"')\].,;:!?]/gi },
  { kind: 'IBAN', pattern: /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/g, check: isIban },
  { kind: 'CARD', pattern: /\b\d(?:[ -]?\d){12,18}\b/g, check: isCard },
  { kind: 'PHONE', pattern: /(?:\+|\(|\b)\d[\d ()./-]{5,}\d\b/g, check: isPhone },
];

/** In the order of the text, none over another; the rules that are surer come first. */
export function findDetails(text: string): Detail[] {
  const found: Detail[] = [];
  for (const { kind, pattern, check } of kRules) {
    for (const match of text.matchAll(pattern)) {
      const detail = { kind, start: match.index, end: match.index + match[0].length };
      if ((check?.(match[0]) ?? true) && !found.some((other) => overlap(other, detail))) found.push(detail);
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

export function overlap(a: Span, b: Span): boolean {
  return a.start < b.end && b.start < a.end;
}

/** Luhn's check of card numbers. */
function isCard(found: string): boolean {
  const digits = found.replaceAll(/\D/g, '');
  let sum = 0;
  for (const [index, digit] of [...digits].reverse().entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** ISO 13616: moved to the end, letters as numbers, the remainder by 97 is 1. */
function isIban(found: string): boolean {
  const text = found.replaceAll(' ', '');
  let remainder = 0;
  for (const sign of text.slice(4) + text.slice(0, 4)) {
    for (const digit of String(Number.parseInt(sign, 36))) remainder = (remainder * 10 + Number(digit)) % 97;
  }
  return remainder === 1;
}

/** Long enough for a number to call, and no date. */
function isPhone(found: string): boolean {
  const digits = found.replaceAll(/\D/g, '').length;
  return digits >= 7 && digits <= 15 && !/^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$/.test(found);
}
