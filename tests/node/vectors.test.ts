// Expected values are computed by hand from the formulas of transformers.js and sentence-transformers.
import { describe, expect, test } from 'vitest';
import { cos_sim, dot, mean_pooling, packBits } from '../../web/src/tasks/vectors.js';

describe('dot and cos_sim', () => {
  test('of lists and typed arrays', () => {
    expect(dot([1, 2, 3], new Float32Array([4, -5, 6]))).toBe(12);
    expect(cos_sim([3, 4], [4, 3])).toBeCloseTo(24 / 25, 12);
    expect(cos_sim([1, 0], [-2, 0])).toBe(-1);
  });
  test('of vectors of different lengths are refused', () => {
    expect(() => cos_sim([1], [1, 2])).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  });
});

describe('mean_pooling', () => {
  const data = new Float32Array([1, 10, 3, 20, 100, 100, /* second text */ 5, 50, 7, 70, 9, 90]);
  test('leaves out masked tokens', () => {
    const { dims, data: means } = mean_pooling(
      { dims: [2, 3, 2], data },
      { dims: [2, 3], data: new BigInt64Array([1n, 1n, 0n, 1n, 1n, 1n]) },
    );
    expect({ dims, means: [...means] }).toEqual({ dims: [2, 2], means: [2, 15, 7, 70] });
  });
  test('takes one text without a mask', () => {
    expect(mean_pooling({ dims: [2, 2], data: data.subarray(0, 4) }).tolist()).toEqual([[2, 15]]);
  });
  test('refuses what does not fit', () => {
    expect(() => mean_pooling({ dims: [4], data: data.subarray(0, 4) })).toThrow('not [4]');
    expect(() => mean_pooling({ dims: [2, 3, 2], data }, { dims: [3], data: [1, 1, 1] })).toThrow('need 6');
  });
});

describe('packed bits', () => {
  const rows = { dims: [2, 8], data: new Float32Array([1, -1, 0, 2, -3, 4, 5, -6, -1, -1, -1, -1, -1, -1, -1, 1]) };
  test('are 1 above zero, the first number highest', () => {
    const { dims, data } = packBits(rows, 'ubinary');
    expect(dims).toEqual([2, 1]);
    expect(data).toEqual(new Uint8Array([0b10010110, 1]));
  });
  test('are 128 less with a sign', () => {
    expect(packBits(rows, 'binary').data).toEqual(new Int8Array([0b10010110 - 128, 1 - 128]));
  });
  test('need a multiple of eight', () => {
    expect(() => packBits({ dims: [1, 7], data: new Float32Array(7) }, 'binary')).toThrow('multiple of 8');
  });
});
