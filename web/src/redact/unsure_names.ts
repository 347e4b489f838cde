// Names of which a token classifier is not certain enough for their script and form: a German noun, the first word of a sentence.
import { isCommon } from './common_words.js';
import type { Detail } from './details.js';
import { kChineseSurnames, kJapaneseSurnames } from './patterns/honorifics.js';
import { kSentenceStarts } from './sentence_starts.js';

export interface Surroundings {
  /** Whether no word of the sentence precedes the finding. */
  isFirst: boolean;
  /** Whether the text contains kana near the finding. */
  isJapanese: boolean;
  /** The model's findings that touch this one. */
  neighbours: readonly Detail[];
}

/** The recall for which the limits were chosen. */
const kUsualRecall = 0.55;

/** Words of German that other languages with capitals do not have. In German every noun has a capital. */
const kGerman =
  /(?<!\p{L})(?:der|und|nicht|ist|wir|ich|für|mit|dem|den|auf|zum|zur|eine[mnrs]?|ein|sich|noch|auch|bei|beim|oder|aus|nach|vom|wird|haben?|wenn|jetzt|heute|schon|nur|unsere?[mnrs]?|bitte|über)(?!\p{L})/u;
/** German words before a noun that rarely precede the name of a person. */
const kNeuter = /(?<!\p{L})(?:[Dd]as|[Ii]m|[Aa]m|[Ii]ns|[Aa]ns) $/u;
/** Characters around a finding in which German words are looked for. */
const kNear = 200;
const kOneCapital = /^[^\p{Lu}]*\p{Lu}[^\p{Lu}]*$/u;
const kFirstWord = /^\P{L}*\p{Lu}/u;
/** An infinitive before an article, as recipes begin: 'Preriscaldare il forno'. */
const kInfinitive = /^\p{Lu}\p{Ll}{3,}(?:[aei]re?|re)$/u;
const kArticle = /^ (?:il|lo|la|gli|i|le|les|el|los|las|os?|as?|l['’])(?!\p{L})/u;
const kHan = /^\p{Script=Han}+$/u;
/** What precedes a Chinese surname or is one. */
const kChineseName = new RegExp(`^[小老阿${kChineseSurnames}]`);
const kJapaneseName = new RegExp(`^${kJapaneseSurnames}`);

/**
 * Whether the model is less certain of a name than names of its form need. Findings that touch count together. A recall above kUsualRecall
 * lowers the limits, to 0 for a recall of 1. Findings without `certainty` pass.
 */
export function isUnsure(text: string, detail: Detail, surroundings: Surroundings, recall = 0): boolean {
  const certainty = Math.max(...[detail, ...surroundings.neighbours].map((one) => one.certainty ?? 1));
  const limit = leastCertainty(text, detail, surroundings);
  const scale = recall > kUsualRecall ? ((1 - recall) / recall) * (kUsualRecall / (1 - kUsualRecall)) : 1;
  return certainty * (1 - limit) < (1 - certainty) * limit * scale;
}

/** The limits for a recall of at most kUsualRecall, chosen by choosing.txt, ordinary.txt, forms.txt and clean.txt of tests/bench/redaction. */
function leastCertainty(text: string, { start, end }: Detail, { isFirst, isJapanese, neighbours }: Surroundings): number {
  const words = text.slice(start, end);
  const isOne = !words.includes(' ');
  if (isCommon(words)) return /\p{Script=Latin}/u.test(words) ? 0.98 : 0.99999;
  if (/\p{Script=Devanagari}/u.test(words)) return isOne ? 0 : 0.915;
  if (/\p{Script=Arabic}/u.test(words)) return isOne ? 0.7 : 0.8;
  if (/\p{Script=Hangul}/u.test(words)) return isOne ? 0 : 0.9;
  if (kHan.test(words) && isJapanese) return neighbours.length > 0 || kJapaneseName.test(words) ? 0 : 0.94;
  if (kHan.test(words)) return kChineseName.test(words) ? 0 : words.length === 1 ? 0.9 : 0.95;
  if (!kOneCapital.test(words)) return 0;
  if (!isFirst) return /\p{Script=Latin}/u.test(words) ? leastInGerman(text, start, end) : 0;
  if (!kFirstWord.test(words)) return 0;
  if (kSentenceStarts.has(words.toLowerCase().split(' ')[0]!)) return 0.98;
  if (!/^,? ?\p{Ll}/u.test(text.slice(end))) return 0;
  if (kInfinitive.test(words) && kArticle.test(text.slice(end, end + 5))) return 0.98;
  return isOne ? 0.64 : 0.88;
}

/** The limits of a word with a capital within a sentence that may be German. */
function leastInGerman(text: string, start: number, end: number): number {
  const before = text.slice(Math.max(0, start - kNear), start);
  const isGerman = before === 'Das ' || kGerman.test(before) || kGerman.test(text.slice(end, end + kNear));
  return !isGerman ? 0 : kNeuter.test(before) ? 0.9 : 0.78;
}
