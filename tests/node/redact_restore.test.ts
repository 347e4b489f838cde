import { describe, expect, test } from 'vitest';
import { restore } from '../../web/src/redact/placeholders.js';
import { finder, redact } from './support/redact_stubs.js';

describe('restore', () => {
  const mapping = { '[PER_1]': 'Mary', '[EMAIL_1]': 'm@example.org', '[STREET_ADDRESS_2]': '5 Mill Road' };

  test.each([
    ['[PER_1] has left.', 'Mary has left.'],
    ["[PER_1]'s cat, [PER_1's] dog, [PER_1s] house", "Mary's cat, Mary's dog, Marys house"],
    ['[per_1] and [Per 1] and [PER-1]', 'Mary and Mary and Mary'],
    ['(PER_1), {PER_1}, <PER_1>, 【PER_1】, **[PER_1]**', 'Mary, Mary, Mary, Mary, **Mary**'],
    ['PER_1 wrote from EMAIL_1.', 'Mary wrote from m@example.org.'],
    ['\\[PER\\_1\\] and [ PER_1 ]', 'Mary and Mary'],
    ['[Street Address 2] ([STREET_ADDRESS_2])', '5 Mill Road (5 Mill Road)'],
    ['[PER_01]', 'Mary'],
    ['Super 1, PER 1, per-1, XPER_1, PER_12, [PER_1', 'Super 1, PER 1, per-1, XPER_1, PER_12, [Mary'],
  ])('%s', (reply, expected) => expect(restore(reply, mapping).text).toBe(expected));

  test('reports what it put back and what it could not', () => {
    expect(restore('[PER_1], [per_2], [EMAIL_1] (see figure 3, [ORG_1], [x])', mapping)).toEqual({
      text: 'Mary, [per_2], m@example.org (see figure 3, [ORG_1], [x])',
      restored: ['[PER_1]', '[EMAIL_1]'],
      unrestored: ['[per_2]', '[ORG_1]'],
    });
  });

  test('keys of the mapping that are no placeholders of redact still count', () => {
    expect(restore('[who] and [Who]', { '[who]': 'Mary' }).text).toBe('Mary and [Who]');
  });

  test('the time grows as the text does', () => {
    for (const part of ['[', '[A', '[A_', '[A 1', 'A_', 'A_1', '[A_1s', '\\[', 'Ab ', '[ A ']) {
      const time = (length: number) => {
        const text = part.repeat(length / part.length);
        const start = performance.now();
        restore(text, mapping);
        return performance.now() - start;
      };
      time(10_000);
      const short = Math.min(time(10_000), time(10_000));
      expect(time(160_000) / Math.max(short, 3), JSON.stringify(part)).toBeLessThan(128);
    }
  });
});

describe('a session', () => {
  test('gives the same words the same placeholder, and restores a reply', async () => {
    const session = redact(finder().run).session();
    const first = await session.redact('Anna: anna@example.org');
    expect(first.text).toBe('[GIVEN_NAME_1]: [EMAIL_1]');
    const [second, third] = await session.redact(['ANNA@EXAMPLE.ORG', 'Anna, x@y.zz']);
    expect([second!.text, third!.text]).toEqual(['[EMAIL_1]', '[GIVEN_NAME_1], [EMAIL_2]']);
    expect(session.restore('Dear [given_name_1], [EMAIL_3]?')).toEqual({
      text: 'Dear Anna, [EMAIL_3]?',
      restored: ['[GIVEN_NAME_1]'],
      unrestored: ['[EMAIL_3]'],
    });
    expect(session.mapping).toEqual({ '[GIVEN_NAME_1]': 'Anna', '[EMAIL_1]': 'anna@example.org', '[EMAIL_2]': 'x@y.zz' });
  });

  test('goes on from the mapping of an earlier one, and another session does not know it', async () => {
    const call = redact(finder().run);
    const session = call.session({ mapping: { '[GIVEN_NAME_1]': 'Anna' } });
    expect((await session.redact('Anna, a@b.cd')).text).toBe('[GIVEN_NAME_1], [EMAIL_1]');
    expect(call.session().mapping).toEqual({});
    expect(() => call.session({ mapping: { '[A_1]': 1 } as never })).toThrow(/mapping of \[A_1\]/);
  });

  test('a variant of a placeholder that a text contains is replaced too', async () => {
    const session = redact(finder().run).session();
    await session.redact('Anna called.');
    const stranger = await session.redact('Who is given_name_1, (Given Name 1)?');
    expect(stranger.text).toBe('Who is [PLACEHOLDER_1], [PLACEHOLDER_2]?');
    expect(session.restore(stranger.text).text).toBe('Who is given_name_1, (Given Name 1)?');
  });
});
