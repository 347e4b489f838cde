// Numbers by their form: nothing of them is left, whatever surrounds them, and clean prose stays as it is.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { redact } from '../../web/src/index_redact.js';
import { findPatterns } from '../../web/src/redact/patterns.js';

const kKinds: Record<string, string> = {
  EMAIL: 'mary.miller@example.org',
  PHONE: '+49 30 1234 5678',
  CARD: '4111 1111 1111 1111',
  IBAN: 'DE89 3704 0044 0532 0130 00',
  IP: '203.0.113.77',
  MAC: '00:1A:2B:3C:4D:5E',
  KEY: `${'gh'}p_${'a1B2c3'.repeat(6)}`,
  NATIONAL_ID: '163-97-3870',
};

/** 41 ways to write a detail into a text. */
const kWrappers: readonly ((detail: string) => string)[] = [
  (d) => d,
  (d) => ` ${d} `,
  (d) => `(${d})`,
  (d) => `[${d}]`,
  (d) => `{${d}}`,
  (d) => `<${d}>`,
  (d) => `"${d}"`,
  (d) => `'${d}'`,
  (d) => `\u201c${d}\u201d`,
  (d) => `\u00ab${d}\u00bb`,
  (d) => `\u300c${d}\u300d`,
  (d) => `\uff08${d}\uff09`,
  (d) => `\u3010${d}\u3011`,
  (d) => `*${d}*`,
  (d) => `**${d}**`,
  (d) => `_${d}_`,
  (d) => `__${d}__`,
  (d) => `\`${d}\``,
  (d) => `|${d}|`,
  (d) => `~${d}~`,
  (d) => `${d},`,
  (d) => `${d}.`,
  (d) => `${d};`,
  (d) => `${d}!`,
  (d) => `${d}?`,
  (d) => `${d}\u3002`,
  (d) => `:${d}`,
  (d) => `\uff1a${d}`,
  (d) => `=${d}`,
  (d) => `\t${d}\t`,
  (d) => `\n${d}\n`,
  (d) => `\\n${d}\\n`,
  (d) => `\\t${d}`,
  (d) => `\\u003a${d}`,
  (d) => `%3D${d}`,
  (d) => `%0A${d}%0A`,
  (d) => `&quot;${d}&quot;`,
  (d) => `&nbsp;${d}&#10;`,
  (d) => `=3D${d}=0A`,
  (d) => `<b>${d}</b>`,
  (d) => `<td>${d}</td>`,
];

/** 27 texts around a detail; in most of these scripts words touch it. */
const kContexts: readonly [before: string, after: string][] = [
  ['', ''],
  ['This is ', ' of mine'],
  ['Das ist ', ' von mir'],
  ['Voici ', ' \u00e0 moi'],
  ['Es ', ' de mi hermana'],
  ['\u756a\u53f7\u306f', '\u3067\u3059'],
  ['\u6211\u7684\u53f7\u7801\u662f', '\u8bf7\u8bb0\u4e0b'],
  ['\u6211\u7684\u865f\u78bc\u662f', '\u8acb\u8a18\u4e0b'],
  ['\uc81c \ubc88\ud638\ub294', '\uc785\ub2c8\ub2e4'],
  ['\u041c\u043e\u0439 \u043d\u043e\u043c\u0435\u0440', '\u0432\u043e\u0442'],
  ['\u0415\u0433\u043e \u0434\u0430\u043d\u043d\u044b\u0435: ', ' \u0432\u0441\u0451'],
  ['\u041c\u0456\u0439 \u043d\u043e\u043c\u0435\u0440', '\u0454'],
  ['\u0631\u0642\u0645\u064a', '\u0647\u0630\u0627'],
  ['\u0634\u0645\u0627\u0631\u0647 \u0645\u0646', '\u0627\u0633\u062a'],
  ['\u05d4\u05de\u05e1\u05e4\u05e8', '\u05e9\u05dc\u05d9'],
  ['\u092e\u0947\u0930\u093e \u0928\u0902\u092c\u0930', '\u0939\u0948'],
  ['\u0986\u09ae\u09be\u09b0 \u09a8\u09ae\u09cd\u09ac\u09b0', '\u09b9\u09b2'],
  ['\u0b8e\u0ba9\u0bcd \u0b8e\u0ba3\u0bcd', '\u0b86\u0b95\u0bc1\u0bae\u0bcd'],
  ['\u0e40\u0e1a\u0e2d\u0e23\u0e4c\u0e02\u0e2d\u0e07\u0e09\u0e31\u0e19\u0e04\u0e37\u0e2d', '\u0e04\u0e48\u0e30'],
  ['\u03a4\u03bf \u03bd\u03bf\u03cd\u03bc\u03b5\u03c1\u03cc \u03bc\u03bf\u03c5', '\u03b5\u03af\u03bd\u03b1\u03b9'],
  ['\u10db\u10dd\u10d8', '\u10d0\u10e0\u10d8\u10e1'],
  ['\u0544\u0565\u0580', '\u0567'],
  ['\u12e8\u1294', '\u1290\u12cd'],
  ['{"a": "', '", "b": 1}'],
  ['a,b\nx,', ',1\n'],
  ['x=1&y=', '&z=2'],
  ['> ', '\n> end'],
];

