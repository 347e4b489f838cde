// Ordinary words that a token classifier takes for names: unsure findings in small letters, answers, measures, adjectives, parts of words.
import type { Detail } from './details.js';
import { isNameType, isPersonType } from './letter_case.js';
import { kLaughing } from './marks.js';
import { isUnsure } from './unsure_names.js';

/** A name in small letters with a lower score is an ordinary word if its sentence begins with a capital. */
const kSure = 0.7;
/** The same of a place of one word that begins a sentence, where every word has a capital. */
const kSureFirst = 0.6;
/** The same of organisations without capitals. */
const kSureOrganisation = 0.4;
/** The same of an adjective of a country. */
const kSureAdjective = 0.9;
/** The same of names in Chinese, which a model finds surely or not at all. */
const kSureHan = 0.5;
/** The same of a single Chinese character; in Japanese it is never a name without another mark. */
const kSureSingle = 0.9;
/** The same of words without capitals that have the form of a phrase. */
const kSurePhrase = 0.9;

/** Answers and greetings, which begin sentences. */
const kAnswer =
  /^(?:same|gleich|genau|pareil|igual|uguale|zelfde|aynen|aynı|też|тоже|no|yes|hi|hello|nein|ja|hallo|danke|non|oui|bonjour|merci|sí|hola|gracias|sì|ciao|grazie|não|sim|oi|olá|nee|hoi|nie|tak|cześć|hayır|evet|merhaba|selam|нет|да|привет|спасибо|لا|نعم|مرحبا|नहीं|हाँ|नमस्ते|你好|谢谢|小心|はい|いいえ|うん|ううん|こんにちは|こんばんは|おはよう|네|아니|아니요|안녕)$/iu;

const kUnit =
  '(?:[cmk]m|[km]g|[cdm]l|kW|[MG]B|[кмс]м|[км]г|мл|سم|ملم|كم|كغ|كيلو|सेमी|मिमी|किमी|किलो|मीटर|लीटर|厘米|毫米|公里|公斤|千克|センチ|ミリ|キロ|リットル|グラム|센티|밀리|킬로|미터|리터|그램|°|degrees?|[Gg]rad|degrés?|grad[oi]s?|graus?|graden|stopni\\p{L}*|derece\\p{L}*|градус\\p{L}*|درجة|डिग्री|度|도)';
const kAge = '(?:Jahren?|years?|ans|años|anni|anos|jaar|lata?|yaş\\p{L}*|лет|года?|سنة|عام|साल|वर्ष|岁|歳|살)';
const kMeasure = new RegExp(
  `^[\\d.,]+\\s?-?(?:${kUnit}(?![\\p{Script=Latin}\\p{Script=Cyrillic}])|${kAge}(?![\\p{L}\\p{M}])|[岁歳살])`,
  'u',
);
const kPage =
  /(?<![\p{L}\p{M}])(?:pages?|Seiten?|página|pagina|bladzijde|stron\p{L}+|sayfa|страниц\p{L}+|ا?ل?صفحة|पृष्ठ)(?![\p{L}\p{M}])|[页頁쪽]|ページ/iu;

const kKana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Forms of address that follow a name. */
const kTitle =
  /^ ?(?:さん|様|さま|くん|君|ちゃん|先生|氏|先輩|[部課係店社]長|主任|女士|小姐|太太|老师|医生|大夫|阿姨|叔叔|经理|总|教授|씨|님|양|군|선생|사장)/;
/** A noun before another with の, and an ending of verbs. */
const kKanaPhrase = /の\p{Script=Han}|つけ$/u;
/** Verbs that follow nouns in Hindi: 'गुज़ारा करते'. */
const kVerb = /^ (?:कर|हो|रह|लि?या|दिया|लग|हिल|खा)/;

/** Characters around a finding that are looked at, so that the time grows with the text and not with its square. */
const kNear = 1000;

