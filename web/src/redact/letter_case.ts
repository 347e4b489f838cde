// Letter case, for models that recognise names by their capitals: a second reading of texts in capitals or in small letters alone.

/** A copy of a text, of the same length, in which names are capitalized. */
export interface Recased {
  text: string;
  /** Whether to accept only names of persons from it, because other words were capitalized at random. */
  namesOnly: boolean;
}

const kWord = /\p{L}[\p{L}\p{M}]*/gu;
/** Two words or more in capitals; a single one is usually an abbreviation. */
const kShouted = /\p{Lu}[\p{Lu}\p{M}]+(?:[ '-]+\p{Lu}[\p{Lu}\p{M}]+)+/gu;

/** Returns the copy, or undefined if the text has normal letter case. */
export function recased(text: string): Recased | undefined {
  const capitals = text.match(/\p{Lu}/gu)?.length ?? 0;
  const small = text.match(/\p{Ll}/gu)?.length ?? 0;
  if (capitals === 0) return small === 0 ? undefined : { text: text.replaceAll(kWord, capitalized), namesOnly: true };
  const copy = text.replaceAll(kShouted, (words) => words.replaceAll(kWord, capitalized));
  return copy === text ? undefined : { text: copy, namesOnly: capitals < 9 * small };
}

function capitalized(word: string): string {
  const [first = ''] = word;
  const changed = first.toUpperCase() + word.slice(first.length).toLowerCase();
  return changed.length === word.length ? changed : word;
}

/** Whether a model's label means a person's name: 'PER', 'PERSON', 'private_person', 'GIVENNAME', 'last_name'. */
export function isPersonType(type: string): boolean {
  return /^(private_)?per(son)?$|(given|first|last|middle|sur|full|person)_?name/i.test(type);
}

/** Whether a model's label means a name of a person, place or organisation. */
export function isNameType(type: string): boolean {
  return isPersonType(type) || /^(?:loc|org|gpe|city)/i.test(type);
}
