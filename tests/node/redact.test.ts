// redact: placeholders, rules, the way back. The classifier's answers are written down here, so that what is made of them is exact.
import { describe, expect, test } from 'vitest';
import { checksums } from '../../web/src/tasks/checksums.js';
import type { Run } from '../../web/src/tasks/call.js';
import { redact, restore, type RedactOptions } from '../../web/src/tasks/redact.js';

/** A classifier that finds e-mail addresses, numbers and the name Anna, with the space before them, as DeBERTa's tokenizer gives it. */
function finder(): { run: Run; asked: { options: Record<string, unknown> } } {
  const asked = { options: {} };
  const run: Run = async (inputs, options) => {
    asked.options = options;
    return inputs.map(({ text }) => {
      const found = [...(text as string).matchAll(/\s?(?:(?<EMAIL>\S+@\S+\w)|(?<CARD>[\d -]*\d)|(?<GIVEN_NAME>Anna))/g)];
      return found.map((match) => {
        const [entity_group] = Object.entries(match.groups!).find(([, value]) => value !== undefined)!;
        return {
          entity_group,
          score: entity_group === 'CARD' ? 0.6 : 0.9,
          word: '',
          start: match.index,
          end: match.index + match[0].length,
        };
      });
    });
  };
  return { run, asked };
}

const kText = 'Anna: anna@example.org, 4111 1111 1111 1111 or 4111 1111 1111 1112. anna@example.org is Anna.';