/** Whether a model's finding is probably an ordinary word or number. `beside` are the model's findings before and after it. */
export function isOrdinary(text: string, detail: Detail, beside: readonly Detail[], recall?: number): boolean {
  const { type, score, start, end } = detail;
  const words = text.slice(start, end);
  if (/\d/.test(words)) {
    if (isTime(text, detail) || (/phone/i.test(type) && isShort(text, detail))) return true;
    return /^(?:loc|org|per|birth)/i.test(type) && (isMeasure(text, detail) || isAmount(text, detail));
  }
  if (!isNameType(type)) return false;
  const isPerson = isPersonType(type);
  const sentence = text
    .slice(Math.max(0, start - kNear), start)
    .split(/[.!?\n\u2026\u3002\uff01\uff1f\u061f\u0964]/)
    .at(-1)!;
  const isFirst = !/\p{L}/u.test(sentence);
  if ((isFirst || kLaughing.test(sentence)) && kAnswer.test(words) && /^\s*[,.!?、。，！？،]/u.test(text.slice(end))) return true;
  const neighbours = beside.filter((other) => isNeighbour(text, detail, other));
  const isJapanese = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(words) && hasKanaNear(text, detail);
  if (isUnsure(text, detail, { isFirst, isJapanese, neighbours }, recall)) return true;
  const isAlone = neighbours.length === 0;
  if (isAlone && isSingle(text, detail, isJapanese)) return true;
  if (isAlone && score < kSureHan && /^\p{Script=Han}+$/u.test(words) && !isJapanese) return true;
  if (score < kSurePhrase && isPhrase(text, detail, isPerson)) return true;
  if (score < kSureAdjective && isAdjective(words, isPerson)) return true;
  if (score >= kSure) return false;
  if (isAlone && /^org/i.test(type) && score < kSureOrganisation && !/\p{Lu}/u.test(words)) return true;
  if (!isPerson && score < kSureFirst && isFirst && /^\p{Lu}\p{Ll}+$/u.test(words)) return true;
  return /^\P{L}*\p{Lu}/u.test(sentence) && /^[^\p{Lu}\p{Lo}\p{N}]*\p{Ll}[^\p{Lu}\p{Lo}\p{N}]*$/u.test(words);
}

const kTime = /\d{4}-\d\d-\d\d[T ,]{1,2}\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?/g;
const kLongestTime = 30;

/** Whether a finding is a part of a date with a time of day, as in a log. */
function isTime(text: string, { start, end }: Detail): boolean {
  const from = Math.max(0, start - kLongestTime);
  const times = [...text.slice(from, end + kLongestTime).matchAll(kTime)];
  return times.some(({ 0: time, index }) => from + index <= start && end <= from + index + time.length);
}

const kAmount = /^\d{1,3}(?:[. ,]\d{3})*[.,]\d\d,?$/;
/** Fewest digits of a telephone number that a model finds. */
const kFewestDigits = 5;

/** Whether the numbers of a finding, one a line, are too short for telephones, or amounts. */
function isShort(text: string, { start, end }: Detail): boolean {
  if (/\p{L}/u.test(text.slice(start, end))) return false;
  const before = /[\d ()./,-]*$/.exec(text.slice(Math.max(0, start - kLongestTime), start))![0];
  const after = /^[\d ()./,-]*/.exec(text.slice(end, end + kLongestTime))![0];
  const numbers = (before + text.slice(start, end) + after).split(/\n|, ?(?!\d\d(?!\d))/);
  return numbers.every((number) => number.replaceAll(/\D/g, '').length < kFewestDigits || kAmount.test(number.trim()));
}

/** Whether a finding is the whole or a part of a number with two decimals. */
function isAmount(text: string, { start, end }: Detail): boolean {
  const before = /[\d.,]*$/.exec(text.slice(Math.max(0, start - kLongestTime), start))![0];
  const after = /^[\d.,]*/.exec(text.slice(end, end + kLongestTime))![0];
  return kAmount.test(before + text.slice(start, end) + after);
}

/** Whether all numbers of a finding have units or are ages, or a word for pages stands next to short ones. */
function isMeasure(text: string, { start, end }: Detail): boolean {
  const words = text.slice(start, end);
  const after = /^[\d.,]*\s?-?[\p{L}\p{M}]{0,8}/u.exec(text.slice(end))![0];
  const numbers = [...words.matchAll(/\d[\d.,]*/g)];
  if (kPage.test(words) && numbers.every(([number]) => number.length < 4)) return true;
  return numbers.every(({ index }) => kMeasure.test((words + after).slice(index)));
}