const letters = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '');

test.each(['+49\r\n30 901820', '+1\n(415) 555-2671', '+1\r\n(415) 555-2671'])('a telephone number in two lines: %j', async (number) => {
  for (const text of [number, `Call ${number} now`, `(${number})`, `\uff08${number}\uff09`])
    expect((await redact(text)).text.replace('[PHONE_1]', '')).not.toMatch(/\d/);
});

test('41 forms in 27 texts leave nothing of 8 kinds of details', async () => {
  expect([kWrappers.length, kContexts.length, Object.keys(kKinds).length]).toEqual([41, 27, 8]);
  const left: string[] = [];
  for (const [kind, detail] of Object.entries(kKinds)) {
    const texts = kContexts.flatMap(([before, after]) => kWrappers.map((wrap) => before + wrap(detail) + after));
    for (const [index, { text, entities }] of (await redact(texts)).entries()) {
      const parts = detail.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 2);
      const isLeft = parts.some((part) => text.includes(part));
      const isWhole = entities.some((entity) => letters(entity.text).includes(letters(detail)));
      if (isLeft || !isWhole) left.push(`${kind} ${JSON.stringify(texts[index])} -> ${JSON.stringify(text)}`);
    }
  }
  expect(left).toEqual([]);
});

/** The beginning of the Universal Declaration of Human Rights (public domain) in six languages. */
const kDeclaration: Record<string, string> = JSON.parse(
  readFileSync(new URL('../fixtures/redact/udhr.json', import.meta.url), 'utf8'),
) as Record<string, string>;

/** Numbers of clean prose: years, dates, sums, measures, roads, lists. */
const kNumbers =
  '1964,20,7000,18th,2001-2002,2012,23rd,60 cm,(24 in),6 kg,40,1.000.000,3 700,1758,128+N,15/16,38;5;255,900 Ko,512,256,4 500,11'.split(
    ',',
  );

/** Words of the text in runs of random length, with numbers between them. Words of Chinese and Japanese are single characters. */
function proseOf(text: string, length: number): string {
  const words = /^[\p{Script=Han}\p{Script=Hiragana}\p{P}\s]+/u.test(text) ? [...text] : text.split(' ');
  const space = words.length === text.length ? '' : ' ';
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  let prose = '';
  while (prose.length < length) {
    const first = random(words.length);
    prose += words.slice(first, first + 1 + random(12)).join(space) + space;
    for (let count = random(3); count > 0; --count) prose += kNumbers[random(kNumbers.length)] + (random(3) === 0 ? ', ' : ' ');
  }
  return prose;
}

describe('a million characters of clean prose give at most two false IBAN, CARD and KEY', () => {
  test.each(Object.keys(kDeclaration))('%s', (language) => {
    const prose = proseOf(kDeclaration[language]!, 1_000_000);
    let found: string[] = [];
    for (let at = 0; at < prose.length; at += 50_000) {
      const part = prose.slice(at, at + 50_000);
      found = found.concat(findPatterns(part, ['IBAN', 'CARD', 'KEY']).map(({ type, start, end }) => `${type} ${part.slice(start, end)}`));
    }
    expect(found.length, found.join('\n')).toBeLessThanOrEqual(2);
  });
});

describe('IBANs', () => {
  test('the form of the country decides, not two letters and a remainder', () => {
    expect(findPatterns('fold in 200 g of flour and bake')).toEqual([]);
    for (const text of ['in 1758. That name was Cancer', 'on 20 January 1964. He handed', 'US 40 ( Harding Highway). CR Truck'])
      expect(findPatterns(text)).toEqual([]);
  });
  test.each([
    'DE89370400440532013000',
    'de89370400440532013000',
    'DE89 3704 0044 0532 0130 00',
    'DE89-3704-0044-0532-0130-00',
    'GB29NWBK60161331926819',
    'FR1420041010050500013M02606',
    'NO9386011117947',
    'MT84MALT011000012345MTLCAST001S',
    'DE89 37O4 OO44 O532 O13O OO',
    'DEB9',
  ])('%s', (code) => {
    const text = `To ${code} today`;
    const found = findPatterns(text).map(({ type, start, end }) => `${type} ${text.slice(start, end)}`);
    expect(found).toEqual(code.length < 15 ? [] : [`IBAN ${code}`]);
  });
});

describe('a number is found whole', () => {
  test.each([
    ['\u756a\u53f7\u306f4111 1111 1111 1111\u3067\u3059', '\u756a\u53f7\u306f[CARD_1]\u3067\u3059'],
    ['Card 4111-1111-1111-1111_old', 'Card [CARD_1]_old'],
    ['American Express 3782 822463 10005', 'American Express [CARD_1]'],
    ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '[CARD_1]'],
    ['years 2001, 2002, 2012, 2015', 'years 2001, 2002, 2012, 2015'],
    ['4111 1111 1111 1112', '4111 1111 1111 1112'],
  ])('%s', async (text, expected) => expect((await redact(text, { patterns: ['CARD', 'IBAN'] })).text).toBe(expected));
});
