// Patterns of private details: matches, non-matches, and growth of their time.
import { expect, test } from 'vitest';
import { findPatterns } from '../../web/src/tasks/patterns.js';
import { redact } from '../../web/src/tasks/redact.js';
import { foldText } from '../../web/src/tasks/text_folding.js';

function found(text: string): string[] {
  const folded = foldText(text);
  return findPatterns(folded.text).map(({ type, ...range }) => {
    const { start, end } = folded.original(range);
    return `${type} ${text.slice(start, end)}`;
  });
}

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
])('%j', (text, expected) => expect(found(text)).toEqual(expected));

test('the time grows as the text does', () => {
  const parts = ['1', 'a', '.', '1 ', '@', 'a@', '@a.', 'www.', 'http://', '1-', 'DE89 ', 'a.', '(', '\u0430', '\u00a0', 'e\u0301\u0301'];
  for (const part of parts) {
    // Milliseconds of processor time, which a busy machine does not change.
    const time = (length: number) => {
      const text = part.repeat(Math.ceil(length / part.length));
      const start = process.cpuUsage();
      found(text);
      return process.cpuUsage(start).user / 1000;
    };
    time(10_000);
    const short = Math.min(time(10_000), time(10_000), time(10_000));
    const long = Math.min(time(160_000), time(160_000));
    expect(long / Math.max(short, 3), JSON.stringify(part)).toBeLessThan(128); // 16 times the text; quadratic time is 256 times.
  }
}, 120_000);

test('redact replaces them beside what the model finds', async () => {
  const text = 'Anna Bell: anna@example.org, +49 30 1234567.';
  const call = redact(async () => [
    [
      { entity_group: 'PER', score: 0.9, word: '', start: 0, end: 9 },
      { entity_group: 'PER', score: 0.6, word: '', start: 11, end: 15 },
    ],
  ]);
  expect((await call(text, { patterns: true })).text).toBe('[PER_1]: [EMAIL_1], [PHONE_1].');
  expect((await call(text, { patterns: ['PHONE'] })).text).toBe('[PER_1]: [PER_2]@example.org, [PHONE_1].');
  expect((await call(text, { patterns: true, types: ['EMAIL'] })).text).toBe('Anna Bell: [EMAIL_1], +49 30 1234567.');
  await expect(call(text, { patterns: ['FAX' as 'PHONE'] })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: /no pattern 'FAX'/,
  });
  await expect(call(text, { patterns: 'EMAIL' as unknown as true })).rejects.toMatchObject({ code: 'invalid_argument' });
});
