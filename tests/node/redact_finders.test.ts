// redact with finders, without a model, with fail_closed, and with a GLiNER.
import { describe, expect, test } from 'vitest';
import * as everything from '../../web/dist/index_node.js';
import { createRedactor } from '../../web/src/index_redact.js';
import { restore } from '../../web/src/redact/placeholders.js';
import type { DetailFinder } from '../../web/src/redact/types.js';
import type { Run } from '../../web/src/tasks/call.js';
import { entityFinder, labelFinder } from '../../web/src/tasks/detail_finders.js';
import type { TokenClassificationCall } from '../../web/src/tasks/token_classification.js';
import type { PipelineTokenizer } from '../../web/src/tasks/tokenizer_calls.js';
import type { ZeroShotTokenClassificationCall } from '../../web/src/tasks/zero_shot_token_classification.js';
import { giving, redact } from './support/redact_stubs.js';

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
    ['null', () => [[null]], /within the text/],
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
    const call = createRedactor({ patterns: true });
    const { text, mapping } = await call('Mail a@b.cd from 203.0.113.7.');
    expect(text).toBe('Mail [EMAIL_1] from [IP_1].');
    expect(restore(text, mapping).text).toBe('Mail a@b.cd from 203.0.113.7.');
    expect((await call('a@b.cd', { patterns: ['IP'] })).text).toBe('a@b.cd');
    await expect(call('x', { recall: 0.5 })).rejects.toThrow(/recall is an option of models/);
    await call.dispose();
  });

  test.each<[object, RegExp]>([
    [{}, /needs `patterns` or `finders`/],
    [{ dtype: 'q8' }, /dtype is an option of models/],
    [{ patterns: 'all' }, /patterns must be true, false or a list/],
    [{ patterns: ['FAX'] }, /no pattern 'FAX'/],
    [{ patterns: [null] }, /no pattern null/],
    [{ finders: [1] }, /finders must be a list of functions/],
    [null as never, /must be an object, not null/],
  ])('%j is refused', (options, message) => {
    for (const create of [createRedactor, everything.createRedactor]) {
      const thrown = expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(message) });
      expect(() => create(options)).toThrow(thrown);
    }
  });

  test('peruse has the same, and pipeline() takes neither null nor options of redact for another task', async () => {
    const call = everything.createRedactor({ patterns: ['EMAIL'] });
    expect((await call('a@b.cd')).text).toBe('[EMAIL_1]');
    await expect(everything.pipeline('redact', null as never)).rejects.toThrow(/needs a model.* createRedactor\(options\)/);
    await expect(everything.pipeline('token-classification', 'a/b', { patterns: true } as never)).rejects.toThrow(/no option 'patterns'/);
  });
});

describe('fail_closed', () => {
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
    const call = redact(giving(['LOC', 'Anna Bell']), { tokenizer });
    const text = 'Anna Bell left. Anna Bells and Anna Bell, Anna.';
    expect((await call(text, { fail_closed: true })).text).toBe('[LOC_1] left. Anna Bells and [LOC_1], Anna.');
    expect((await call(text)).text).toBe('[LOC_1] left. Anna Bells and Anna Bell, Anna.');
  });
});

test.each(['PER', 'GIVENNAME', 'private_person'])('names of persons (%s) are replaced wherever they stand', async (type) => {
  const call = redact(giving([type, 'Anna Bell']));
  const { text, entities } = await call('Anna Bell left. Anna Bells and Anna Bell, Anna.');
  expect(text.replaceAll(/\[.*?\]/g, '*')).toBe('* left. Anna Bells and *, Anna.');
  expect(new Set(entities.map(({ placeholder }) => placeholder)).size).toBe(1);
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
