// Details in encodings and in disguise: nothing of them is left legible, and the offsets are those of the caller's text.
import { describe, expect, test } from 'vitest';
import { redact } from '../../web/src/index_redact.js';
import { restore } from '../../web/src/redact/placeholders.js';
import { giving, redact as withModel } from './support/redact_stubs.js';

const utf8 = (text: string) => [...new TextEncoder().encode(text)];
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, '0');
const each = (change: (character: string) => string) => (text: string) => [...text].map(change).join('');
const digits = (change: (digit: string) => string) => (text: string) => text.replaceAll(/\d/g, change);
const spaces = (space: string) => (text: string) => text.replaceAll(' ', space);
const kHan = '\u3007\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d';

const kForms: Record<string, (text: string) => string> = {
  'decimal entities': each((c) => `&#${c.codePointAt(0)};`),
  'hexadecimal entities': each((c) => `&#x${hex(c.codePointAt(0)!, 2)};`),
  'entities of the digits': digits((d) => `&#${d.charCodeAt(0)};`),
  'named entities': (text) =>
    text.replaceAll(' ', '&nbsp;').replaceAll('@', '&commat;').replaceAll('+', '&plus;').replaceAll('.', '&period;'),
  'entities, encoded twice': digits((d) => `&amp;#${d.charCodeAt(0)};`),
  'percent-encoding': each((c) =>
    utf8(c)
      .map((byte) => `%${hex(byte, 2).toUpperCase()}`)
      .join(''),
  ),
  'percent-encoded spaces': spaces('%20'),
  'percent-encoding, twice': spaces('%2520'),
  'plus signs for spaces, in a form': (text) => `field=${encodeURIComponent(text).replaceAll('%20', '+')}&x=1`,
  '\\uXXXX': each((c) => `\\u${hex(c.charCodeAt(0), 4)}`),
  '\\u{X}': each((c) => `\\u{${hex(c.charCodeAt(0), 1)}}`),
  '\\xXX': each((c) => `\\x${hex(c.charCodeAt(0), 2)}`),
  'digits as \\uXXXX': digits((d) => `\\u${hex(d.charCodeAt(0), 4)}`),
  'quoted-printable': each((c) => `=${hex(c.charCodeAt(0), 2).toUpperCase()}`),
  'quoted-printable, soft line ends': (text) => `${text.slice(0, 7)}=\r\n${text.slice(7)}`,
  'quoted mail': (text) => text.replace(' ', '\n> '),
  'quoted mail, twice': (text) => text.replace(' ', '\r\n> > '),
  tags: (text) => `${text.slice(0, 6)}<b>${text.slice(6, 9)}</b>${text.slice(9)}`,
  'tags with attributes': (text) => `${text.slice(0, 6)}<span class="x">${text.slice(6)}</span>`,
  comments: (text) => `${text.slice(0, 6)}<!-- x -->${text.slice(6)}`,
  'cells of a table': (text) => `<td>${text.replaceAll(' ', '</td><td>')}</td>`,
  'right-to-left override': (text) => `\u202e${[...text].reverse().join('')}\u202c`,
  'braille spaces': spaces('\u2800'),
  'no-break spaces': spaces('\u00a0'),
  'crossed-out letters': each((c) => (/[a-z\d]/i.test(c) ? `${c}\u0336` : c)),
  'piled accents': each((c) => (/[a-z\d]/i.test(c) ? `${c}\u0300\u0316\u0323` : c)),
  'enclosing circles': each((c) => (/\d/.test(c) ? `${c}\u20dd` : c)),
  'Chinese digits': digits((d) => kHan[Number(d)]!),
  'middle dots': spaces('\u00b7'),
  underscores: spaces('_'),
  asterisks: spaces('*'),
  'line ends': spaces('\n'),
  'escaped line ends': spaces('\\n'),
  'full-width digits': digits((d) => String.fromCharCode(d.charCodeAt(0) + 0xfee0)),
  'Arabic digits': digits((d) => String.fromCharCode(d.charCodeAt(0) - 48 + 0x660)),
  'zero-width spaces': each((c) => `${c}\u200b`),
};

const kDetails: Record<string, string> = {
  CARD: '4111 1111 1111 1111',
  IBAN: 'DE89 3704 0044 0532 0130 00',
  PHONE: '+49 30 1234 5678',
  EMAIL: 'mary.miller@example.org',
};
/** The form changes nothing in an address, which has no space. */
const kSenseless = new Set(['quoted mail EMAIL', 'quoted mail, twice EMAIL']);