/** A single character of Chinese, Japanese or Korean, without a form of address. */
function isSingle(text: string, detail: Detail, isJapanese: boolean): boolean {
  const words = text.slice(detail.start, detail.end);
  if (!/^["'“「『]?[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]["'”」』]?$/u.test(words)) return false;
  if (/[姓老小阿]$/.test(text.slice(Math.max(0, detail.start - 1), detail.start)) || kTitle.test(text.slice(detail.end))) return false;
  return isJapanese || detail.score < kSureSingle;
}

function hasKanaNear(text: string, { start, end }: Detail): boolean {
  return kKana.test(text.slice(Math.max(0, start - kNear), end + kNear));
}

function isNeighbour(text: string, { start, end }: Detail, other: Detail): boolean {
  return text.slice(other.end, start) === ' ' || text.slice(end, other.start) === ' ' || other.end === start || other.start === end;
}

/**
 * Whether particles or endings of verbs show that words without capitals are not a name. Names of persons come before verbs in Hindi (राहुल रहता है), and
 * some look like phrases (はるか, 아서, 李万里).
 */
function isPhrase(text: string, { start, end }: Detail, isPerson: boolean): boolean {
  const words = text.slice(start, end);
  if (/\p{Script=Devanagari}/u.test(words)) return !isPerson && kVerb.test(text.slice(end));
  if (/^한 |(?:[은는한]데|지만|으면)$/.test(words)) return true;
  if (kKana.test(words))
    return (
      (isPerson ? /^[はがをにでも]\p{Script=Hiragana}+\p{Script=Han}/u : /^[はがをにでも]\p{L}/u).test(words) || kKanaPhrase.test(words)
    );
  if (/^\p{Script=Han}+$/u.test(words)) return /[的着很不因把被]/.test(words) || (!isPerson && /了|[上里下季]$/.test(words));
  return !isPerson && /(?:인데|[어아]서)$/.test(words);
}

/**
 * Names of nine languages in twelve, as `Intl.DisplayNames` has them: Italian, Spanish, French, Greek, Chinese, Japanese, Korean, Thai, Russian. (To
 * ask it here would hold a phone for 110 ms, and answers of browsers may differ.)
 */
const kLanguages = [
  'italian spanish french greek chinese japanese korean thai russian',
  'italienisch spanisch französisch griechisch chinesisch japanisch koreanisch thailändisch russisch',
  'italien espagnol français grec chinois japonais coréen thaï russe',
  'italiano español francés griego chino japonés coreano tailandés ruso',
  'spagnolo francese greco cinese giapponese thailandese russo',
  'espanhol francês grego chinês japonês tailandês',
  'italiaans spaans frans grieks chinees japans koreaans',
  'włoski hiszpański francuski grecki chiński japoński koreański tajski rosyjski',
  'i̇talyanca i̇spanyolca fransızca yunanca çince japonca korece tayca rusça',
  'итальянский испанский французский греческий китайский японский корейский тайский русский',
  'इतालवी स्पेनिश फ़्रेंच यूनानी चीनी जापानी कोरियाई थाई रूसी',
  'الإيطالية الإسبانية الفرنسية اليونانية الصينية اليابانية الكورية التايلاندية الروسية',
]
  .join(' ')
  .split(' ');

/**
 * Adjectives of countries ('Italian'): in most languages the name of a language, with another ending. Persons have such names without one (Russo, Greco,
 * Deutsch), so of them only other forms count ('Italienischer').
 */
function isAdjective(words: string, isPerson: boolean): boolean {
  const parts = words.toLowerCase().split(' ');
  if (parts.length > (isPerson ? 1 : 2) || (isPerson && kLanguages.includes(words.toLowerCase()))) return false;
  return parts.some((word) => word.length > 4 && kLanguages.some((name) => isForm(word, name)));
}

/** Whether two words differ in their endings alone: 'итальянское', 'итальянский'. */
function isForm(word: string, name: string): boolean {
  const length = Math.max(5, name.length - 2);
  return Math.abs(word.length - name.length) < 3 && word.slice(0, length) === name.slice(0, length);
}
