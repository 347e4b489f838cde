// Function words at the ends of names: prepositions, conjunctions, articles and auxiliary verbs, which a token classifier adds to a name
// next to them ('Anna Schmidt aus', 'und Peter'). Chinese, Japanese and Korean write theirs without a space, so the rule is not about them.
import { isCommon, isCommonWord } from './common_words.js';
import type { Detail } from './details.js';
import { isNameType, isPersonType } from './letter_case.js';

/** In small letters, these are neither names nor parts of names. Languages share some of them. */
const kWords = {
  ar: 'من في إلى الى عن مع هذا هذه قد أو ثم عند لدى حتى منذ التي الذي لا',
  de: 'aus und oder mit nach für vom zum zur in im an am auf aber als auch bis dass durch ein eine einem einen einer gegen ist sind war hat habe haben hatte wird wurde ohne seit sich nicht um unter vor wegen wenn wie die dem über zwischen',
  en: 'and or from with at in on to for by the is are was were has had have who about after before but into near since that when without as not if',
  es: 'con en desde hacia hasta para por sin sobre entre pero que como cuando es está fue ha según un donde',
  fr: 'et ou avec chez dans depuis pour par sans sous sur entre mais que qui quand est sont était ont avait un vers à au aux comme ne pas',
  hi: 'और या में से को का की के ने पर तक भी ही तो है हैं था थी थे हूँ हूं हो कि लेकिन नहीं द्वारा',
  it: 'ed con fra su sul sulla nello in ma chi è ha come quando senza verso al un',
  nl: 'uit en of met naar bij voor door aan maar als die een heeft hebben had is was zijn wordt niet om over sinds tot zonder tussen wie',
  pl: 'z ze w na od o u dla przez przy po pod nad przed bez lub albo oraz jest są był była było a ma że jak gdy kiedy we nie się',
  pt: 'com em no na nos por sobre entre mas ou que quando é são foi tem desde até pelo pela um ao à não',
  ru: 'и в во на с со из от для по к у о об за до при через под над или но а что как был была было были есть не же',
  tr: 've ile için veya olan bu şu mi mı mu mü çok daha ne sonra önce',
};
/** Parts of names (Maria de la Cruz), and words that are names elsewhere (Hanno, Uma, Das). At the end of a name they need more of it. */
const kParticles =
  'af al alla ale ama bei ben bin bint bir che da dal dalla das dat de del della den der des di do dos du e el era gibi hanno i ibn kadar la las le les los nel nella per sem sono son te ten ter tra uma una une van von y ya zu';

const kFunctionWords: ReadonlySet<string> = new Set(Object.values(kWords).join(' ').split(' '));
const kParticleWords: ReadonlySet<string> = new Set(kParticles.split(' '));

const kLast = /[\s,;]+([\p{L}\p{M}]+)$/u;
const kFirst = /^([\p{L}\p{M}]+)[\s,;]+/u;

/**
 * Returns a model's finding without function words at its ends (of a person also common words), or undefined if nothing else is left. `beside` are
 * the model's findings before and after it: words between two parts of the name of a place or organisation stay ('Frankfurt am Main').
 */
export function withoutFunctionWords(text: string, detail: Detail, beside: readonly Detail[]): Detail | undefined {
  const { type } = detail;
  if (!isNameType(type)) return detail;
  const isPerson = isPersonType(type);
  const parts = isPerson ? [] : beside.filter((other) => other.type === type);
  const isJoint = (from: number, to: number) => text.slice(from, to) === ' ';
  const isExtra = (word: string, name: string, after?: string) => (isPerson && isCommonWord(word)) || isOutside(word, name, after);
  let { start, end } = detail;
  while (!parts.some((other) => isJoint(end, other.start))) {
    const last = kLast.exec(text.slice(start, end));
    if (last === null || !isExtra(last[1]!, text.slice(start, start + last.index), text.slice(end))) break;
    end = start + last.index;
  }
  while (!parts.some((other) => isJoint(other.end, start))) {
    const first = kFirst.exec(text.slice(start, end));
    if (first === null || !isExtra(first[1]!, text.slice(start + first[0].length, end))) break;
    start += first[0].length;
  }
  const words = text.slice(start, end);
  const isCut = words.length < detail.end - detail.start;
  const isName = !(words.length > 2 && (kFunctionWords.has(words) || (isCut && isCommon(words))));
  return isName ? { ...detail, start, end } : undefined;
}

/** Whether a name ends before its last word, or begins after its first one. `after` is the text after a last word; a first word has none. */
function isOutside(word: string, name: string, after?: string): boolean {
  if (word.length > 2 && kFunctionWords.has(/\p{Ll}/u.test(name) ? word : word.toLowerCase())) return true;
  if (!/[\p{Lu}\p{Lo}]/u.test(name)) return false;
  if (kFunctionWords.has(word)) return true;
  return after !== undefined && kParticleWords.has(word) && !/^\s+(?:\p{Ll}+\s+)?[\p{Lu}\d]/u.test(after);
}
