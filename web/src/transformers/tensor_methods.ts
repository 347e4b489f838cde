// The other methods of transformers.js's tensors, with its results. Importing this file adds them to Tensor.
import { PeruseError, Tensor, type TensorData, type TensorType } from '../face.js';

/** How a method with `_` changes the tensor itself: its numbers, or its dimensions. */
interface InPlace<T> {
  sigmoid_(): T;
  map_(callback: (value: number, index: number) => number): T;
  mul_(value: number | bigint): T;
  div_(value: number | bigint): T;
  add_(value: number | bigint): T;
  sub_(value: number | bigint): T;
  remainder_(value: number | bigint): T;
  neg_(): T;
  clamp_(min: number, max: number): T;
  round_(): T;
  normalize_(p?: number, dim?: number): T;
  squeeze_(dim?: number | readonly number[] | null): T;
  unsqueeze_(dim: number): T;
  flatten_(start_dim?: number, end_dim?: number): T;
}

declare module '../tensor.js' {
  /** With `peruse/transformers` the other methods of transformers.js's tensors. Those that end in `_` change the tensor itself. */
  // Iterable, because the compiler loses the class's iterator, whose name is computed, if it writes tensor.d.ts before it checks other files.
  interface Tensor<D extends TensorData = Float32Array> extends InPlace<Tensor<D>>, Iterable<Tensor<D>> {
    /** A copy. */
    clone(): Tensor<D>;
    /** A copy whose dimensions have another order: `permute(1, 0)` exchanges rows and columns. */
    permute(...axes: number[]): Tensor<D>;
    /** The same as permute(). */
    transpose(...axes: number[]): Tensor<D>;
    /** The same numbers with other dimensions; one of them may be -1. */
    view(...dims: number[]): Tensor<D>;
    /** The same numbers, with dimensions joined to one. */
    flatten(start_dim?: number, end_dim?: number): Tensor<D>;
    /** The same numbers, without dimensions of 1. */
    squeeze(dim?: number | readonly number[] | null): Tensor<D>;
    /** The same numbers, with one more dimension of 1. */
    unsqueeze(dim: number): Tensor<D>;
    /** The numbers several times along each dimension. */
    repeat(...repeats: number[]): Tensor<D>;
    /** Like repeat(), but leading dimensions may be left out. */
    tile(...repeats: number[]): Tensor<D>;
    /** The numbers as another type. */
    to(type: TensorType): Tensor<TensorData>;
    map(callback: (value: number, index: number) => number): Tensor<D>;
    mul(value: number | bigint): Tensor<D>;
    div(value: number | bigint): Tensor<D>;
    add(value: number | bigint): Tensor<D>;
    sub(value: number | bigint): Tensor<D>;
    /** The remainder of a division, with the sign of the divisor. */
    remainder(value: number | bigint): Tensor<D>;
    neg(): Tensor<D>;
    round(): Tensor<D>;
    clamp(min: number, max: number): Tensor<D>;
    /** 1 where a number is larger, else 0. */
    gt(value: number | bigint): Tensor<Uint8Array>;
    /** 1 where a number is smaller, else 0. */
    lt(value: number | bigint): Tensor<Uint8Array>;
    /** The sum of all numbers, or along a dimension, which is removed unless `keepdim` is true. */
    sum(dim?: number | null, keepdim?: boolean): Tensor<D>;
    /** The sum of x ** p, to the power of 1 / p; 'fro' means 2. */
    norm(p?: number | 'fro', dim?: number | null, keepdim?: boolean): Tensor<D>;
    max(dim?: number | null, keepdim?: boolean): Tensor<D>;
    min(dim?: number | null, keepdim?: boolean): Tensor<D>;
    /** The index of the largest number. */
    argmax(dim?: number | null, keepdim?: boolean): Tensor<BigInt64Array>;
    argmin(dim?: number | null, keepdim?: boolean): Tensor<BigInt64Array>;
    /** How many numbers lie between two neighbours along each dimension. */
    stride(): number[];
  }
}

type Numbers = ArrayLike<number | bigint>;

const productOf = (numbers: readonly number[]) => numbers.reduce((product, one) => product * one, 1);

function wrong(message: string): PeruseError {
  return new PeruseError('invalid_argument', message);
}

/** An index, from the end if it is negative. */
function indexIn(index: number, length: number): number {
  if (Number.isInteger(index) && index >= -length && index < length) return index < 0 ? index + length : index;
  throw wrong(`There is no dimension ${index} of ${length}.`);
}

/** The same numbers, in the same memory, with other dimensions. */
function withDims({ type, data }: Tensor, dims: readonly number[]): Tensor {
  return new Tensor(type, data, dims);
}