describe('redact', () => {
  test('gives the same text the same placeholder, and its way back', async () => {
    const call = redact(finder().run);
    const { text, entities, mapping } = await call(kText);
    expect(text).toBe('[GIVEN_NAME_1]: [EMAIL_1], [CARD_1] or [CARD_2]. [EMAIL_1] is [GIVEN_NAME_1].');
    expect(mapping).toEqual({
      '[GIVEN_NAME_1]': 'Anna',
      '[EMAIL_1]': 'anna@example.org',
      '[CARD_1]': '4111 1111 1111 1111',
      '[CARD_2]': '4111 1111 1111 1112',
    });
    expect(restore(text, mapping)).toBe(kText);
    for (const { text: original, start, end } of entities) expect(kText.slice(start, end)).toBe(original);
    expect(entities[0]).toEqual({
      type: 'GIVEN_NAME',
      text: 'Anna',
      score: 0.9,
      start: 0,
      end: 4,
      placeholder: '[GIVEN_NAME_1]',
      replacement: '[GIVEN_NAME_1]',
    });
  });

  test('numbers all texts of a call together, and goes on from an earlier mapping', async () => {
    const call = redact(finder().run);
    const [first, second] = await call(['a@b.cd wrote', 'to x@y.zz and a@b.cd']);
    expect([first!.text, second!.text]).toEqual(['[EMAIL_1] wrote', 'to [EMAIL_2] and [EMAIL_1]']);
    expect(first!.mapping).toEqual({ '[EMAIL_1]': 'a@b.cd' });
    const { text, mapping } = await call('q@r.st, x@y.zz', { mapping: second!.mapping });
    expect(text).toBe('[EMAIL_3], [EMAIL_2]');
    expect(mapping).toEqual({ '[EMAIL_1]': 'a@b.cd', '[EMAIL_2]': 'x@y.zz', '[EMAIL_3]': 'q@r.st' });
  });

  test('uses no placeholder that stands in a text already', async () => {
    const { text, mapping } = await redact(finder().run)('[EMAIL_1] is a@b.cd', { types: ['EMAIL'] });
    expect(text).toBe('[EMAIL_1] is [EMAIL_2]');
    expect(restore(text, mapping)).toBe('[EMAIL_1] is a@b.cd');
  });

  test.each<[RedactOptions, string]>([
    [{ types: ['CARD'] }, 'Anna: anna@example.org, [CARD_1] or [CARD_2]. anna@example.org is Anna.'],
    [{ types: [] }, kText],
    [{ threshold: 0.7, types: ['CARD'] }, kText],
    [{ types: ['CARD'], rules: { CARD: 'luhn' } }, 'Anna: anna@example.org, [CARD_1] or 4111 1111 1111 1112. anna@example.org is Anna.'],
    [{ types: ['CARD'], rules: { CARD: (text) => text.endsWith('2') } }, kText.replace('4111 1111 1111 1112', '[CARD_1]')],
    [{ replacer: ({ type, text }) => (type === 'CARD' ? `(${text.length})` : '#') }, '#: #, (19) or (19). # is #.'],
  ])('%o', async (options, expected) => {
    expect((await redact(finder().run)(kText, options)).text).toBe(expected);
  });

  test('entities of one type that touch are one, with the lower score', async () => {
    const run: Run = async () => [
      [
        { entity_group: 'NAME', score: 0.9, word: '', start: 0, end: 4 },
        { entity_group: 'NAME', score: 0.5, word: '', start: 4, end: 8 },
        { entity_group: 'NAME', score: 0.7, word: '', start: 8, end: 13 },
        { entity_group: 'CITY', score: 0.7, word: '', start: 13, end: 14 },
      ],
    ];
    const { entities } = await redact(run)('AnnaLena Ruth!');
    expect(entities.map(({ type, text, score }) => [type, text, score])).toEqual([
      ['NAME', 'AnnaLena', 0.5],
      ['NAME', 'Ruth', 0.7],
      ['CITY', '!', 0.7],
    ]);
  });

  test('reads long texts in windows, with options of the classifier passed on', async () => {
    const { run, asked } = finder();
    await redact(run)('Anna', { aggregation_strategy: 'first', stride: 8, max_length: 100, types: ['X'] });
    expect(asked.options).toEqual({ aggregation_strategy: 'first', windows: true, stride: 8, max_length: 100 });
  });

  test.each<[string, object, RegExp]>([
    ['types', { types: 'EMAIL' }, /types is string, not a list/],
    ['threshold', { threshold: '1' }, /threshold is string/],
    ['replacer', { replacer: '#' }, /replacer is string, not a function/],
    ['rules', { rules: { CARD: 'mod11' } }, /rule for CARD is neither a function nor one of luhn, iban/],
    ['mapping', { mapping: { '[A_1]': 1 } }, /mapping, \[A_1\], is number/],
    ['an unknown option', { type: ['A'] }, /redact has no option 'type'/],
    ["a replacer's result", { replacer: () => 1 }, /replacer's result is number/],
  ])('refuses %s that makes no sense', async (_, options, message) => {
    await expect(redact(finder().run)(kText, options as RedactOptions)).rejects.toThrow(message);
  });
});

describe('checksums', () => {
  test.each(['4111 1111 1111 1111', '378282246310005', '6011-1111-1111-1117', '5555555555554444'])('%s may be a card number', (text) => {
    expect(checksums.luhn(text)).toBe(true);
  });
  test.each(['4111 1111 1111 1112', '', '0', '4111  1111 1111 1111', 'abc', '41111111111111111111111'])('%s is none', (text) => {
    expect(checksums.luhn(text)).toBe(false);
  });
  // Examples of the registry of ISO 13616.
  test.each([
    'DE89 3704 0044 0532 0130 00',
    'GB29NWBK60161331926819',
    'NO93 8601 1117 947',
    'MT84MALT011000012345MTLCAST001S',
    'ch9300762011623852957',
  ])('%s may be an account number', (text) => {
    expect(checksums.iban(text)).toBe(true);
  });
  test.each(['DE88 3704 0044 0532 0130 00', 'DE89', '', 'D189370400440532013000', 'GB29NWBK6016133192681'])('%s is none', (text) => {
    expect(checksums.iban(text)).toBe(false);
  });
});
