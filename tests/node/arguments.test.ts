// Hostile arguments: whatever they are, and whatever their getters do, a call ends with a result or a PeruseError, no error escapes the
// caller's handlers, and the next call works.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { env, PeruseError, type Pipeline, type PipelineOptions, pipeline, type Source } from '../../web/dist/index_node.js';
import { readTiny } from './support/tiny_files.js';

let files: Record<string, Uint8Array>;
beforeAll(async () => {
  ({ files } = await readTiny('deberta-v2-sequence'));
});

const kDefaults = { ...env };
afterEach(() => {
  Object.assign(env, kDefaults);
});

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;
const boom = () => {
  throw new RangeError('boom');
};
const kHostile: [string, unknown][] = [
  ['null', null],
  ['a number', 7],
  ['NaN', Number.NaN],
  ['a bigint', 7n],
  ['a symbol', Symbol('s')],
  ['a function', () => 'x'],
  ['a boolean', true],
  ['a string', 'x\ud800'],
  ['a long string', '\u{1f600}x'.repeat(20_000)],
  ['a list', [1, [2]]],
  ['a cyclic object', cyclic],
  ['an object with toJSON', { toJSON: boom }],
  ['an object with a getter that throws', Object.defineProperty({}, 'text', { get: boom, enumerable: true })],
  ['an object that is nothing', Object.create(null)],
  ['an object whose toString throws', { toString: boom, [Symbol.toPrimitive]: boom }],
  ['a proxy that throws', new Proxy({}, { get: boom, has: boom, ownKeys: boom, getOwnPropertyDescriptor: boom, getPrototypeOf: boom })],
  ['a date', new Date(0)],
  ['a map', new Map([['a', 1]])],
  ['a promise that fails', () => Promise.reject(new Error('nobody waits for this'))],
  ['a typed array', new Float32Array(3)],
  ['a signal that throws when it is listened to', { aborted: false, addEventListener: boom, removeEventListener: boom }],
];

async function answered(promise: Promise<unknown>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    expect(error).toMatchObject({
      name: expect.stringMatching(/^(PeruseError|AbortError)$/),
      code: expect.not.stringMatching(/^(internal|worker_died)$/),
    });
    expect((error as Error).message.length).toBeLessThanOrEqual(1003);
  }
}

describe.each([false, true])('with worker: %s', (worker) => {
  let classify: Pipeline<'text-classification'>;
  beforeAll(async () => {
    classify = await pipeline('text-classification', files, { worker });
  });
  afterAll(() => classify.dispose());
  const call = (...given: unknown[]) => (classify as unknown as (...all: unknown[]) => Promise<unknown>)(...given);

  test.each(kHostile)('a call with %s', async (_, value) => {
    await answered(call(value));
    await answered(call([value, 't1']));
    await answered(call({ text: value, text_pair: value }));
    await answered(call('t1', value));
    for (const name of ['top_k', 'function_to_apply', 'truncation', 'max_length', 'signal', 'nonsense'])
      await answered(call('t1', { [name]: value }));
    await answered((classify.inspect as unknown as (...all: unknown[]) => Promise<unknown>)(value, value));
    expect(await classify('t1 t2')).toEqual([{ label: expect.any(String), score: expect.any(Number) }]);
  });

  test.each(kHostile)('a load with %s', async (_, value) => {
    const load = async (task: unknown, source: unknown, options?: unknown) => {
      const made = await pipeline(task as 'text-classification', source as Source, options as PipelineOptions);
      await made.dispose();
    };
    env.offline = true;
    await answered(load(value, files, { worker }));
    await answered(load('text-classification', value, { worker }));
    await answered(load('text-classification', files, value));
    await answered(load('text-classification', { ...files, 'config.json': value }, { worker }));
    const names = ['progress_callback', 'signal', 'device', 'dtype', 'threads', 'variant', 'revision', 'token'];
    for (const name of names) await answered(load('text-classification', files, { worker, [name]: value }));
    for (const name of Object.keys(kDefaults)) {
      Object.assign(env, kDefaults, { offline: true });
      await answered(
        (async () => Object.assign(env, { [name]: value }))().then(() => load('text-classification', 'user/model', { worker })),
      );
    }
  });

  test('a progress_callback that throws, at once or later, is what the load fails with; nothing is left behind', async () => {
    for (const when of ['initiate', 'progress', 'done', 'ready']) {
      const progress_callback = ({ status }: { status: string }) => {
        if (status === when) throw new TypeError(`not at ${when}`);
      };
      await expect(pipeline('text-classification', files, { worker, progress_callback })).rejects.toMatchObject({
        code: 'invalid_argument',
        message: `progress_callback failed: not at ${when}.`,
        cause: expect.any(TypeError),
      });
    }
    const later = async () => {
      throw new TypeError('later');
    };
    await answered(pipeline('text-classification', files, { worker, progress_callback: later }).then((made) => made.dispose()));
  });

  test('a view of a large buffer is sent without the rest of it', async () => {
    const large = new Uint8Array(50_000_000);
    const views: Record<string, Uint8Array> = {};
    let at = 0;
    for (const [name, bytes] of Object.entries(files)) {
      large.set(bytes, at);
      views[name] = large.subarray(at, at + bytes.length);
      at += bytes.length;
    }
    const before = process.memoryUsage().rss;
    const made = await pipeline('text-classification', views, { worker });
    expect(process.memoryUsage().rss - before).toBeLessThan(90e6);
    expect(views['config.json']!.length).toBe(files['config.json']!.length);
    await made.dispose();
  });

  test('what is aborted is an AbortError', async () => {
    await expect(classify('t1', { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError', code: 'aborted' });
    await expect(pipeline('text-classification', files, { worker, signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});

test('of a long message the middle is left out, and no half of a character stays', () => {
  for (let shift = 0; shift < 4; ++shift) {
    const { message } = new PeruseError('unsupported', `${'x'.repeat(shift)}${'\u{1f600}'.repeat(5000)}${'y'.repeat(shift % 2)} ends`);
    expect(message).toMatch(/^x*\u{1f600}+\.\.\.\u{1f600}+y? ends\.$/u);
    expect(message.length).toBeGreaterThan(990);
    expect(message.length).toBeLessThanOrEqual(1003);
  }
  expect(new PeruseError('unsupported', 'x'.repeat(999)).message).toBe(`${'x'.repeat(999)}.`);
});

test('a question and its context are two arguments', async () => {
  const { files: model } = await readTiny('bert-question');
  const answer = await pipeline('question-answering', model);
  await expect((answer as unknown as (one: object) => Promise<unknown>)({ question: 't1', context: 't2' })).rejects.toMatchObject({
    message: 'question-answering takes two arguments: answer(question, context), not answer({ question, context }).',
  });
  await answer[Symbol.asyncDispose]();
  await expect(answer('t1', 't2')).rejects.toMatchObject({ code: 'disposed' });
});

test('progress of all files together rises once', async () => {
  const seen: number[] = [];
  const made = await pipeline('text-classification', files, {
    progress_callback: (progress) => {
      if (progress.status === 'progress') seen.push(progress.overall.progress);
    },
  });
  await made.dispose();
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen[0]).toBe(0);
  expect(seen.at(-1)).toBe(100);
});
