// Functions on tensors, with the names and results of transformers.js.
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
