// A second reading for models that know names by their capitals: of texts in capitals or in small letters alone.

/** A copy of a text, of the same length, in which names look as a model knows them. */
export interface Recased {
  text: string;
  /** Whether only names of persons count in it: its other capitals say nothing. */
  namesOnly: boolean;
}

const kWord = /\p{L}[\p{L}\p{M}]*/gu;
/** Two words in capitals or more: one alone is mostly an abbreviation. */
const kShouted = /\p{Lu}[\p{Lu}\p{M}]+(?:[ '-]+\p{Lu}[\p{Lu}\p{M}]+)+/gu;

/** Returns the copy, or undefined for a text whose capitals are where a model expects them. */
export function recased(text: string): Recased | undefined {
  const capitals = text.match(/\p{Lu}/gu)?.length ?? 0;
  const small = text.match(/\p{Ll}/gu)?.length ?? 0;
  if (capitals === 0) return small === 0 ? undefined : { text: text.replaceAll(kWord, capitalized), namesOnly: true };
  const copy = text.replaceAll(kShouted, (words) => words.replaceAll(kWord, capitalized));
  return copy === text ? undefined : { text: copy, namesOnly: capitals < 9 * small };
}

/** 'ANNA' and 'anna' as 'Anna', unless that changes the length. */
function capitalized(word: string): string {
  const [first = ''] = word;
  const changed = first.toUpperCase() + word.slice(first.length).toLowerCase();
  return changed.length === word.length ? changed : word;
}

/** Whether a model's type means a person's name: 'PER', 'PERSON', 'GIVENNAME', 'last_name'. */
export function isPersonType(type: string): boolean {
  return /^per(son)?$|(given|first|last|middle|sur|full|person)_?name/i.test(type);
}
