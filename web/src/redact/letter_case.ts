// Letter case, for models that recognise names by their capitals: a second reading of texts in capitals or in small letters alone, and words in
// small letters that are no names.
import type { Detail } from './details.js';

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

/** A name in small letters with a lower score is an ordinary word if its sentence begins with a capital. */
const kSure = 0.7;
/** The same of a place of one word that begins a sentence, where every word has a capital. */
const kSureFirst = 0.6;

/** Whether an unsure name of a model is probably an ordinary word: it has no capital, or only because it begins its sentence. */
export function isOrdinaryWord(text: string, { type, score, start, end }: Detail): boolean {
  const isPerson = isPersonType(type);
  if (score >= kSure || !(isPerson || /^(?:loc|org|gpe|city)/i.test(type))) return false;
  const words = text.slice(start, end);
  const sentence = text
    .slice(0, start)
    .split(/[.!?\n\u2026]/)
    .at(-1)!;
  if (!isPerson && score < kSureFirst && !/\p{L}/u.test(sentence) && /^\p{Lu}\p{Ll}+$/u.test(words)) return true;
  return /^\P{L}*\p{Lu}/u.test(sentence) && /^[^\p{Lu}\p{Lo}\p{N}]*\p{Ll}[^\p{Lu}\p{Lo}\p{N}]*$/u.test(words);
}
