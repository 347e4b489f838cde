// Dates of birth: dates next to a cue, a word such as 'born'. Other dates are not private.
import type { TextRange } from '../text_folding.js';
import { rangesOf, wordsOf } from './cues.js';

/** Beginnings of months' names in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish and Swedish. */
const kMonth =
  '(?:jan|ene|gen|sty|f[eé]b|f[eé]v|lut|m[aä]r|maa|mrt|abr|apr|avr|kwi|ma[yijg]|jun|jui|giu|czer|cze|jul|lug|lip|a[uo][gûu]|ago|sie|se[pt]|wrz|o[ckt][kt]|ott|out|pa[zź]|nov|lis|de[czs]|d[eé]c|dic|gru)\\p{L}{0,8}\\.?';
/** Months of Turkish, Russian, Arabic and Hindi. */
const kOtherMonth =
  '(?:ocak|şubat|mart|nisan|mayıs|haziran|temmuz|ağustos|eylül|ekim|kasım|aralık|январ[ья]|феврал[ья]|марта?|апрел[ья]|ма[йя]|июн[ья]|июл[ья]|августа?|сентябр[ья]|октябр[ья]|ноябр[ья]|декабр[ья]|يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر|जनवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर)';
const kYear = "(?:(?:1[89]|20)\\d\\d|'?\\d\\d)";
const kDay = '\\d{1,2}(?:st|nd|rd|th|er|\\.|º)?';
const kDate = new RegExp(
  `(?<![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{N}])(?:(?:\\d{1,4} ?[./-] ?\\d{1,2} ?[./-] ?\\d{1,4}|${kDay}[ -]?(?:of |de |di )?(?:${kMonth}|${kOtherMonth}),?[ -]?(?:de |of )?${kYear}|${kMonth}[ -]?${kDay},?[ -]?${kYear}|(?:1[89]|20)\\d{6})(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{N}])|(?:1[89]|20)\\d\\d ?[年년] ?\\d{1,2} ?[月월] ?\\d{1,2} ?[日일])`,
  'giud',
);

const kCue = wordsOf(
  'born',
  'd\\.? ?o\\.? ?b\\.?',
  'dates? of birth',
  'birth[ -]?(?:day|date)s?',
  'geb(?:oren|\\.)?',
  'geburts(?:datum|tag)',
  'née?',
  'date de naissance',
  'anniversaire',
  'nacid[oa]',
  'nacimiento',
  'cumpleaños',
  'nat[oa]',
  'nascita',
  'compleanno',
  'nascid[oa]',
  'nascimento',
  'aniversário',
  'geboorte(?:datum|dag)',
  'verjaardag',
  'urodz\\p{L}*',
  'född',
  'födelse(?:datum|dag)',
  'født',
  'fødselsdato',
  'syntymä\\p{L}*',
  'narozen\\p{L}*',
  'родил\\p{L}*',
  'рождения',
  'г\\.? ?р\\.?',
  'ur\\.',
  'doğum(?:lu| tarih\\p{L}*)?',
);
/** Cues of scripts without spaces between words. */
const kWordlessCue = /生年月日|出生|生日|生于|誕生日|生まれ|생년월일|태어|출생|जन्म|ميلاد|مواليد|ولدت?(?!\p{L})/u;

/** Cues directly after a date. */
const kEnding = /^ ?(?:생(?!활|일)|生(?!活))/u;

/** Maximum distance of the cue before a date, in characters. */
const kReachBefore = 32;
const kReachAfter = 20;

/** Finds dates with a cue before them ('born on', 'DOB:') or after them ('12/03/1990 (DOB)'). */
export function findBirthDates(text: string): TextRange[] {
  return rangesOf(text, kDate).filter((date) => {
    const after = text.slice(date.end, date.end + kReachAfter).split(/[.;!?。\n]/)[0]!;
    const before = text
      .slice(Math.max(0, date.start - kReachBefore), date.start)
      .split(/[;!?。\n\d]/)
      .at(-1)!;
    return kEnding.test(after) || [kCue, kWordlessCue].some((cue) => cue.test(before) || cue.test(after));
  });
}
