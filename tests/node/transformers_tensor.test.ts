// The other methods of Tensor and functions on tensors in peruse/transformers have the results of transformers.js (golden values:
// @huggingface/transformers 4.3.1, tests/reference/make_tensor_goldens.mjs).
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as transformers from '../../web/dist/transformers/index_node.js';

const { cat, matmul, permute, quantize_embeddings, slice, Tensor } = transformers;
type Plain = { type: string; dims: number[]; data: number[] };
type Given = (number | string | null | number[])[];
const goldens = JSON.parse(readFileSync(new URL('../fixtures/tensor_methods.json', import.meta.url), 'utf8')) as {
  dims: number[];
  data: number[];
  methods: { call: string; given: Given; result: Plain }[];
  functions: { call: string; given: Given; dims?: number[]; results: Plain[] }[];
  whole: { call: string; given: Given; result: Plain }[];
};
const numbers = (count: number) => Array.from({ length: count }, (_, i) => ((i * 37) % 23) / 4 - 2.5);
const floats = (data: number[], dims?: number[]) => new Tensor<Float32Array>('float32', data, dims);
const tensor = () => floats(goldens.data, goldens.dims);
const refused = expect.objectContaining({ code: 'invalid_argument' });

type Call = (...given: unknown[]) => transformers.Tensor;
const call = (on: object, name: string, given: readonly unknown[]) => (on as Record<string, Call>)[name]!(...given);

function expectEqual({ type, dims, data }: Omit<Plain, 'data'> & { data: ArrayLike<number | bigint> }, wanted: Plain): void {
  expect({ type, dims }).toEqual({ type: wanted.type, dims: wanted.dims });
  expect(data).toHaveLength(wanted.data.length);
  for (const [i, value] of wanted.data.entries()) expect(Number(data[i])).toBeCloseTo(value, 5);
}

test.each(goldens.methods)('$call($given)', ({ call: name, given, result }) => {
  const own = tensor();
  const found = call(own, name, given);
  expectEqual(found, result);
  expect(found === own).toBe(name.endsWith('_'));
  if (!name.endsWith('_')) expectEqual(own, { type: 'float32', ...goldens }); // unchanged
});

test.each(goldens.whole)('whole numbers: $call($given)', ({ call: name, given, result }) => {
  const ids = new Tensor<BigInt64Array>('int64', [3n, 1n, 2n, 0n], [2, 2]);
  const parsed = given.map((one) => (typeof one === 'string' && one.endsWith('n') ? BigInt(one.slice(0, -1)) : one));
  expectEqual(call(ids, name, parsed), result);
});

test.each(goldens.functions)('function $call($given)', async ({ call: name, given, dims = goldens.dims, results }) => {
  const input = floats(numbers(dims.reduce((size, length) => size * length, 1)), dims);
  const joined = name === 'cat' || name === 'stack' ? [input, input.mul(2)] : input;
  const found = [await call(transformers, name, [joined, ...given])].flat() as Pick<transformers.Tensor, 'type' | 'dims' | 'data'>[];
  expect(found).toHaveLength(results.length);
  for (const [i, one] of found.entries()) expectEqual(one, results[i]!);
});

describe('what has no result', () => {
  test.each<[string, () => unknown]>([
    ['dimensions that are missing', () => tensor().permute(0, 1)],
    ['a dimension twice', () => permute(tensor(), [0, 1, 1])],
    ['a dimension that is not there', () => tensor().sum(3)],
    ['too few repeats', () => tensor().repeat(2)],
    ['a view of another size', () => tensor().view(5, -1)],
    ['a fraction and whole numbers', () => new Tensor('int64', [1n]).mul(1.5)],
    ['whole numbers by zero', () => new Tensor('int64', [1n]).remainder(0)],
    ['no tensors', () => cat([])],
    ['tensors that differ', () => cat([tensor(), floats([1], [1, 1, 1])])],
    ['an unknown precision', () => quantize_embeddings(floats(numbers(8), [1, 8]), 'int8' as never)],
  ])('%s', (_, use) => expect(use).toThrow(refused));

  test('steps', async () => {
    await expect(slice(tensor(), [0], [2], [0], [2])).rejects.toMatchObject({ code: 'unsupported' });
  });
});

test('similarities of embeddings, as model cards compute them', async () => {
  const rows = floats([1, 0, 0.6, 0.8, 0, 1], [3, 2]);
  const scores = await matmul(rows.slice([0, 1]), rows.slice([1, null]).transpose(1, 0));
  expect(scores.mul(100).round().tolist()).toEqual([[60, 0]]);
});

test('argmax along a dimension, and tensors that pipelines return', async () => {
  expect(tensor().argmax(1).dims).toEqual([2, 4]);
  expect(tensor().squeeze(0).dims).toEqual([2, 3, 4]);
  expect(tensor().unsqueeze(0).squeeze(0).dims).toEqual([2, 3, 4]);
  const mapped = tensor().map((value, index) => value + index);
  expect(mapped.data[3]).toBe(goldens.data[3]! + 3);
  const embed = await transformers.pipeline('feature-extraction', 'tests/fixtures/sentence/mean', { worker: false });
  const found = await embed(['A text.', 'Another.'], { pooling: 'mean', normalize: true });
  const own = await matmul(found, found.transpose(1, 0));
  expect(own.dims).toEqual([2, 2]);
  expect(own.data[0]).toBeCloseTo(1, 5);
  await embed.dispose();
});
