// Functions on tensors and lists of numbers, with the names and results of transformers.js.
import { type BinaryPrecision, PeruseError, Tensor } from '../face.js';
import { packBits } from '../tasks/vectors.js';
import { permute, std_mean } from './tensor_methods.js';

export { permute, std_mean };

/** Joins tensors along a dimension. */
export function cat(tensors: readonly Tensor[], dim = 0): Tensor {
  const [first] = tensors;
  if (first === undefined) throw new PeruseError('invalid_argument', 'cat() and stack() need at least one tensor.');
  const at = dim < 0 ? dim + first.dims.length : dim;
  const others = ({ type, dims }: Tensor) => `${type} ${dims.map((length, i) => (i === at ? '' : length))}`;
  if (!(at in first.dims) || tensors.some((one) => others(one) !== others(first))) {
    throw new PeruseError('invalid_argument', `cat() needs tensors of one type with the same dimensions, except dimension ${dim}.`);
  }
  const lengths = tensors.map((one) => one.dims[at]!);
  const dims = first.dims.map((length, i) => (i === at ? lengths.reduce((sum, one) => sum + one, 0) : length));
  const joined = new Tensor(first.type, new (first.data.constructor as Float32ArrayConstructor)(sizeOf(dims)), dims);
  const inner = sizeOf(dims.slice(at + 1));
  let start = 0;
  for (const [index, { data }] of tensors.entries()) {
    const width = lengths[index]! * inner;
    for (let from = 0, to = start; from < data.length; from += width, to += dims[at]! * inner) {
      joined.data.set(data.subarray(from, from + width), to);
    }
    start += width;
  }
  return joined;
}

/** Joins tensors along a new dimension. */
export function stack(tensors: readonly Tensor[], dim = 0): Tensor {
  return cat(
    tensors.map((one) => one.unsqueeze(dim)),
    dim,
  );
}

/** The mean of all numbers, or along a dimension. */
export function mean(input: Tensor, dim: number | null = null, keepdim = false): Tensor {
  return input.mean(dim, keepdim);
}

/** The `k` largest numbers along the last dimension, and their indices. Default: all. */
export async function topk(x: Tensor, k?: number | null): Promise<[values: Tensor, indices: Tensor<BigInt64Array>]> {
  const width = x.dims.at(-1) ?? 1;
  const count = Math.min(k ?? width, width);
  const rows = Array.from({ length: x.size / width }, (_, row) => row * width);
  const order = rows.flatMap((start) => {
    const own = Array.from({ length: width }, (_, i) => i);
    return own.sort((i, j) => x.data[start + j]! - x.data[start + i]!).slice(0, count);
  });
  const dims = [...x.dims.slice(0, -1), count];
  const values = order.map((index, i) => x.data[rows[Math.floor(i / count)]! + index]!);
  return [new Tensor<Float32Array>(x.type, values, dims), new Tensor<BigInt64Array>('int64', order, dims)];
}

/** Copies the part from `starts` to `ends` of the dimensions in `axes`. */
export async function slice(
  data: Tensor,
  starts: readonly number[],
  ends: readonly number[],
  axes: readonly number[],
  steps?: readonly number[],
): Promise<Tensor> {
  if (steps?.some((step) => step !== 1)) throw new PeruseError('unsupported', 'slice() supports steps of 1 only.');
  const ranges = data.dims.map((_, at) => {
    const given = axes.findIndex((axis) => (axis < 0 ? axis + data.dims.length : axis) === at);
    return given < 0 ? null : ([starts[given]!, ends[given]!] as const);
  });
  return data.slice(...ranges);
}

/** Packs the signs of [rows, numbers] to [rows, numbers / 8], as `quantize: true` does. */
export function quantize_embeddings(tensor: Tensor, precision: BinaryPrecision): Tensor<Int8Array | Uint8Array> {
  if (precision !== 'binary' && precision !== 'ubinary') {
    throw new PeruseError('invalid_argument', "The precision must be 'binary' or 'ubinary'.");
  }
  return packBits(tensor, precision);
}

function sizeOf(dims: readonly number[]): number {
  return dims.reduce((size, length) => size * length, 1);
}

/** A list of numbers. */
export type NumberList = readonly number[] | Float32Array | Float64Array;

/** A list of the same type. */
export type SameList<L> = L extends readonly number[] ? number[] : L;

/** The softmax of a list, as a list of the same type. */
export function softmax<L extends NumberList>(numbers: L): SameList<L> {
  if (numbers instanceof Tensor)
    throw new PeruseError('invalid_argument', 'softmax() takes a list: pass tensor.data, or call tensor.softmax().');
  const values = Array.from(numbers);
  const most = values.reduce((largest, value) => Math.max(largest, value), -Infinity); // a vocabulary has too many for arguments
  const powers = values.map((value) => Math.exp(value - most));
  const sum = powers.reduce((total, value) => total + value, 0);
  return likeList(
    numbers,
    powers.map((value) => value / sum),
  );
}

