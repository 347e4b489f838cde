import { expect, test } from 'vitest';
import { cardDigits } from '../../web/src/redact/checksums.js';
import { found } from './support/found_details.js';
import { redact } from './support/redact_stubs.js';

test.each<[string, string[]]>([
  ['Write to thomas.miller+x@mail.example.org.', ['EMAIL thomas.miller+x@mail.example.org']],
  ['MARY@EXAMPLE.COM, <a@b.de>', ['EMAIL MARY@EXAMPLE.COM', 'EMAIL a@b.de']],
  ["o'neil@example.org'", ["EMAIL o'neil@example.org"]],
  ['m\u0430ry@ex\u0430mple.org', ['EMAIL m\u0430ry@ex\u0430mple.org']],
  ['See https://example.com/mary?x=1), www.example.org.', ['LINK https://example.com/mary?x=1', 'LINK www.example.org']],
  ['GB29 NWBK 6016 1331 9268 19 is mine', ['IBAN GB29 NWBK 6016 1331 9268 19']],
  ['ES91 2100 0418 4502 0005 1332 then', ['IBAN ES91 2100 0418 4502 0005 1332']],
  ['de89\u00a03704\u201100440532 0130\n00', ['IBAN de89\u00a03704\u201100440532 0130\n00']],
  ['4111 1111 1111 1111 12/27 123', ['CARD 4111 1111 1111 1111']],
  ['4111\u20131111\u20131111\u20131111', ['CARD 4111\u20131111\u20131111\u20131111']],
  [
    '\uff14\uff11\uff11\uff11\u200b1111 \u0661\u0661\u0661\u0661  1111',
    ['CARD \uff14\uff11\uff11\uff11\u200b1111 \u0661\u0661\u0661\u0661  1111'],
  ],
  ['Call +1 617 555 0142 or (212) 555-0187', ['PHONE +1 617 555 0142', 'PHONE (212) 555-0187']],
  ['030\u00a0123456 / 040\u2011765432', ['PHONE 030\u00a0123456', 'PHONE 040\u2011765432']],
  ['1,234,567 people came on 2024-05-17.', []],
  ['Order 4471 of 12.05.2024 costs 899.00', []],
  ['a @ b, @you, x@localhost, http://, www.', []],
  ['ann.lee (at) example (dot) com, then', ['EMAIL ann.lee (at) example (dot) com']],
  ['Write to bob[at]mail[dot]example[dot]org!', ['EMAIL bob[at]mail[dot]example[dot]org']],
  ['bob at example dot com is mine', ['EMAIL bob at example dot com']],
  ['mine: bob @ example . com', ['EMAIL bob @ example . com']],
  ['b o b @ e x a m p l e . c o m', ['EMAIL b o b @ e x a m p l e . c o m']],
  ['Meet me @ home. It rains. Look at me at school.', []],
  ['postgres://bob:s3cret@db.example.com:5432/x is up', ['LINK postgres://bob:s3cret@db.example.com:5432/x']],
  ['https://bob:pw@example.com', ['LINK https://bob:pw@example.com']],
  ['git clone ssh://git@example.com/x.git', ['LINK ssh://git@example.com/x.git']],
  ['From 203.0.113.7, 2001:db8::ff00:42:8329 and ::1', ['IP 203.0.113.7', 'IP 2001:db8::ff00:42:8329']],
  ['fe80::1%eth0, 2001:0db8:0000:0000:0000:ff00:0042:8329', ['IP fe80::1%eth0', 'IP 2001:0db8:0000:0000:0000:ff00:0042:8329']],
  ['1:2:3:4::5:6:7:8, 1:2:3:4:5:6:7:8:9', []],
  ['Version 1.2.3.4, 256.1.1.1, 1.2.3, 12:30:45, std::vector, a::b', []],
  ['00:1A:2b:3c:4D:5e or 00-1A-2B-3C-4D-5E, 001a.2b3c.4d5e', ['MAC 00:1A:2b:3c:4D:5e', 'MAC 00-1A-2B-3C-4D-5E', 'MAC 001a.2b3c.4d5e']],
  ['pay 4111.1111.1111.1111 now', ['CARD 4111.1111.1111.1111']],
  ['write +1  617  555  0142 down', ['PHONE +1  617  555  0142']],
  ['at +44\n20\n7946\n0958, or +1 617 555 0142\n2024', ['PHONE +44\n20\n7946\n0958', 'PHONE +1 617 555 0142']],
  // Keys, split so that scanners of repositories do not report them.
  [`key ${'sk-'}proj-${'a1B2'.repeat(8)}.`, [`KEY ${'sk-'}proj-${'a1B2'.repeat(8)}`]],
  [`${'AKIA'}IOSFODNN7EXAMPLE`, [`KEY ${'AKIA'}IOSFODNN7EXAMPLE`]],
  [`${'gh'}p_${'a1B2c3'.repeat(6)} leaked`, [`KEY ${'gh'}p_${'a1B2c3'.repeat(6)}`]],
  [`${'sk_'}live_${'a1B2'.repeat(6)}`, [`KEY ${'sk_'}live_${'a1B2'.repeat(6)}`]],
  [`${'xox'}b-123456789012-abcdefABCDEF`, [`KEY ${'xox'}b-123456789012-abcdefABCDEF`]],
  [`${'eyJ'}hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF-123`, [`KEY ${'eyJ'}hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF-123`]],
  ['The password: hunter2, ok', ['KEY hunter2']],
  ['my password is Tr0ub4dor&3.', ['KEY Tr0ub4dor&3']],
  // The help of programs names values in capitals; other words in capitals may be passwords.
  ['--ftp-password=PASS, --password=PASSWORD or --password=<password>', []],
  ['--private-key=DATEI --password=MOT_DE_PASSE --token=YOUR_API_KEY', []],
  ['mypass --password=HUNTER', ['KEY HUNTER']],
  ['PASSWORD=SWORDFISH', ['KEY SWORDFISH']],
  ['--token=PASS9XK2QWERTY', ['KEY PASS9XK2QWERTY']],
  ['password: PASSPORT-KEY', ['KEY PASSPORT-KEY']],
  ['password=pass', ['KEY pass']],
  ["AWS_SECRET_ACCESS_KEY='wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'", ['KEY wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY']],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY----- x',
    ['KEY -----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----'],
  ],
  ['The password is wrong. A secret is a secret. The token is old.', []],
  ['Born on 12 March 1990 in Rome', ['BIRTH_DATE 12 March 1990']],
  ['DOB: 03/12/1990; seen 04/05/2024', ['BIRTH_DATE 03/12/1990']],
  ['geb. 14.07.1985', ['BIRTH_DATE 14.07.1985']],
  ['née le 14 juillet 1985', ['BIRTH_DATE 14 juillet 1985']],
  ['1990-03-12 is my date of birth', ['BIRTH_DATE 1990-03-12']],
  ['生年月日:1990年3月12日', ['BIRTH_DATE 1990年3月12日']],
  ['The meeting is on 12 March 2024.', []],
  ['SSN 163-97-3870 and DNI 05070044Q', ['NATIONAL_ID 163-97-3870', 'NATIONAL_ID 05070044Q']],
  ['06 12 34 56 78 or 612 345 678', ['PHONE 06 12 34 56 78', 'PHONE 612 345 678']],
  ['My phone number is 5550142987', ['PHONE 5550142987']],
  ['617.555.0142 / 1-617-555-0143', ['PHONE 617.555.0142', 'PHONE 1-617-555-0143']],
  ['Call me on five five five oh one four two, please', ['PHONE five five five oh one four two']],
  ['Order 4471223188, invoice no. 2024-118833, ISBN 978-3-16-148410-0', []],
  ['It has 1.250.000 \u20ac, 12345678.50 or 10,000,000 in 2019-2024.', []],
  ['serial 20231109334, #44712231', []],
])('%j', (text, expected) => expect(found(text)).toEqual(expected));

test('redact replaces them beside what the model finds', async () => {
  const text = 'Anna Bell: anna@example.org, +49 30 1234567.';
  const run = async () => [
    [
      { entity_group: 'PER', score: 0.9, word: '', start: 0, end: 9 },
      { entity_group: 'PER', score: 0.8, word: '', start: 11, end: 15 },
    ],
  ];
  const call = redact(run);
  expect((await call(text, { patterns: true })).text).toBe('[PER_1]: [EMAIL_1], [PHONE_1].');
  expect((await call(text, { patterns: ['PHONE'] })).text).toBe('[PER_1]: [PER_2]@example.org, [PHONE_1].');
  expect((await call(text, { patterns: true, types: ['EMAIL'] })).text).toBe('Anna Bell: [EMAIL_1], +49 30 1234567.');
  await expect(call(text, { patterns: ['FAX' as 'PHONE'] })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/no pattern 'FAX'/),
  });
  await expect(call(text, { patterns: 'EMAIL' as unknown as true })).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('letters that look like digits are digits of a card number, if they are few', () => {
  expect(['4012', '4O12l3', 'OOO1', '40x2', ''].map(cardDigits)).toEqual(['4012', '401213', undefined, undefined, '']);
});