/** Converts a number for arithmetic with the tensor's numbers, which are bigints in 'int64' and 'uint64'. */
function operandOf({ type }: Tensor, value: number | bigint): number {
  if (type !== 'int64' && type !== 'uint64') return Number(value);
  if (typeof value !== 'bigint' && !Number.isInteger(value)) throw wrong(`A tensor of type ${type} can't be combined with ${value}.`);
  return BigInt(value) as unknown as number;
}

/** A tensor of the same type and dimensions, whose numbers `of` computes. Bigints have the same operators as numbers. */
function each({ type, data, dims }: Tensor, of: (value: number, index: number) => number): Tensor {
  return new Tensor(type, data.map(of), dims);
}

const arithmetic = (of: (value: number, other: number) => number) => (tensor: Tensor, value: number | bigint) => {
  const other = operandOf(tensor, value);
  return each(tensor, (one) => of(one, other));
};

const compared = (holds: (value: number, other: number) => boolean) => (tensor: Tensor, value: number | bigint) =>
  new Tensor(
    'bool',
    Uint8Array.from(tensor.data as ArrayLike<number>, (one) => Number(holds(one, value as number))),
    tensor.dims,
  );

function remainder(tensor: Tensor, value: number | bigint): Tensor {
  const divisor = operandOf(tensor, value);
  if (!tensor.type.startsWith('float') && Number(value) === 0) throw wrong('A whole number has no remainder of a division by zero.');
  return each(tensor, (one) => {
    const rest = one % divisor;
    return (rest < 0 && divisor > 0) || (rest > 0 && divisor < 0) ? rest + divisor : rest;
  });
}

function stride({ dims }: Pick<Tensor, 'dims'>): number[] {
  return dims.map((_, at) => productOf(dims.slice(at + 1)));
}

/** Numbers of a tensor in new dimensions. `step` is the distance in the old numbers of an index in a new dimension. */
function gathered({ type, data }: Tensor, dims: readonly number[], step: (at: number, index: number) => number): Tensor {
  const found = new (data.constructor as Float32ArrayConstructor)(productOf(dims));
  for (let i = 0; i < found.length; ++i) {
    let from = 0;
    for (let at = dims.length - 1, rest = i; at >= 0; rest = Math.floor(rest / dims[at--]!)) from += step(at, rest % dims[at]!);
    found[i] = data[from]!;
  }
  return new Tensor(type, found, dims);
}

/** A copy whose dimensions have another order. */
export function permute(tensor: Tensor, axes: readonly number[]): Tensor {
  const { dims } = tensor;
  const order = axes.map((axis) => indexIn(axis, dims.length));
  if (order.length !== dims.length || new Set(order).size !== order.length) {
    throw wrong(`permute() needs each of the ${dims.length} dimensions once, not [${axes.join(', ')}].`);
  }
  const steps = stride(tensor);
  return gathered(
    tensor,
    order.map((axis) => dims[axis]!),
    (at, index) => index * steps[order[at]!]!,
  );
}

function repeat(tensor: Tensor, ...repeats: number[]): Tensor {
  const added = repeats.length - tensor.dims.length;
  if (added < 0) throw wrong(`repeat() needs a number for each of the ${tensor.dims.length} dimensions.`);
  const dims = [...Array<number>(added).fill(1), ...tensor.dims];
  const steps = stride({ dims });
  return gathered(
    tensor,
    dims.map((length, at) => length * repeats[at]!),
    (at, index) => (index % dims[at]!) * steps[at]!,
  );
}

function view(tensor: Tensor, ...dims: number[]): Tensor {
  const known = productOf(dims.filter((length) => length !== -1));
  if (tensor.size % known !== 0) throw wrong(`${tensor.size} numbers can't have the dimensions [${dims.join(', ')}].`);
  return withDims(
    tensor,
    dims.map((length) => (length === -1 ? tensor.size / known : length)),
  );
}

function flatten(tensor: Tensor, start_dim = 0, end_dim = -1): Tensor {
  const { dims } = tensor;
  const [start, end] = [indexIn(start_dim, dims.length), indexIn(end_dim, dims.length) + 1];
  return withDims(tensor, [...dims.slice(0, start), productOf(dims.slice(start, end)), ...dims.slice(end)]);
}

function squeeze(tensor: Tensor, dim: number | readonly number[] | null = null): Tensor {
  const { dims } = tensor;
  const chosen = dim === null ? dims.keys() : [dim].flat().map((one) => indexIn(one, dims.length));
  const removed = new Set(chosen);
  return withDims(
    tensor,
    dims.filter((length, at) => length !== 1 || !removed.has(at)),
  );
}

function unsqueeze(tensor: Tensor, dim: number): Tensor {
  const at = indexIn(dim, tensor.dims.length + 1);
  return withDims(tensor, [...tensor.dims.slice(0, at), 1, ...tensor.dims.slice(at)]);
}

