// The library's settings, and the load options: those that exist, of their types; all else is refused by name.
import { afterEach, describe, expect, test } from 'vitest';
import { env, envNotices } from '../../web/src/env.js';
import { checkLoadOptions } from '../../web/src/load_options.js';

const kDefaults = { ...env };
afterEach(() => {
  Object.assign(env, kDefaults);
});
const loose = env as unknown as Record<string, unknown>;

describe('env', () => {
  test.each([
    ['cacheDir', 'cacheFolder'],
    ['useBrowserCache', 'cache'],
    ['backends', 'threads and wasmPath'],
    ['nonsense', 'remoteHost'],
    ['__proto__', 'It has'],
    ['toString', 'It has'],
  ])('has no %s, and says what there is', (name, instead) => {
    expect(() => {
      loose[name] = './x';
    }).toThrow(expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(instead) }));
  });

  test.each([
    ['remoteHost', 7],
    ['remoteHost', null],
    ['localModelPath', {}],
    ['token', 5],
    ['offline', 'false'],
    ['cache', {}],
    ['cache', null],
    ['cache', { match: () => undefined }],
    ['cache', 'x'],
    ['cacheFolder', 1],
    ['wasmPath', 1],
    ['threads', 0],
    ['threads', 'many'],
    ['threads', 17],
    ['threads', Symbol('x')],
    ['debug', 'console'],
    ['debug', Object.create(null)],
  ])('%s can not be %s', (name, value) => {
    expect(() => {
      loose[name] = value;
    }).toThrow(
      expect.objectContaining({ name: 'PeruseError', code: 'invalid_argument', message: expect.stringContaining(`env.${name} must be`) }),
    );
    expect(env).toEqual(kDefaults);
  });

  test('takes what is right', () => {
    const cache = { match: async () => undefined, put: async () => {} };
    Object.assign(env, { token: null, cache, threads: '4', debug: () => {}, wasmPath: new URL('http://x/'), localModelPath: undefined });
    expect(env).toMatchObject({ token: undefined, cache, threads: 4 });
    expect(Object.keys(env)).toEqual(Object.keys(kDefaults));
  });

  test("transformers.js' allowRemoteModels means what it says, with a notice", () => {
    loose.allowRemoteModels = false;
    expect(env.offline).toBe(true);
    expect(loose.allowRemoteModels).toBe(false);
    expect(envNotices()).toEqual([expect.stringContaining('env.offline')]);
    loose.allowRemoteModels = true;
    expect(env.offline).toBe(false);
  });
});

describe('load options', () => {
  const kinds = { device: 'other', worker: 'boolean', token: 'string', progress_callback: 'function', signal: 'signal' } as const;
  const check = (given: unknown) => checkLoadOptions(given as Partial<Record<keyof typeof kinds, unknown>>, kinds as never);
  test.each([
    [{ divice: 'cpu' }, "no option 'divice'. It has device, worker"],
    [{ quantized: true }, "what you mean may be dtype: 'q8'"],
    [{ worker: 'no' }, "worker must be true or false, not 'no'"],
    [{ token: 7 }, 'token must be a string, not 7'],
    [{ progress_callback: 'x' }, "progress_callback must be a function, not 'x'"],
    [{ signal: { aborted: true } }, 'signal must be an AbortSignal, not [object Object]'],
    [{ signal: null }, 'signal must be an AbortSignal, not null'],
    [null, 'must be an object, not null'],
    ['x', "must be an object, not 'x'"],
  ])('%o is refused', (given, message) => {
    expect(() => check(given)).toThrow(expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(message) }));
  });

  test('what is undefined counts as not given', () => {
    expect(check({ device: 'cpu', worker: undefined })).toEqual({ device: 'cpu' });
  });
});
