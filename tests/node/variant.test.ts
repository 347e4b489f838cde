import { describe, expect, test, vi } from 'vitest';
import { chooseThreads, chooseVariant, detectFeatures, type Features } from '../../web/src/engine/variant.js';

const kAll: Features = {
  wasm: true,
  simd: true,
  relaxedSimd: true,
  threads: true,
  sharedMemory: true,
  mayBlock: true,
  processors: 8,
};

describe('chooseVariant without a wish', () => {
  test('takes relaxed SIMD and four threads where everything is there', () => {
    const choice = chooseVariant(kAll);
    expect(choice).toMatchObject({ variant: 'relaxed-threads', threads: 4 });
    expect(choice.reason).toBe('relaxed SIMD; 4 threads for 8 processors.');
  });

  test('says why there is no relaxed SIMD', () => {
    const choice = chooseVariant({ ...kAll, relaxedSimd: false });
    expect(choice.variant).toBe('simd-threads');
    expect(choice.reason).toContain('this engine has no relaxed SIMD');
  });

  test('says which headers are missing where the page is not isolated', () => {
    const choice = chooseVariant({ ...kAll, sharedMemory: false });
    expect(choice).toMatchObject({ variant: 'relaxed', threads: 1 });
    expect(choice.reason).toContain('Cross-Origin-Opener-Policy: same-origin');
    expect(choice.reason).toContain('Cross-Origin-Embedder-Policy: require-corp');
  });

  test.each([
    [{ threads: false }, 'no WebAssembly threads'],
    [{ mayBlock: false }, 'main thread'],
    [{ processors: 1 }, '1 thread for 1 processor.'],
  ] as const)('uses one thread given %o', (lack, reason) => {
    const choice = chooseVariant({ ...kAll, ...lack });
    expect(choice).toMatchObject({ variant: 'relaxed', threads: 1 });
    expect(choice.reason).toContain(reason);
  });
});

describe('chooseVariant, threads', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
    [4, 2],
    [6, 3],
    [8, 4],
    [64, 4],
  ])('for %i processors, %i threads', (processors, threads) => {
    expect(chooseVariant({ ...kAll, processors }).threads).toBe(threads);
  });
});

describe('chooseVariant with a wish', () => {
  test('takes the variant and the threads that were asked for', () => {
    expect(chooseVariant(kAll, { variant: 'simd' })).toMatchObject({ variant: 'simd', threads: 1 });
    expect(chooseVariant(kAll, { variant: 'simd-threads', threads: 3 })).toMatchObject({ variant: 'simd-threads', threads: 3 });
    expect(chooseVariant(kAll, { threads: 1 })).toMatchObject({ variant: 'relaxed', threads: 1 });
    expect(chooseVariant(kAll, { threads: 6 })).toMatchObject({ variant: 'relaxed-threads', threads: 6 });
  });

  test('a number in text is a number; what is not is quoted', () => {
    expect(chooseVariant(kAll, { threads: '3' as unknown as number })).toMatchObject({ threads: 3 });
    expect(() => chooseVariant(kAll, { threads: 'many' as unknown as number })).toThrow("not 'many'.");
    expect(() => chooseVariant(kAll, { threads: '99' as unknown as number })).toThrow('not 99.');
  });

  test('a ceiling is no demand', () => {
    expect(chooseVariant({ ...kAll, processors: 8 }, {}, 3)).toMatchObject({
      threads: 3,
      reason: expect.stringContaining('at most 3 by env.threads'),
    });
    expect(chooseVariant({ ...kAll, processors: 2 }, {}, 16).threads).toBe(2);
    expect(chooseVariant({ ...kAll, sharedMemory: false }, {}, 4)).toMatchObject({ variant: 'relaxed', threads: 1 });
    expect(chooseVariant(kAll, { variant: 'simd' }, 4).threads).toBe(1);
    expect(chooseVariant({ ...kAll, processors: 8 }, { variant: 'simd-threads' }, 3).threads).toBe(3);
    expect(chooseVariant(kAll, { threads: 6 }, 2).threads).toBe(6);
  });

  test.each([
    [{ wasm: false }, {}, 'no_wasm'],
    [{ simd: false }, {}, 'no_wasm'],
    [{ relaxedSimd: false }, { variant: 'relaxed' }, 'unsupported'],
    [{ sharedMemory: false }, { variant: 'simd-threads' }, 'unsupported'],
    [{ sharedMemory: false }, { threads: 2 }, 'unsupported'],
    [{}, { variant: 'fastest' }, 'invalid_argument'],
    [{}, { threads: 0 }, 'invalid_argument'],
    [{}, { threads: 1.5 }, 'invalid_argument'],
    [{}, { threads: 99 }, 'invalid_argument'],
    [{}, { threads: Number.NaN }, 'invalid_argument'],
    [{}, { variant: 'simd', threads: 2 }, 'invalid_argument'],
  ])('given %o, refuses %o with %s', (lack, wish, code) => {
    expect(() => chooseVariant({ ...kAll, ...lack }, wish as object)).toThrow(expect.objectContaining({ code }));
  });
});

describe('chooseThreads, where plain SIMD is all there is', () => {
  test.each([
    [{}, undefined, undefined, 4, '4 threads for 8 processors.'],
    [{ relaxedSimd: false }, 'auto', 2, 2, '2 threads for 8 processors, at most 2 by env.threads.'],
    [{}, 3, 1, 3, '3 threads, as asked for.'],
    [
      { mayBlock: false },
      1,
      undefined,
      1,
      'one thread, because the main thread of a page may not wait for other threads (use the worker).',
    ],
  ] as const)('%o, asked for %s, at most %s: %i', (lack, wish, most, threads, reason) => {
    expect(chooseThreads({ ...kAll, ...lack }, wish, most)).toEqual({ threads, reason });
  });

  test('refuses what chooseVariant refuses', () => {
    expect(() => chooseThreads({ ...kAll, simd: false }, 'auto')).toThrow(/no SIMD here/);
    expect(() => chooseThreads({ ...kAll, sharedMemory: false }, 2)).toThrow(/2 threads were requested, but the page is not/);
    expect(() => chooseThreads(kAll, 17)).toThrow(/threads must be 'auto' or a whole number from 1 to 16, not 17/);
  });
});

test('detectFeatures finds what every supported Node has', () => {
  const features = detectFeatures({ inWorker: true, processors: 2, sharedMemory: true });
  expect(features).toMatchObject({ wasm: true, simd: true, threads: true, sharedMemory: true, processors: 2 });
  expect(features.relaxedSimd).toBe(Number(process.versions.node.split('.')[0]) >= 22);
});

test('memory is shared only if the place allows it and the runtime has it', () => {
  const shared = (sharedMemory: boolean) => detectFeatures({ inWorker: true, processors: 2, sharedMemory }).sharedMemory;
  expect([shared(true), shared(false)]).toEqual([true, false]);
  vi.stubGlobal('SharedArrayBuffer', undefined);
  expect([shared(true), shared(false)]).toEqual([false, false]);
  vi.unstubAllGlobals();
});

test('detectFeatures takes nonsense for one processor', () => {
  expect(detectFeatures({ inWorker: true, processors: Number.NaN, sharedMemory: true }).processors).toBe(1);
});