function to({ type, data, dims }: Tensor, wanted: TensorType): Tensor {
  const isWhole = wanted === 'int64' || wanted === 'uint64';
  const numbers = Array.from(data as Numbers, (value) => (isWhole && typeof value === 'number' ? Math.floor(value) : value));
  return wanted === type ? new Tensor(type, data, dims) : (new Tensor(wanted, numbers, dims) as Tensor);
}

type Fold = (numbers: number[]) => number;

/** Folds all numbers, or those along a dimension. */
function folded(tensor: Tensor, type: TensorType, dim: number | null, keepdim: boolean, fold: Fold): Tensor {
  const { data, dims } = tensor;
  const all = Array.from(data as Numbers, Number);
  if (dim === null) return new Tensor<Float32Array>(type, [fold(all)], []);
  const at = indexIn(dim, dims.length);
  const [count, step] = [dims[at]!, stride(tensor)[at]!];
  const found = Array.from({ length: all.length / count }, (_, lane) => {
    const start = Math.floor(lane / step) * step * count + (lane % step);
    return fold(Array.from({ length: count }, (__, i) => all[start + i * step]!));
  });
  return new Tensor<Float32Array>(
    type,
    found,
    dims.flatMap((length, i) => (i !== at ? [length] : keepdim ? [1] : [])),
  );
}

const sumOf: Fold = (numbers) => numbers.reduce((sum, value) => sum + value, 0);
const largestOf: Fold = (numbers) => numbers.reduce((most, value) => Math.max(most, value), -Infinity);
const smallestOf: Fold = (numbers) => numbers.reduce((least, value) => Math.min(least, value), Infinity);

const folding =
  (fold: Fold, type?: TensorType) =>
  (tensor: Tensor, dim: number | null = null, keepdim = false) =>
    folded(tensor, type ?? tensor.type, dim, keepdim, fold);

function norm(tensor: Tensor, p: number | 'fro' = 'fro', dim: number | null = null, keepdim = false): Tensor {
  const power = p === 'fro' ? 2 : p;
  return folded(tensor, tensor.type, dim, keepdim, (numbers) => sumOf(numbers.map((value) => value ** power)) ** (1 / power));
}

/** The standard deviation and the mean, of all numbers or along a dimension. */
export function std_mean(input: Tensor, dim: number | null = null, correction = 1, keepdim = false): [Tensor, Tensor] {
  const deviation: Fold = (numbers) => {
    const middle = sumOf(numbers) / numbers.length;
    return Math.sqrt(sumOf(numbers.map((value) => (value - middle) ** 2)) / (numbers.length - correction));
  };
  return [folded(input, input.type, dim, keepdim, deviation), input.mean(dim, keepdim)];
}

const clone = (tensor: Tensor) => each(tensor, (value) => value);

const kMethods = {
  clone,
  map: each,
  mul: arithmetic((value, other) => value * other),
  div: arithmetic((value, other) => value / other),
  add: arithmetic((value, other) => value + other),
  sub: arithmetic((value, other) => value - other),
  remainder,
  neg: (tensor: Tensor) => each(tensor, (value) => -value),
  round: (tensor: Tensor) => each(tensor, Math.round),
  clamp: (tensor: Tensor, min: number, max: number) => each(tensor, (value) => Math.min(Math.max(value, min), max)),
  gt: compared((value, other) => value > other),
  lt: compared((value, other) => value < other),
  permute: (tensor: Tensor, ...axes: number[]) => permute(tensor, axes),
  transpose: (tensor: Tensor, ...axes: number[]) => permute(tensor, axes),
  view,
  flatten: (tensor: Tensor, ...range: number[]) => flatten(clone(tensor), ...range),
  squeeze,
  unsqueeze,
  repeat,
  tile: (tensor: Tensor, ...repeats: number[]) =>
    repeat(tensor, ...Array<number>(Math.max(0, tensor.dims.length - repeats.length)).fill(1), ...repeats),
  to,
  sum: folding(sumOf),
  norm,
  max: folding(largestOf),
  min: folding(smallestOf),
  argmax: folding((numbers) => numbers.indexOf(largestOf(numbers)), 'int64'),
  argmin: folding((numbers) => numbers.indexOf(smallestOf(numbers)), 'int64'),
  stride,
};

const kInPlace = 'sigmoid map mul div add sub remainder neg clamp round normalize squeeze unsqueeze flatten'.split(' ');

type Method = (this: Tensor, ...given: unknown[]) => unknown;
const prototype = Tensor.prototype as unknown as Record<string, Method>;

for (const [name, method] of Object.entries(kMethods)) {
  prototype[name] = function (...given) {
    return (method as (tensor: Tensor, ...given: unknown[]) => unknown)(this, ...given);
  };
}

for (const name of kInPlace) {
  prototype[`${name}_`] = function (...given) {
    const { data, dims } = prototype[name]!.apply(this, given) as Tensor;
    if (data !== this.data) this.data.set(data);
    this.dims.splice(0, this.dims.length, ...dims);
    return this;
  };
}
