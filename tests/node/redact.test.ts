// redact with a stub of a classifier: options, folded texts, placeholders.
import { describe, expect, test } from 'vitest';
import { Placeholders, restore } from '../../web/src/redact/placeholders.js';
import { kPlaceholders } from '../../web/src/redact/session.js';
import type { RedactOptions } from '../../web/src/redact/types.js';
import type { Run } from '../../web/src/tasks/call.js';
import { finder, redact } from './support/redact_stubs.js';

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
    expect(restore(text, mapping).text).toBe(kText);
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
    expect(first!.mapping).toEqual({ '[EMAIL_1]': 'a@b.cd', '[EMAIL_2]': 'x@y.zz' });
    expect(first!.mapping).toBe(second!.mapping);
    expect(first!.mapping).toSatisfy(Object.isFrozen);
    const { text, mapping } = await call('q@r.st, x@y.zz', { mapping: second!.mapping });
    expect(text).toBe('[EMAIL_3], [EMAIL_2]');
    expect(mapping).toEqual({ '[EMAIL_1]': 'a@b.cd', '[EMAIL_2]': 'x@y.zz', '[EMAIL_3]': 'q@r.st' });
  });

  test('uses no placeholder that stands in a text already', async () => {
    const { text, mapping } = await redact(finder().run)('[EMAIL_1] is a@b.cd', { types: ['EMAIL'] });
    expect(text).toBe('[EMAIL_1] is [EMAIL_2]');
    expect(restore(text, mapping).text).toBe('[EMAIL_1] is a@b.cd');
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

  test('hands recall to the engine', async () => {
    const { run, asked } = finder();
    await redact(run)(kText, { recall: 0.8 });
    expect(asked.options).toEqual({ aggregation_strategy: 'average', windows: true, certainty: true, recall: 0.8 });
  });

  test('entities of one type that touch are one, with the lower score', async () => {
    const run: Run = async () => [
      [
        { entity_group: 'NAME', score: 0.9, word: '', start: 0, end: 4 },
        { entity_group: 'NAME', score: 0.5, word: '', start: 4, end: 8 },
        { entity_group: 'NAME', score: 0.7, word: '', start: 8, end: 13 },
        { entity_group: 'CITY', score: 0.7, word: '', start: 13, end: 17 },
      ],
    ];
    const { entities } = await redact(run)('AnnaLena RuthRome');
    expect(entities.map(({ type, text, score }) => [type, text, score])).toEqual([
      ['NAME', 'AnnaLena', 0.5],
      ['NAME', 'Ruth', 0.7],
      ['CITY', 'Rome', 0.7],
    ]);
  });

  test('reads long texts in windows, with options of the classifier passed on', async () => {
    const { run, asked } = finder();
    await redact(run)('Anna', { aggregation_strategy: 'first', stride: 8, max_length: 100, types: ['X'] });
    expect(asked.options).toEqual({ aggregation_strategy: 'first', windows: true, certainty: true, stride: 8, max_length: 100 });
  });

  test.each<[string, object, RegExp]>([
    ['types', { types: 'EMAIL' }, /types must be a list of strings, not a string/],
    ['threshold', { threshold: '1' }, /threshold must be a number, not a string/],
    ['replacer', { replacer: '#' }, /replacer must be a function, not a string/],
    ['rules', { rules: { CARD: 'mod11' } }, /rule for CARD must be a function or one of 'luhn', 'iban'/],
    ['mapping', { mapping: { '[A_1]': 1 } }, /mapping of \[A_1\] must be a string, not a number/],
    ['an unknown option', { type: ['A'] }, /redact has no option 'type'/],
    ["a replacer's result", { replacer: () => 1 }, /replacer's result must be a string, not a number/],
  ])('refuses %s that makes no sense', async (_, options, message) => {
    await expect(redact(finder().run)(kText, options as RedactOptions)).rejects.toThrow(message);
  });
});

describe('what people read and a pattern does not', () => {
  test.each(['\uff21\uff4e\uff4e\uff41', 'An\u00adn\u200ba', '\u0410nn\u0430', '\u{1d400}\u{1d427}\u{1d427}\u{1d41a}'])(
    '%s is read as Anna, and taken out whole',
    async (name) => {
      const text = `Her name is ${name}, she says.`;
      const { text: redacted, entities, mapping } = await redact(finder().run)(text);
      expect(redacted).toBe('Her name is [GIVEN_NAME_1], she says.');
      expect(entities).toMatchObject([{ text: name, start: 12, end: 12 + name.length }]);
      expect(restore(redacted, mapping).text).toBe(text);
    },
  );

  test('numbers in other digits and with unusual spaces', async () => {
    const text = 'Card \u0664\u0661\u0661\u0661\u00a0\uff11\uff11\uff11\uff11\u20111111\u20091111.';
    const { text: redacted } = await redact(finder().run)(text, { rules: { CARD: 'luhn' } });
    expect(redacted).toBe('Card [CARD_1].');
  });
});

describe('names in capitals or small letters', () => {
  const knowing: Run = async (inputs) =>
    inputs.map(({ text }) =>
      [...(text as string).matchAll(/(?<PER>Anna Bell)|(?<LOC>Rome)/g)].map((match) => ({
        entity_group: match.groups!.PER === undefined ? 'LOC' : 'PER',
        score: 0.9,
        word: '',
        start: match.index,
        end: match.index + match[0].length,
      })),
    );

  test.each([
    ['Anna Bell is in Rome.', '[PER_1] is in [LOC_1].'],
    ['ANNA BELL IS IN ROME.', '[PER_1] IS IN [LOC_1].'],
    ['Today ANNA BELL was in Rome.', 'Today [PER_1] was in [LOC_1].'],
    ['anna bell is in rome.', '[PER_1] is in rome.'], // places in the capitalised copy are ignored
    ['The ROME treaty', 'The ROME treaty'],
  ])('%s', async (text, expected) => {
    const { text: redacted, mapping, entities } = await redact(knowing)(text);
    expect(redacted).toBe(expected);
    expect(restore(redacted, mapping).text).toBe(text);
    for (const { text: original, start, end } of entities) expect(text.slice(start, end)).toBe(original);
  });

  test('several texts keep their order', async () => {
    const texts = ['anna bell', 'Anna Bell', 'x', 'ANNA BELL', 'anna bell'];
    const found = await redact(knowing)(texts);
    expect(found.map(({ text }) => text)).toEqual(['[PER_1]', '[PER_2]', 'x', '[PER_3]', '[PER_1]']);
  });
});

describe('placeholders that a text holds itself', () => {
  test('do not become what an earlier call took out', async () => {
    const call = redact(finder().run);
    const { mapping } = await call('Anna called.');
    const stranger = await call('Who is [GIVEN_NAME_1], a@b.cd?', { mapping });
    expect(stranger.text).toBe('Who is [PLACEHOLDER_1], [EMAIL_1]?');
    expect(stranger.entities[0]).toMatchObject({ type: 'PLACEHOLDER', text: '[GIVEN_NAME_1]', score: 1, start: 7, end: 21 });
    expect(restore(stranger.text, stranger.mapping).text).toBe('Who is [GIVEN_NAME_1], a@b.cd?');
  });

  test('nor what an earlier batch of the same run took out, or a later one will', async () => {
    const placeholders = new Placeholders();
    const options = { [kPlaceholders]: placeholders, types: ['EMAIL', 'GIVEN_NAME'] } as RedactOptions;
    const call = (text: string) => redact(finder().run)(text, options);
    const results = [await call('Anna, [EMAIL_1]'), await call('[GIVEN_NAME_1], a@b.cd'), await call('[EMAIL_2]')];
    expect(results.map(({ text }) => text)).toEqual(['[GIVEN_NAME_1], [EMAIL_1]', '[PLACEHOLDER_1], [EMAIL_2]', '[PLACEHOLDER_2]']);
    const { mapping } = results.at(-1)!;
    expect(results.map(({ text }) => restore(text, mapping).text)).toEqual(['Anna, [EMAIL_1]', '[GIVEN_NAME_1], a@b.cd', '[EMAIL_2]']);
  });
});

test('many texts cost what their number says', async () => {
  const time = async (count: number) => {
    const texts = Array.from({ length: count }, (_, i) => `mail${i}@example.org`);
    const start = performance.now();
    const results = await redact(finder().run)(texts);
    expect(Object.keys(results.at(-1)!.mapping)).toHaveLength(count);
    expect(new Set(results.map(({ mapping }) => mapping)).size).toBe(1);
    return performance.now() - start;
  };
  await time(1000);
  const few = Math.min(await time(2000), await time(2000));
  expect((await time(32_000)) / few).toBeLessThan(64); // 16 times the texts; quadratic time would be 256 times
});
