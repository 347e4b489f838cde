// Makes text printable: names and messages from a model's files may contain control characters, which a terminal would obey.

/** Control and format characters except line ends, tabs and the joiner of emoji. */
const kUnsafe = /(?![\n\t\u200d])[\p{Cc}\p{Cf}]/gu;

/** Replaces such characters by escapes. */
export function printable(text: string): string {
  return text.replace(kUnsafe, escaped);
}

/** A value as one line of JSON that also escapes the control characters JSON allows. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(kUnsafe, escaped);
}

/** JSON escapes, one per UTF-16 unit. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
