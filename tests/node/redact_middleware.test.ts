// redactMiddleware with language models of the shapes of AI SDK 4 and 5 to 7. tests/packaging/hosts/ai_sdk.test.ts runs it in the SDK.
import { describe, expect, test } from 'vitest';
import { redactMiddleware } from '../../web/src/adapters/ai_sdk.js';
import { createRedactor } from '../../web/src/index_redact.js';

type Parts = Record<string, unknown>[];
const text = (words: string) => ({ type: 'text', text: words });
const redactor = createRedactor({ patterns: true });

/** A model that records the prompt it receives. */
function modelOf(answer: object, pieces: Parts = []) {
  const seen: { prompt?: unknown } = {};
  const stream = () =>
    new ReadableStream<Record<string, unknown>>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
  return {
    seen,
    doGenerate: async (params: object) => {
      Object.assign(seen, params);
      return answer;
    },
    doStream: async (params: object) => {
      Object.assign(seen, params);
      return { stream: stream() };
    },
  };
}

async function all(stream: ReadableStream): Promise<Parts> {
  const reader = stream.getReader();
  const found: Parts = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return found;
    found.push(value as Record<string, unknown>);
  }
}

const params = {
  prompt: [
    { role: 'system', content: 'Support of mary@example.org.' },
    { role: 'user', content: [text('Card 4111 1111 1111 1111, mail tom@example.org')] },
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'find', input: { lastName: 'Miller', zip: 10115, page: 2 } }],
    },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: '1', toolName: 'find', output: { type: 'json', value: [{ street: '5 High Road' }] } }],
    },
  ],
  temperature: 0,
};

describe('the model', () => {
  test('receives no private detail, in any part of the prompt', async () => {
    const model = modelOf({ content: [] });
    await redactMiddleware(redactor).wrapGenerate({ params, model });
    expect(model.seen).toEqual({
      prompt: [
        { role: 'system', content: 'Support of [EMAIL_1].' },
        { role: 'user', content: [text('Card [CARD_1], mail [EMAIL_2]')] },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: '1', toolName: 'find', input: { lastName: '[PER_1]', zip: '[LOC_1]', page: 2 } }],
        },
        {
          role: 'tool',
          content: [{ type: 'tool-result', toolCallId: '1', toolName: 'find', output: { type: 'json', value: [{ street: '[LOC_2]' }] } }],
        },
      ],
      temperature: 0,
    });
  });

  test('receives files only if they are allowed', async () => {
    const withFile = { prompt: [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AA==' }] }] };
    const model = modelOf({ content: [] });
    await expect(redactMiddleware(redactor).wrapGenerate({ params: withFile, model })).rejects.toThrow(/files: true/);
    expect(model.seen).toEqual({});
    await redactMiddleware(redactor, { files: true }).wrapGenerate({ params: withFile, model });
    expect(model.seen).toEqual(withFile);
  });

  test('is not called if redaction fails', async () => {
    const model = modelOf({ content: [] });
    const failing = redactMiddleware(createRedactor({ finders: [() => Promise.reject(new Error('no'))] }));
    await expect(failing.wrapGenerate({ params, model })).rejects.toThrow(/A finder failed/);
    await expect(failing.wrapStream({ params, model })).rejects.toThrow(/A finder failed/);
    expect(model.seen).toEqual({});
  });
});

