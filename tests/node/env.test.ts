import { afterEach, describe, expect, test } from 'vitest';
import { env, envNotices } from '../../web/src/env.js';
import { checkOptions, type OptionKind } from '../../web/src/options.js';

const kDefaults = { ...env };
afterEach(() => {
  Object.assign(env, kDefaults);
});
const loose = env as unknown as Record<string, unknown>;

describe('env', () => {
  test.each([
    ['HF_TOKEN', 'Use token'],
    ['remoteURL', 'Use remoteHost'],
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
    ['cacheFolder', ' '],
    ['filesPath', 1],
    ['threads', 0],
    ['threads', 'many'],
    ['threads', 17],
    ['threads', Symbol('x')],
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
    Object.assign(env, { token: null, cache, threads: '4', filesPath: new URL('http://x/'), localModelPath: undefined });
    expect(env).toMatchObject({ token: undefined, cache, threads: 4 });
    expect(Object.keys(env)).toEqual(Object.keys(kDefaults));
  });
});

describe('names of transformers.js', () => {
  const before = new Set(envNotices());
  const noticesSince = () => envNotices().filter((sentence) => !before.has(sentence));
  afterEach(() => {
    Object.assign(env, { useCustomCache: false, customCache: null, useFSCache: true, useBrowserCache: true, allowLocalModels: true });
    for (const sentence of envNotices()) before.add(sentence);
  });

  test('allowRemoteModels is the opposite of offline, with a notice', () => {
    env.allowRemoteModels = false;
    expect(env.offline).toBe(true);
    expect(env.allowRemoteModels).toBe(false);
    expect(noticesSince()).toEqual([expect.stringContaining('env.offline')]);
    env.allowRemoteModels = true;
    expect(env.offline).toBe(false);
  });

  test('the cache of Node and a custom cache set env.cache; that of browsers does nothing here', () => {
    env.useBrowserCache = false;
    expect(env.cache).toBe(true);
    env.useFSCache = false;
    expect(env.cache).toBe(false);
    const cache = { match: async () => undefined, put: async () => {} };
    env.customCache = cache;
    expect(env.cache).toBe(false);
    env.useCustomCache = true;
    expect(env.cache).toBe(cache);
    env.useCustomCache = false;
    env.useFSCache = true;
    expect(env.cache).toBe(true);
    expect(() => Object.assign(env, { useCustomCache: true, customCache: {} })).toThrow('env.cache must be');
    expect(env.customCache).toBe(cache);
  });

  test('cacheDir, threads and local models have counterparts', () => {
    env.cacheDir = './kept';
    expect(env.cacheFolder).toBe('./kept');
    env.backends.onnx.wasm.numThreads = 2;
    expect(env.threads).toBe(2);
    expect(env.backends.onnx.wasm.numThreads).toBe(2);
    env.backends.onnx.wasm.numThreads = 0;
    expect(env.threads).toBe('auto');
    env.backends.onnx.wasm.numThreads = 3 / 2; // half of the processors
    expect(env.threads).toBe(2);
    env.backends.onnx.wasm.numThreads = Number.NaN; // navigator.hardwareConcurrency is missing
    expect(env.threads).toBe('auto');
    env.allowLocalModels = false;
    expect(env.allowLocalModels).toBe(false);
    expect(noticesSince()).toEqual([]);
  });

  test('what has no counterpart is ignored, with one notice each', () => {
    env.backends.onnx.wasm.wasmPaths = '/wasm/';
    env.backends.onnx.wasm.wasmPaths = '/wasm/';
    Object.assign(env.backends.onnx, { logLevel: 'verbose', webgpu: { powerPreference: 'low-power' } });
    env.logLevel = 30;
    expect(env.filesPath).toBeUndefined();
    expect(env.backends.onnx.webgpu.powerPreference).toBe('low-power');
    env.backends.onnx.webgl.pack = false;
    expect(noticesSince().map((sentence) => sentence.split(' ')[0])).toEqual([
      'env.backends.onnx.wasm.wasmPaths',
      'env.backends.onnx.logLevel',
      'env.backends.onnx.webgpu.powerPreference',
      'env.logLevel',
      'env.backends.onnx.webgl.pack',
    ]);
  });

  test.each(['resolve/main/', '{model}/{file}', '{revision}/{model}', '{model}/{model}', 7])(
    'remotePathTemplate cannot be %s',
    (template) => {
      expect(() => {
        loose.remotePathTemplate = template;
      }).toThrow(expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining('a path with {model}') }));
    },
  );

  test('its names are in it, and it has the version that they are of', () => {
    expect(env.version).toMatch(/^4\.\d+\.\d+$/);
    expect(['backends', 'useFSCache', 'remoteHost', 'nonsense'].map((name) => name in env)).toEqual([true, true, true, false]);
  });

  test.each(['allowRemoteModels', 'allowLocalModels', 'useFSCache', 'useCustomCache'])('%s must be true or false', (name) => {
    expect(() => {
      loose[name] = 'yes';
    }).toThrow(`env.${name} must be true or false, not 'yes'.`);
  });
});

describe('load options', () => {
  const kinds: Record<string, OptionKind> = {
    device: ['cpu', 'gpu', 'auto'],
    worker: 'boolean',
    token: 'string',
    progress_callback: 'function',
    signal: 'signal',
  };
  const schema = Object.fromEntries(Object.entries(kinds).map(([name, kind]) => [name, { kind }]));
  const check = (given: unknown) => checkOptions(given as object, schema);
  test.each([
    [{ divice: 'cpu' }, "no option 'divice'. It has device, worker"],
    [{ auth_token: 'x' }, 'what you mean may be token'],
    [{ device: 'tpu' }, "device must be 'cpu', 'gpu' or 'auto', not 'tpu'"],
    [{ worker: 'no' }, "worker must be true or false, not 'no'"],
    [{ token: 7 }, 'token must be a string, not 7'],
    [{ progress_callback: 'x' }, "progress_callback must be a function, not 'x'"],
    [{ signal: { aborted: true } }, 'signal must be an AbortSignal, not an object'],
    [{ signal: null }, 'signal must be an AbortSignal, not null'],
    [null, 'must be an object, not null'],
    ['x', "must be an object, not 'x'"],
  ])('%o is refused', (given, message) => {
    expect(() => check(given)).toThrow(expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining(message) }));
  });

  test('what is undefined counts as not given', () => {
    expect(check({ device: 'cpu', worker: undefined })).toEqual({ device: 'cpu' });
    expect(check({ device: null, progress_callback: null })).toEqual({});
  });
});