describe.each(Object.entries(kForms))('%s', (form, write) => {
  test.each(Object.keys(kDetails).filter((type) => !kSenseless.has(`${form} ${type}`)))('%s', async (type) => {
    const written = write(kDetails[type]!);
    const text = `It is ${written} since May`;
    const { text: redacted, entities, mapping } = await redact(text);
    expect(redacted).toMatch(/^It is .{0,9}\[[A-Z]+_1\].{0,9} since May$/s);
    for (const entity of entities) expect(text.slice(entity.start, entity.end)).toBe(entity.text);
    expect(entities.some((entity) => entity.text.length >= written.trim().length - 18)).toBe(true);
    expect(restore(redacted, mapping).text).toBe(text);
  });
});

const kBeside: readonly (readonly [before: string, after: string])[] = [
  ['a\u200b', '\u200bb'],
  ['Ans\u2066', '\u2069Nr'],
  ['x\u200e', '\u200ey'],
  ['%s', '%s'],
  ['user=%v', '%q'],
  ['#', '#'],
  ['value:', ''],
  ['code:', ':'],
  ['\u30aa\u30ec:', '\u3002'],
];
const kForeign: Record<string, string> = {
  ...kDetails,
  IP: '192.168.12.34',
  'IP version 6': '2001:db8::ff00:42:8329',
  MAC: '00:1A:2B:3C:4D:5E',
  KEY: 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD',
};
test.each(kBeside.flatMap(([before, after]) => Object.keys(kForeign).map((type) => [type, before, after] as const)))(
  '%s between %j and %j',
  async (type, before, after) => {
    const text = `${before}${kForeign[type]}${after}`;
    const { text: redacted, mapping } = await redact(text);
    expect(redacted).toMatch(/\[[A-Z]+_1\]/);
    expect(Object.values(mapping).join()).toContain(kForeign[type]);
    expect(restore(redacted, mapping).text).toBe(text);
  },
);

test.each([
  'AA:00:1A:2B:3C:4D:5E',
  'md5:9e:10:7d:9d:37:2b:b6:82:6b:d8:1d:35:42:a4:19:d6',
  'std::a1::b2',
  '%3Aff%20',
  'at 12:30:45',
  '#4471 and 100%sure',
])('%s is no address', async (text) => expect((await redact(text)).text).toBe(text));

test('a model reads the decoded text, too', async () => {
  const call = withModel(giving(['PER', 'M\u00fcller']));
  expect((await call('Dear M&uuml;ller &amp; sons')).text).toBe('Dear [PER_1] &amp; sons');
  expect((await call('?name=M%C3%BCller')).text).toBe('?name=[PER_1]');
  expect((await call('Dear M\u00fcller')).text).toBe('Dear [PER_1]');
});

test('a rule does not free a number whose check digits are right in another reading', async () => {
  const rules = { CARD: 'luhn', IBAN: 'iban' } as const;
  const reversed = '\u202e1111 1111 1111 1114\u202c';
  expect((await withModel(giving(['CARD', '1111 1111 1111 1114']))(`No ${reversed} here`, { rules })).text).toMatch(
    /^No .?\[CARD_1\].? here$/s,
  );
  for (const iban of ['DE89%203704%200044%200532%200130%2000', 'DE89 3704 <b>0044</b> 0532 0130 00', 'DE89 37O4 OO44 O532 Ol3O OO']) {
    const part = iban.slice(0, 9);
    const call = withModel(giving(['IBAN', iban]));
    expect((await call(`To ${iban} now`, { rules })).text, iban).toBe('To [IBAN_1] now');
    expect((await withModel(giving(['IBAN', part]))(`To ${iban} now`, { rules })).text, iban).toMatch(/^To \[IBAN_1\]/);
  }
});

test('text without encodings has one reading', async () => {
  const asked: number[] = [];
  const call = withModel(async (inputs) => {
    asked.push(inputs.length);
    return inputs.map(() => []);
  });
  await call(['AT&T < 100 % = a + b', 'C:\\dir', 'Cafe\u0301 \u0928\u0902\u092c\u0930', 'X: 1 > 0 & x']);
  expect(asked).toEqual([4]);
});