function likeList<L>(list: L, values: number[]): SameList<L> {
  return (Array.isArray(list) ? values : (list as Float32Array).map((_, i) => values[i]!)) as never;
}

/** Subtracts the mean of each row of [rows, numbers], and divides the row by its standard deviation plus `eps`. */
export function layer_norm(input: Tensor, normalized_shape: readonly number[], { eps = 1e-5 }: { eps?: number } = {}): Tensor {
  const [rows = 0, width = 0] = input.dims;
  if (input.dims.length !== 2 || normalized_shape.length !== 1 || normalized_shape[0] !== width) {
    throw new PeruseError(
      'invalid_argument',
      `layer_norm takes [rows, numbers] and [numbers], not [${input.dims}] and [${normalized_shape}].`,
    );
  }
  const data = new Float32Array(input.size);
  for (let row = 0; row < rows; ++row) {
    const own = input.data.subarray(row * width, (row + 1) * width);
    const mean = own.reduce((sum, value) => sum + value, 0) / width;
    const deviation = Math.sqrt(own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width);
    for (const [i, value] of own.entries()) data[row * width + i] = (value - mean) / (deviation + eps);
  }
  return new Tensor('float32', data, input.dims);
}

/** The product of two matrices. */
export async function matmul(a: Tensor, b: Tensor): Promise<Tensor> {
  const [rows = 0, inner = 0] = a.dims;
  const [height = 0, columns = 0] = b.dims;
  if (a.dims.length !== 2 || b.dims.length !== 2 || inner !== height) {
    throw new PeruseError('invalid_argument', `matmul takes [m, k] and [k, n], not [${a.dims}] and [${b.dims}].`);
  }
  const data = new Float32Array(rows * columns);
  for (let i = 0; i < data.length; ++i) {
    let sum = 0;
    for (let k = 0; k < inner; ++k) sum += a.data[Math.floor(i / columns) * inner + k]! * b.data[k * columns + (i % columns)]!;
    data[i] = sum;
  }
  return new Tensor('float32', data, [rows, columns]);
}

/** The logarithms of a list's softmax. */
export function log_softmax<L extends NumberList>(numbers: L): SameList<L> {
  return softmax(numbers).map((value) => Math.log(value)) as never;
}

/** The largest number of a list, and its index. */
export function max<N extends number | bigint>(numbers: ArrayLike<N>): [value: N, index: number] {
  return first(numbers, (one, other) => one > other);
}

/** The smallest number of a list, and its index. */
export function min<N extends number | bigint>(numbers: ArrayLike<N>): [value: N, index: number] {
  return first(numbers, (one, other) => one < other);
}

function first<N>(numbers: ArrayLike<N>, isBefore: (one: N, other: N) => boolean): [value: N, index: number] {
  if (numbers.length === 0) throw new PeruseError('invalid_argument', 'The list must not be empty.');
  let index = 0;
  for (let i = 1; i < numbers.length; ++i) if (isBefore(numbers[i]!, numbers[index]!)) index = i;
  return [numbers[index]!, index];
}

/** The number with this many decimals. */
export function round(number: number, decimals: number): number {
  return Math.round(number * 10 ** decimals) / 10 ** decimals;
}

/** Version 2's `topk`: the indices and numbers of a list, the largest first; all with `top_k` 0. */
export function getTopItems(numbers: ArrayLike<number>, top_k = 0): [index: number, value: number][] {
  const items = Array.from(numbers, (value, index): [number, number] => [index, value]).sort(([, one], [, other]) => other - one);
  return top_k > 0 ? items.slice(0, top_k) : items;
}

/** A tensor of one value: 'float32' of a number, 'int64' of a bigint, 'bool' of a boolean. */
export function full(size: readonly number[], fill_value: number | bigint | boolean): Tensor {
  const count = size.reduce((all, one) => all * one, 1);
  const type = typeof fill_value === 'bigint' ? 'int64' : typeof fill_value === 'boolean' ? 'bool' : 'float32';
  const value = typeof fill_value === 'boolean' ? Number(fill_value) : fill_value;
  return new Tensor(type, Array<number | bigint>(count).fill(value), size) as Tensor;
}

/** A tensor of one value with the dimensions of another. */
export function full_like(tensor: Pick<Tensor, 'dims'>, fill_value: number | bigint | boolean): Tensor {
  return full(tensor.dims, fill_value);
}

/** A tensor of ones, 'int64'. */
export const ones = (size: readonly number[]): Tensor => full(size, 1n);
/** A tensor of ones with the dimensions of another, 'int64'. */
export const ones_like = (tensor: Pick<Tensor, 'dims'>): Tensor => full(tensor.dims, 1n);
/** A tensor of zeros, 'int64'. */
export const zeros = (size: readonly number[]): Tensor => full(size, 0n);
/** A tensor of zeros with the dimensions of another, 'int64'. */
export const zeros_like = (tensor: Pick<Tensor, 'dims'>): Tensor => full(tensor.dims, 0n);