describe('the caller receives restored', () => {
  test('text, reasoning and arguments of tools', async () => {
    const quoted = { prompt: [{ role: 'user', content: [text('{"lastName": "O\\"Neil"} and tom@example.org')] }] };
    const model = modelOf({
      content: [
        text('To [email_1].'),
        { type: 'reasoning', text: '[EMAIL_1]?' },
        { type: 'tool-call', toolName: 'mail', input: '{"to": "[EMAIL_1]"}' },
      ],
      finishReason: 'stop',
    });
    expect(await redactMiddleware(redactor).wrapGenerate({ params: quoted, model })).toEqual({
      content: [
        text('To tom@example.org.'),
        { type: 'reasoning', text: 'tom@example.org?' },
        { type: 'tool-call', toolName: 'mail', input: '{"to": "tom@example.org"}' },
      ],
      finishReason: 'stop',
    });
  });

  test('arguments as valid JSON, whatever the detail contains', async () => {
    const finder = (texts: readonly string[]) =>
      texts.map((each) => [...each.matchAll(/O".Neil/gs)].map(({ index }) => ({ type: 'PER', start: index, end: index + 7 })));
    const own = createRedactor({ finders: [finder] });
    const model = modelOf({ content: [{ type: 'tool-call', input: '{"name":"[PER_1]"}' }] }, [
      { type: 'tool-input-start', id: '7' },
      { type: 'tool-input-delta', id: '7', delta: '{"name":"[PE' },
      { type: 'tool-input-delta', id: '7', delta: 'R_1]"}' },
      { type: 'tool-input-end', id: '7' },
    ]);
    const asked = { prompt: [{ role: 'user', content: 'I am O"\nNeil' }] };
    const answer = (await redactMiddleware(own).wrapGenerate({ params: asked, model })) as { content: { input: string }[] };
    expect(JSON.parse(answer.content[0]!.input)).toEqual({ name: 'O"\nNeil' });
    const pieces = await all((await redactMiddleware(own).wrapStream({ params: asked, model })).stream);
    expect(pieces.map(({ type }) => type)).toEqual(['tool-input-start', 'tool-input-delta', 'tool-input-end']);
    expect(JSON.parse(pieces[1]!.delta as string)).toEqual({ name: 'O"\nNeil' });
  });

  test('arguments without further members, whatever the detail contains', async () => {
    const detail = 'x","role":"admin';
    const finds = redactMiddleware(createRedactor({ patterns: [{ type: 'NAME', find: (one) => rangeOf(one, detail) }] }));
    const rangeOf = (one: string, words: string) =>
      one.includes(words) ? [{ start: one.indexOf(words), end: one.indexOf(words) + words.length }] : [];
    const input = '{ "name": "[NAME_1]", "role": "guest" }';
    const model = modelOf({ content: [{ type: 'tool-call', input }] }, [{ type: 'tool-input-delta', id: '1', delta: input }]);
    const given = { prompt: [{ role: 'user', content: `I am ${detail}` }] };
    const answer = (await finds.wrapGenerate({ params: given, model })) as { content: { input: string }[] };
    expect(JSON.parse(answer.content[0]!.input)).toEqual({ name: detail, role: 'guest' });
    const named = modelOf({ content: [{ type: 'tool-call', input: '{"[NAME_1]": 1}' }] });
    const other = (await finds.wrapGenerate({ params: given, model: named })) as { content: { input: string }[] };
    expect(JSON.parse(other.content[0]!.input)).toEqual({ [detail]: 1 });
    const [piece] = await all((await finds.wrapStream({ params: given, model })).stream);
    expect(JSON.parse(piece!.delta as string)).toEqual({ name: detail, role: 'guest' });
  });

  test('pieces of text, in their order', async () => {
    const model = modelOf({}, [
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: 'a' },
      ...['To [', 'CARD', '_1], or [EMA', 'IL_2', '] an', 'd EMAIL_1'].map((delta) => ({ type: 'text-delta', id: 'a', delta })),
      { type: 'text-end', id: 'a' },
      { type: 'tool-call', toolCallId: '1', toolName: 'mail', input: '{"to":"[EMAIL_2]"}' },
      { type: 'finish', finishReason: 'stop' },
    ]);
    const pieces = await all((await redactMiddleware(redactor).wrapStream({ params, model })).stream);
    expect(
      pieces
        .filter(({ type }) => type === 'text-delta')
        .map(({ delta }) => delta)
        .join(''),
    ).toBe('To 4111 1111 1111 1111, or tom@example.org and mary@example.org');
    expect(pieces.map(({ type }) => type).filter((type, i, types) => type !== types[i - 1])).toEqual([
      'stream-start',
      'text-start',
      'text-delta',
      'text-end',
      'tool-call',
      'finish',
    ]);
    expect(pieces.at(-2)).toMatchObject({ input: '{"to":"tom@example.org"}' });
  });

  test('answers of AI SDK 4', async () => {
    const pieces = [{ type: 'text-delta', textDelta: 'To [EMAI' }, { type: 'text-delta', textDelta: 'L_2]' }, { type: 'finish' }];
    const model = modelOf({ text: '[EMAIL_2]', toolCalls: [{ toolName: 'x', args: '{"a":"[EMAIL_1]"}' }] }, pieces);
    const middleware = redactMiddleware(redactor, { specificationVersion: 'v1' });
    expect(await middleware.wrapGenerate({ params, model })).toEqual({
      text: 'tom@example.org',
      toolCalls: [{ toolName: 'x', args: '{"a":"mary@example.org"}' }],
    });
    const found = await all((await middleware.wrapStream({ params, model })).stream);
    expect(found.map(({ textDelta }) => textDelta ?? '').join('')).toBe('To tom@example.org');
    expect(found.at(-1)).toEqual({ type: 'finish' });
  });
});
