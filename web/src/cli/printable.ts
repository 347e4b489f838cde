// What is printed for a person or another program: names and sentences that come from a model's files may hold control characters,
// which a terminal would obey.

/** Control and format characters but line ends, tabs and the joiner of emoji. */
const kUnsafe = /(?![\n\t\u200d])[\p{Cc}\p{Cf}]/gu;

/** A text in which such characters are written as escapes. */
export function printable(text: string): string {
  return text.replace(kUnsafe, escaped);
}

/** A value as one line of JSON, with escapes for the control characters that JSON lets stand. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(kUnsafe, escaped);
}

/** As JSON writes it: for each UTF-16 unit. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
