// What a model could not read is part of the result.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pipeline, pipeline } from '../../web/dist/index_node.js';
import { createRedactor, redact } from '../../web/dist/index_redact.js';

describe('a model that reads English', () => {
  let tagger: Pipeline<'redact'>;
  beforeAll(async () => {
    tagger = await pipeline('redact', fileURLToPath(new URL('../../models/peruse-tagger-convbert-tiny', import.meta.url)));
  });
  afterAll(() => tagger.dispose());

  test.each([
    ['Russian', '\u041c\u0435\u043d\u044f \u0437\u043e\u0432\u0443\u0442 \u0418\u0432\u0430\u043d \u041f\u0435\u0442\u0440\u043e\u0432.'],
    ['Greek', '\u039c\u03b5 \u03bb\u03ad\u03bd\u03b5 \u0393\u03b9\u03ce\u03c1\u03b3\u03bf.'],
    ['Chinese', '\u6211\u53eb\u738b\u4f1f\u3002'],
    ['Arabic', '\u0627\u0633\u0645\u064a \u0623\u062d\u0645\u062f \u0639\u0644\u064a.'],
    ['Hindi', '\u092e\u0947\u0930\u093e \u0928\u093e\u092e \u0930\u093e\u091c \u0939\u0948\u0964'],
    ['Hebrew', '\u05e9\u05de\u05d9 \u05d3\u05d5\u05d3 \u05db\u05d4\u05df.'],
    ['Korean', '\uc81c \uc774\ub984\uc740 \uae40\ubbfc\uc218\uc785\ub2c8\ub2e4.'],
    ['Japanese', '\u79c1\u306e\u540d\u524d\u306f\u7530\u4e2d\u3067\u3059\u3002'],
  ])('reports all letters of %s as unread that a pattern does not replace', async (_, text) => {
    const { unread, entities } = await tagger(text, { patterns: true });
    const ranges = [...unread, ...entities].sort((a, b) => a.start - b.start);
    const covered = ranges.map(({ start, end }) => text.slice(start, end)).join('');
    expect(entities.filter(({ type }) => type !== 'PER')).toEqual([]);
    expect(covered.replaceAll(/\P{L}/gu, '')).toBe(text.replaceAll(/\P{L}/gu, ''));
    await expect(tagger(text, { fail_closed: true })).rejects.toMatchObject({ code: 'unsupported' });
  });

  test('but not what it reads, and not what was replaced', async () => {
    expect((await tagger('My name is Mary Miller. I live in London! The angle is \u03bb.')).unread).toEqual([]);
    const text = 'Mary wrote \u043c\u0438\u0440, \u0442\u0440\u0443\u0434 to b@\u043f\u0440\u0438\u043c\u0435\u0440.\u0440\u0444';
    const finders = [
      (texts: readonly string[]) => texts.map((each) => [{ type: 'X', start: each.indexOf('\u043c\u0438\u0440'), end: each.indexOf(',') }]),
    ];
    const second = await tagger(text, { patterns: true, finders });
    expect(second.unread.map(({ start, end }) => text.slice(start, end))).toEqual(['\u0442\u0440\u0443\u0434']);
  });

  test('a word of more letters than the tokenizer reads is unread', async () => {
    const word = 'a'.repeat(300);
    const { unread } = await tagger(`The word ${word} is long.`);
    expect(unread).toEqual([{ start: 9, end: 309, reason: 'unknown_characters' }]);
  });
});

test('half of a character is unread, with patterns alone, too', async () => {
  expect((await redact('a \ud83d b')).unread).toEqual([{ start: 2, end: 3, reason: 'lone_surrogate' }]);
  expect((await createRedactor({ patterns: true })('a \ud83d\ude00 b')).unread).toEqual([]);
});

describe('redact of peruse/redact', () => {
  test('gives the result of a redactor', async () => {
    const text = 'Mail mary@example.org from 203.0.113.7.';
    const options = { patterns: ['EMAIL'] as const };
    expect(await redact(text)).toEqual(await createRedactor({ patterns: true })(text));
    expect(await redact(text, options)).toEqual(await createRedactor(options)(text));
    expect((await redact([text], { types: ['IP'] }))[0]!.text).toBe('Mail mary@example.org from [IP_1].');
  });

  test('never returns a text that nothing has read', async () => {
    await expect(redact('a@b.cd', { patterns: false })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(redact('a@b.cd', { patterns: ['FAX' as 'PHONE'] })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(redact(undefined as unknown as string)).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(redact('a@b.cd', null as never)).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(redact('a@b.cd', { recall: 0.5 })).rejects.toMatchObject({ code: 'invalid_argument' });
    const failing = () => Promise.reject(new Error('not loaded'));
    await expect(redact('a@b.cd', { finders: [failing] })).rejects.toThrow(/not loaded/);
  });

  test('is all that the entry exports besides finders, restore and errors', async () => {
    expect(Object.keys(await import('../../web/dist/index_redact.js')).sort()).toEqual([
      'PeruseError',
      'createRedactor',
      'entityFinder',
      'findPatterns',
      'labelFinder',
      'redact',
      'restore',
    ]);
  });
});
