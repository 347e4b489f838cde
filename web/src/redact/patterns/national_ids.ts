import type { TextRange } from '../text_folding.js';
import { isCuedBefore, kAfter, kBefore, kOther, kOtherReach, rangesOf, wordsOf } from './cues.js';
import * as checks from './national_checks.js';

/** Forms (regular expressions; a space is an optional separator) and checks. 'cued' numbers count only after a cue such as 'SSN'. */
const kNumbers: readonly (readonly [form: string, check: (code: string) => boolean, cued?: 'cued'])[] = [
  [String.raw`\d\d \d{3} \d{3} [A-Z]|[XYZ] \d{7} [A-Z]`, checks.spanish],
  [String.raw`[A-Z]{3} [A-Z]{3} [\dL-NP-V]{2}[A-EHLMPR-T][\dL-NP-V]{2} [A-Z][\dL-NP-V]{3}[A-Z]`, checks.italian],
  [String.raw`[1-478] \d\d \d\d (?:\d\d|2[AB]) \d{3} \d{3} \d\d`, checks.french],
  [String.raw`\d\d \d\d \d\d \d{3} \d\d`, checks.belgian],
  [String.raw`\d\d \d{3} \d{3} \d{3}`, checks.german],
  [String.raw`\d{11}`, checks.polish],
  [String.raw`(?:19|20)?\d{6}[-+]?\d{4}`, checks.swedish],
  [String.raw`\d{6}[-+A-FU-Y]\d{3}[\dA-FHJ-NPR-Y]`, checks.finnish],
  [String.raw`\d{6} \d{5}`, checks.norwegian],
  [String.raw`\d{6}/?\d{4}`, checks.czech],
  [String.raw`[1-9]\d{12}`, checks.romanian],
  [String.raw`\d{10}`, checks.bulgarian, 'cued'],
  [String.raw`[1-8]\d{10}`, checks.baltic],
  [String.raw`756 \d{4} \d{4} \d\d`, checks.swiss],
  [String.raw`[1-9]\d{10}`, checks.turkish],
  [String.raw`\d{3} \d{3} \d{3} \d\d`, checks.brazilian],
  [String.raw`\d{1,2}[. ]?\d{3}[. ]?\d{3}-[\dK]`, checks.chilean],
  [String.raw`[A-Z]{4}\d{6}[HMX][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[\dA-Z]\d`, checks.mexican],
  [String.raw`[1-9]\d{16}[\dX]`, checks.chinese],
  [String.raw`\d{6}-[1-8]\d{6}`, checks.korean],
  [String.raw`\d{6} \d{4} \d\d \d`, checks.southAfrican],
  // Insurance numbers of the United Kingdom and the United States lack check digits, but have distinctive forms.
  ['(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] \\d\\d \\d\\d \\d\\d [A-D]', () => true],
  ['(?!000|666|9)\\d{3}-(?!00)\\d\\d-(?!0000)\\d{4}', () => true],
  ['(?!000|666|9)\\d{3} (?!00)\\d\\d (?!0000)\\d{4}', () => true, 'cued'],
  [String.raw`[2-9]\d{3} \d{4} \d{4}`, checks.indian, 'cued'],
  [String.raw`[1-9]\d\d \d{3} \d{3}`, checks.luhn, 'cued'], // Canada
  [String.raw`\d{3} \d{3} \d{3}`, checks.dutch, 'cued'],
  [String.raw`[1-35689]\d\d \d{3} \d{3}`, checks.portuguese, 'cued'],
  [String.raw`\d{3} \d{3} \d{2,3}`, checks.australian, 'cued'],
  [String.raw`\d{3} \d{3} \d{4}`, checks.british, 'cued'],
  [String.raw`\d{8}-?\d`, checks.luhn, 'cued'], // Israel
];

const kCue = wordsOf(
  's\\.?s\\.?n\\.?',
  's\\.?i\\.?n\\.?',
  'social (?:security|insurance)',
  'national (?:id|identity|identification|insurance)',
  'identi\\p{L}*',
  'id(?:s| ?nos?\\.?| ?numbers?| ?card)?',
  'tax(?:payer)?',
  'tfn',
  'tin',
  'nhs',
  'aadh?aa?r',
  'bsn',
  'burgerservicenummer',
  'sofi-?nummer',
  'nif',
  'contribuinte',
  'nino',
  'egn',
  'егн',
  'teudat zehut',
  'steuer\\p{L}*(?:-?id)?',
);
const kReach = 40;

const kFinders = kNumbers.map(([form, check, cued]) => {
  const pattern = new RegExp(`(?<!\\d[.-])${kBefore}(?:${form.replaceAll(/ (?!\])/g, '[ ./-]?')})${kAfter}(?![.-]\\d)`, 'giud');
  return { pattern, check, cued };
});

export function findNationalIds(text: string): TextRange[] {
  return kFinders.flatMap(({ pattern, check, cued }) =>
    rangesOf(text, pattern).filter((range) => {
      const code = text
        .slice(range.start, range.end)
        .toUpperCase()
        .replaceAll(/[ ./+-]/g, '');
      if (!check(code)) return false;
      return isCuedBefore(text, range, kCue, kReach) || (cued === undefined && !isCuedBefore(text, range, kOther, kOtherReach));
    }),
  );
}
