// Escapes control characters in names and messages from a model's files, because a terminal would obey them.

/** Control and format characters, except line ends, tabs and the joiner of emoji. */
const kUnsafe = /(?![\n\t\u200d])[\p{Cc}\p{Cf}]/gu;

export function printable(text: string): string {
  return text.replace(kUnsafe, escaped);
}

/** Formats a value as one line of JSON, and escapes control characters that JSON allows. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(kUnsafe, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
