// Tensor has the members and results of transformers.js's (golden values: @huggingface/transformers 4.3.1, tests/reference/make_tensor_goldens.mjs).
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Tensor, type TensorSlice, type TensorType } from '../../web/src/tensor.js';

interface Golden {
  type: TensorType;
  data: number[];
  dims: number[];
  calls: { call: 'mean' | 'normalize' | 'sigmoid' | 'slice'; given: unknown[]; dims: number[]; data: number[] }[];
  list: unknown;
}
const goldens = JSON.parse(readFileSync(new URL('../fixtures/tensor.json', import.meta.url), 'utf8')) as Golden[];

test.each(goldens)('the results of transformers.js: $type $dims', ({ type, data, dims, calls, list }) => {
  const tensor = new Tensor(type, data, dims);
  expect(tensor.tolist<unknown>()).toEqual(list);
  for (const { call, given, dims: wanted, data: values } of calls) {
    const found =
      call === 'slice' ? tensor.slice(...(given as TensorSlice[])) : (tensor[call] as (...given: unknown[]) => Tensor).apply(tensor, given);
    expect(found.dims, `${call}(${JSON.stringify(given)})`).toEqual(wanted);
    expect(found.size).toBe(values.length);
    for (const [i, value] of values.entries()) expect(found.data[i]).toBeCloseTo(value, 6);
  }
});

describe('rows', () => {
  const tensor = new Tensor('float32', [1, 2, 3, 4, 5, 6], [3, 2]);
  test('are views, by index, from the end, and one after the other', () => {
    expect(tensor[1]!.tolist<number[]>()).toEqual([3, 4]);
    expect(tensor[-1]!.tolist<number[]>()).toEqual([5, 6]);
    expect([...tensor].map((row) => row.tolist<number[]>())).toEqual(tensor.tolist());
    tensor[0]!.data[1] = 20;
    expect(tensor.data[1]).toBe(20);
    expect(tensor[2]![0]!.item()).toBe(5);
    expect([...tensor[2]!]).toEqual([5, 6]);
    expect([tensor.length, tensor[0]!.length, new Tensor('float32', [], [0, 4]).length, new Tensor('float32', [1], []).length]).toEqual([
      3, 2, 0, 0,
    ]);
  });
  test('that do not exist throw', () => {
    expect(() => tensor[3]).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
    expect((tensor as unknown as Record<string, unknown>).then).toBeUndefined();
  });
});

test('softmax along each dimension', () => {
  const tensor = new Tensor('float32', [1, 2, 3, 1, 2, 4], [2, 3]);
  const exps = [1, 2, 3].map(Math.exp);
  const sum = exps.reduce((total, value) => total + value);
  for (const [i, value] of exps.entries()) expect(tensor.softmax().data[i]).toBeCloseTo(value / sum, 6);
  expect(tensor.softmax(0).data[0]).toBeCloseTo(0.5, 6);
  expect(tensor.softmax(0).data[2]).toBeCloseTo(1 / (1 + Math.E), 6);
});

test('whole numbers are bigints in lists', () => {
  const ids = new Tensor<BigInt64Array>('int64', [101n, 102n], [1, 2]);
  expect(ids.tolist()).toEqual([[101n, 102n]]);
  expect(ids[0]![1]!.item()).toBe(102n);
  expect(new Tensor<BigInt64Array>('int64', [101, 102]).tolist<bigint[]>()).toEqual([101n, 102n]);
  expect(new Tensor('float32', [1n, 2]).tolist<number[]>()).toEqual([1, 2]);
});

test('what does not fit is refused', () => {
  const refused = expect.objectContaining({ code: 'invalid_argument' });
  expect(() => new Tensor('float32', [1, 2, 3], [2, 2])).toThrow(refused);
  expect(() => new Tensor('string' as never, [1])).toThrow(refused);
  expect(() => new Tensor('int64', [1.5])).toThrow(refused);
  expect(() => new Tensor('int64', new Float32Array(1))).toThrow('A tensor of type int64 needs a BigInt64Array, not a Float32Array.');
  expect(() => new Tensor('float32', [1, 2]).item()).toThrow(refused);
  expect(() => new Tensor('float32', [1, 2]).mean(1)).toThrow(refused);
  expect(() => new Tensor('float32', [1, 2]).slice(2)).toThrow(refused);
  expect(() => new Tensor('float32', [1, 2]).slice([2, 1])).toThrow(refused);
});

test('can be sent to another thread, and disposed of', () => {
  const tensor = new Tensor('float32', [1, 2], [1, 2]);
  expect(structuredClone(tensor)).toEqual({ type: 'float32', data: tensor.data, dims: [1, 2] });
  tensor.dispose();
});
