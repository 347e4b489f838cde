// Check digits: whether a number with the form of a card, say, can be one.

/** Card numbers: ISO/IEC 7812-1, the formula of Luhn; 12 to 19 digits with spaces or hyphens between. */
function luhn(text: string): boolean {
  if (!/^\d(?:[ -]?\d){11,18}$/.test(text)) return false;
  const digits = text.replaceAll(/\D/g, '');
  let sum = 0;
  for (let i = 0; i < digits.length; ++i) {
    const digit = Number(digits[digits.length - 1 - i]);
    sum += i % 2 === 0 ? digit : digit < 5 ? 2 * digit : 2 * digit - 9;
  }
  return sum % 10 === 0;
}

/** ISO 13616: 15 to 34 letters and digits with spaces between; remainder 1 modulo 97 (ISO/IEC 7064). */
function iban(text: string): boolean {
  const code = text.replaceAll(' ', '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z\d]{11,30}$/.test(code)) return false;
  let remainder = 0;
  for (const char of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(char, 36); // A is 10, B 11, ...
    remainder = (remainder * (value < 10 ? 10 : 100) + value) % 97;
  }
  return remainder === 1;
}

export const checksums = { luhn, iban };

/** 'luhn': card numbers; 'iban': international bank account numbers. */
export type ChecksumName = keyof typeof checksums;
