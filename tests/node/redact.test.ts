// redact with a stub of a classifier, so that results are exact.
import { describe, expect, test } from 'vitest';
import * as everything from '../../web/dist/index_node.js';
import { pipeline } from '../../web/src/index_redact.js';
import type { Run } from '../../web/src/tasks/call.js';
import { checksum } from '../../web/src/tasks/checksums.js';
import { entityFinder, labelFinder } from '../../web/src/tasks/detail_finders.js';
import { findDetails } from '../../web/src/tasks/patterns.js';
import { Placeholders } from '../../web/src/tasks/placeholders.js';
import {
  type DetailFinder,
  kPlaceholders,
  type RedactContext,
  type RedactOptions,
  restore,
  restoreAll,
  redact as taskRedact,
} from '../../web/src/tasks/redact.js';
import type { TokenClassificationCall } from '../../web/src/tasks/token_classification.js';
import type { PipelineTokenizer } from '../../web/src/tasks/tokenizer_calls.js';
import type { ZeroShotTokenClassificationCall } from '../../web/src/tasks/zero_shot_token_classification.js';

const redact = (run: Run | undefined, context: RedactContext = {}) =>
  taskRedact(run, { loadPatterns: async () => findDetails, ...context });

/** Finds e-mail addresses, numbers and the name Anna, with the space before them, as with DeBERTa's tokenizer. */
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

  test('hands recall to the engine', async () => {
    const { run, asked } = finder();
    await redact(run)(kText, { recall: 0.8 });
    expect(asked.options).toEqual({ aggregation_strategy: 'simple', windows: true, recall: 0.8 });
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

function giving(...parts: [string, string][]): Run {
  return async (inputs) =>
    inputs.map(({ text }) =>
      parts.flatMap(([entity_group, part]) => {
        const start = (text as string).indexOf(part);
        return start < 0 ? [] : [{ entity_group, score: 0.9, word: '', start, end: start + part.length }];
      }),
    );
}

describe('rules', () => {
  const kCard = ['4111', '1111', '1111', '1111'];
  const kIban = ['DE89', '3704', '0044', '0532', '0130', '00'];
  const kSeparators = [
    ' ',
    '  ',
    '\u00a0',
    '\u2009',
    '\u202f',
    '-',
    '\u2011',
    '\u2013',
    '.',
    '\u200b',
    '\u00ad',
    '\t',
    ' - ',
    '',
    '/',
    '\n',
  ];

  test.each(kSeparators)('right check digits stay hidden, written with %j', async (separator) => {
    for (const [type, groups] of [
      ['CARD', kCard],
      ['IBAN', kIban],
    ] as const) {
      const number = groups.join(separator);
      for (const before of ['', '|', '(', 'x ']) {
        const text = `No ${before}${number}.`;
        const run: Run = async ([input]) => {
          const start = (input!.text as string).search(type === 'CARD' ? /4111/ : /DE89/) - before.length;
          return [[{ entity_group: type, score: 0.9, word: '', start, end: (input!.text as string).length - 1 }]];
        };
        const { text: redacted } = await redact(run)(text, { rules: { CARD: 'luhn', IBAN: 'iban' } });
        expect(redacted).toBe(`No ${`[${type}_1].`}`);
      }
    }
  });

  test.each<[string, [string, string][], string]>([
    [
      'Card 5500 1111 2222 3331 ok',
      [
        ['CARD', '5500 1111 2222'],
        ['IBAN', '3331'],
      ],
      'Card [CARD_1] ok',
    ],
    ['Card 5500 1111 2222 3331 ok', [['CARD', '5500 1111 2222']], 'Card [CARD_1] ok'],
    [
      'Card 5500 1111 2222 3331 ok',
      [
        ['PHONE', '5500'],
        ['CARD', '1111 2222 3331'],
      ],
      'Card [CARD_1] ok', // equal scores: the longer one decides the type
    ],
    ['Card 5500 1111 2222 3332 ok', [['CARD', '5500 1111 2222 3332']], 'Card 5500 1111 2222 3332 ok'],
    ['Card 5500 1111 ok', [['CARD', '5500 1111']], 'Card [CARD_1] ok'], // not of a card number's form, so check digits do not count
    [
      'To DE89 3704 0044 0532 0130 00 now',
      [
        ['IBAN', 'DE89 3704 0044'],
        ['CARD', '0532 0130 00'],
      ],
      'To [IBAN_1] now',
    ],
    ['To GB29 NWBK 6016 1331 9268 19 now', [['IBAN', '6016 1331 9268 19']], 'To [IBAN_1] now'],
    ['To DE88 3704 0044 0532 0130 00 now', [['IBAN', 'DE88 3704 0044 0532 0130 00']], 'To DE88 3704 0044 0532 0130 00 now'],
  ])('%s: %j', async (text, parts, expected) => {
    const call = redact(giving(...parts));
    const { text: redacted, mapping } = await call(text, { rules: { CARD: 'luhn', IBAN: 'iban' } });
    expect(redacted).toBe(expected);
    expect(restore(redacted, mapping)).toBe(text);
  });

  test('a function reads the folded text', async () => {
    const { text } = await redact(giving(['CARD', '123']))('\uff11\uff12\uff13', { rules: { CARD: (read) => read === '123' } });
    expect(text).toBe('[CARD_1]');
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
      expect(restore(redacted, mapping)).toBe(text);
    },
  );

  test('numbers in other digits and with unusual spaces', async () => {
    const text = 'Card \u0664\u0661\u0661\u0661\u00a0\uff11\uff11\uff11\uff11\u20111111\u20091111.';
    const { text: redacted } = await redact(finder().run)(text, { rules: { CARD: 'luhn' } });
    expect(redacted).toBe('Card [CARD_1].');
  });
});

describe('names in capitals or small letters', () => {
  /** A model that recognises a person's name and a place by their capitals. */
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
    expect(restore(redacted, mapping)).toBe(text);
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
    expect(restore(stranger.text, stranger.mapping)).toBe('Who is [GIVEN_NAME_1], a@b.cd?');
  });

  test('nor what an earlier batch of the same run took out, or a later one will', async () => {
    const placeholders = new Placeholders();
    const options = { [kPlaceholders]: placeholders, types: ['EMAIL', 'GIVEN_NAME'] } as RedactOptions;
    const call = (text: string) => redact(finder().run)(text, options);
    const results = [await call('Anna, [EMAIL_1]'), await call('[GIVEN_NAME_1], a@b.cd'), await call('[EMAIL_2]')];
    expect(results.map(({ text }) => text)).toEqual(['[GIVEN_NAME_1], [EMAIL_1]', '[PLACEHOLDER_1], [EMAIL_2]', '[PLACEHOLDER_2]']);
    const { mapping } = results.at(-1)!;
    expect(results.map(({ text }) => restore(text, mapping))).toEqual(['Anna, [EMAIL_1]', '[GIVEN_NAME_1], a@b.cd', '[EMAIL_2]']);
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

describe('checksums', () => {
  test.each(['4111 1111 1111 1111', '378282246310005', '6011-1111-1111-1117', '5555555555554444', '4111  1111 1111 1111'])(
    '%s may be a card number',
    (text) => {
      expect(checksum('luhn', text)).toBe('right');
    },
  );
  test.each<[string, string]>([
    ['4111 1111 1111 1112', 'wrong'],
    ['', 'formless'],
    ['0', 'formless'],
    ['abc', 'formless'],
    ['41111111111111111111111', 'formless'],
  ])('%s is none: %s', (text, verdict) => {
    expect(checksum('luhn', text)).toBe(verdict);
  });
  // Examples of ISO 13616's registry.
  test.each([
    'DE89 3704 0044 0532 0130 00',
    'DE89\u00a03704\u00a00044-0532\u20110130\u00a000',
    'GB29NWBK60161331926819',
    'NO93 8601 1117 947',
    'MT84MALT011000012345MTLCAST001S',
    'ch9300762011623852957',
  ])('%s may be an account number', (text) => {
    expect(checksum('iban', text)).toBe('right');
  });
  test.each<[string, string]>([
    ['DE88 3704 0044 0532 0130 00', 'wrong'],
    ['GB29NWBK6016133192681', 'wrong'],
    ['DE89', 'formless'],
    ['', 'formless'],
    ['D189370400440532013000', 'formless'],
  ])('%s is none: %s', (text, verdict) => {
    expect(checksum('iban', text)).toBe(verdict);
  });
});

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
  ])('%s', (reply, expected) => expect(restore(reply, mapping)).toBe(expected));

  test('reports what it put back and what it could not', () => {
    expect(restoreAll('[PER_1], [per_2], [EMAIL_1] (see figure 3, [ORG_1], [x])', mapping)).toEqual({
      text: 'Mary, [per_2], m@example.org (see figure 3, [ORG_1], [x])',
      restored: ['[PER_1]', '[EMAIL_1]'],
      unrestored: ['[per_2]', '[ORG_1]'],
    });
  });

  test('keys of the mapping that are no placeholders of redact still count', () => {
    expect(restore('[who] and [Who]', { '[who]': 'Mary' })).toBe('Mary and [Who]');
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

describe('finders', () => {
  const finds =
    (type: string, word: string, score?: number): DetailFinder =>
    (texts) =>
      texts.map((text) => {
        const start = text.indexOf(word);
        return start < 0 ? [] : [{ type, start, end: start + word.length, ...(score === undefined ? {} : { score }) }];
      });

  test('add to patterns and to the model, under one rule for overlaps', async () => {
    const call = redact(giving(['PER', 'Bell of Rome']), { defaults: { finders: [finds('CITY', 'Rome', 0.9), finds('WORD', 'ring')] } });
    const { text, entities } = await call('Anna Bell of Rome, ring a@b.cd', { patterns: ['EMAIL'] });
    expect(text).toBe('Anna [PER_1], [WORD_1] [EMAIL_1]'); // equal scores: the longer one decides
    expect(entities.map(({ score }) => score)).toEqual([0.9, 1, 1]);
    expect((await call('Anna Bell of Rome', { finders: [finds('CITY', 'Rome', 0.95)] })).text).toBe('Anna [CITY_1]');
    expect((await call('Anna Bell of Rome', { finders: [] })).text).toBe('Anna [PER_1]');
  });

  test('read the normalised text', async () => {
    const { text, entities } = await redact(undefined)('H\uff29: An\u00adna', { finders: [finds('PER', 'Anna')] });
    expect(text).toBe('H\uff29: [PER_1]');
    expect(entities[0]!.text).toBe('An\u00adna');
  });

  test('may be pipelines', async () => {
    const tag = (async (texts: readonly string[], options: object) => {
      expect(options).toEqual({ stride: 64, aggregation_strategy: 'average' });
      return texts.map(() => [{ entity_group: 'PER', score: 0.8, word: 'Anna', start: 0, end: 4 }]);
    }) as unknown as TokenClassificationCall;
    const extract = (async (texts: readonly string[], labels: unknown, options: object) => {
      expect([labels, options]).toEqual([['home town'], { threshold: 0.3 }]);
      return texts.map(() => [{ label: 'home town', text: 'Rome', score: 0.7, start: 8, end: 12 }]);
    }) as unknown as ZeroShotTokenClassificationCall;
    const finders = [entityFinder(tag, { aggregation_strategy: 'average' }), labelFinder(extract, ['home town'], { threshold: 0.3 })];
    expect((await redact(undefined)('Anna of Rome', { finders })).text).toBe('[PER_1] of [HOME_TOWN_1]');
  });

  test.each<[string, unknown, RegExp]>([
    ['no list', () => 1, /must return a list for each of the 1 texts/],
    ['too few', () => [], /must return a list for each of the 1 texts/],
    ['a range outside', () => [[{ type: 'A', start: 0, end: 99 }]], /within the text/],
    ['no type', () => [[{ start: 0, end: 1 }]], /within the text/],
    ['an error', () => Promise.reject(new Error('no')), /A finder failed: .*no/],
  ])('that return %s are refused', async (_, finder, message) => {
    await expect(redact(undefined)('Anna', { finders: [finder as DetailFinder] })).rejects.toThrow(message);
  });

  test('a pattern of the caller\u2019s comes before the others', async () => {
    const order = {
      type: 'ORDER',
      find: (text: string) => [...text.matchAll(/A-\d+/g)].map(({ 0: a, index }) => ({ start: index, end: index + a.length })),
    };
    const { text } = await redact(undefined)('A-5550142 and 555-0142', { patterns: [order, 'PHONE'] });
    expect(text).toBe('[ORDER_1] and [PHONE_1]');
  });
});

describe('without a model', () => {
  test('patterns alone, and the options of models are refused', async () => {
    const call = await pipeline('redact', null, { patterns: true });
    expect(call.task).toBe('redact');
    const { text, mapping } = await call('Mail a@b.cd from 203.0.113.7.');
    expect(text).toBe('Mail [EMAIL_1] from [IP_1].');
    expect(restore(text, mapping)).toBe('Mail a@b.cd from 203.0.113.7.');
    expect((await call('a@b.cd', { patterns: ['IP'] })).text).toBe('a@b.cd');
    await expect(call('x', { recall: 0.5 })).rejects.toThrow(/recall is an option of models/);
    await call.dispose();
  });

  test.each<[object, RegExp]>([
    [{}, /needs `patterns` or `finders`/],
    [{ dtype: 'q8' }, /dtype is an option of models/],
    [{ patterns: 'all' }, /patterns must be true, false or a list/],
    [{ patterns: ['FAX'] }, /no pattern 'FAX'/],
    [{ finders: [1] }, /finders must be a list of functions/],
  ])('%j is refused', async (options, message) => {
    await expect(pipeline('redact', null, options)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(message),
    });
  });

  test('peruse has the same, and no other task takes null or the options of redact', async () => {
    const call = await everything.pipeline('redact', null, { patterns: ['EMAIL'] });
    expect((await call('a@b.cd')).text).toBe('[EMAIL_1]');
    await expect(everything.pipeline('token-classification', null as never)).rejects.toThrow(/needs a model/);
    await expect(everything.pipeline('token-classification', 'a/b', { patterns: true } as never)).rejects.toThrow(/no option 'patterns'/);
  });
});

describe('fail_closed', () => {
  /** A tokenizer with Latin words only. */
  const tokenizer = {
    convert_tokens_to_ids: async () => [7, undefined],
    encode: async (text: string) => {
      const words = [...text.matchAll(/\p{L}+|[^\p{L}\s]/gu)];
      return {
        ids: words.map(([word]) => (/^[a-z.]+$/i.test(word) ? 1 : 7)),
        offsets: words.map(({ 0: word, index }) => [index, index + word.length]),
        special_tokens_mask: words.map(() => 0),
      };
    },
  } as unknown as PipelineTokenizer;

  test('refuses letters that the model does not know, unless they are replaced', async () => {
    const call = redact(giving(['PER', 'Anna']), { tokenizer, defaults: { fail_closed: true } });
    expect((await call('Anna left. \u2764')).text).toBe('[PER_1] left. \u2764');
    await expect(call('Anna and \u738b\u4f1f')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/Input 0 .* 9 to 11/),
    });
    expect(
      (await call('Anna and \u738b\u4f1f', { finders: [(texts) => texts.map((text) => [{ type: 'PER', start: 9, end: text.length }])] }))
        .text,
    ).toBe('[PER_1] and [PER_2]');
    expect((await call('Anna and \u738b\u4f1f', { fail_closed: false })).text).toBe('[PER_1] and \u738b\u4f1f');
    await expect(call(['Anna', 'x \ud800 y'])).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/Input 1 .*half of a character/),
    });
  });

  test('replaces other occurrences of what was found', async () => {
    const call = redact(giving(['PER', 'Anna Bell']), { tokenizer });
    const text = 'Anna Bell left. Anna Bells and Anna Bell, Anna.';
    expect((await call(text, { fail_closed: true })).text).toBe('[PER_1] left. Anna Bells and [PER_1], Anna.');
    expect((await call(text)).text).toBe('[PER_1] left. Anna Bells and Anna Bell, Anna.');
  });
});

test('with labels the model is a GLiNER', async () => {
  const asked: unknown[] = [];
  const run: Run = async (inputs, options) => {
    asked.push(options);
    return inputs.map(() => [{ label: 'full name', text: 'Anna', score: 0.9, start: 0, end: 4 }]);
  };
  const call = redact(run, { defaults: { labels: 'full name, city' } });
  expect((await call('Anna left')).text).toBe('[FULL_NAME_1] left');
  await call('Anna left', { threshold: 0.3 });
  expect(asked).toEqual([{ labels: ['full name', 'city'] }, { labels: ['full name', 'city'], threshold: 0.3 }]);
  await expect(call('Anna', { recall: 0.5 })).rejects.toThrow(/recall is an option of token classifiers/);
});
