// Arrays of numbers with dimensions, with the names and results of transformers.js.
import { PeruseError, show } from './errors.js';

const kArrays = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};

/** The type of a tensor's numbers. */
export type TensorType = keyof typeof kArrays;
/** The numbers of a tensor. */
export type TensorData =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

/** Selects a part of a dimension: one index, a range [start, end), or all of it (null). */
export type TensorSlice = number | readonly [start: number | null, end: number | null] | null;

type NumberOf<D> = D extends BigInt64Array | BigUint64Array ? bigint : number;

/**
 * Numbers with dimensions: `new Tensor('float32', [1, 2, 3, 4], [2, 2])`. `tensor[0]` is the first row, a tensor with one dimension less on the
 * same memory; `for (const row of tensor)` visits them all.
 */
export class Tensor<D extends TensorData = Float32Array> {
  readonly [row: number]: Tensor<D>;
  readonly type: TensorType;
  /** Row by row: the last dimension varies fastest. */
  readonly data: D;
  readonly dims: number[];

  /** @throws PeruseError 'invalid_argument' if the dimensions or the type do not fit the numbers. */
  constructor(type: TensorType, data: D | readonly (number | bigint)[], dims: readonly number[] = [data.length]) {
    if (!Object.hasOwn(kArrays, type))
      throw wrong(`A tensor can't have the type ${show(type)}. Use one of ${Object.keys(kArrays).join(', ')}.`);
    if (sizeOf(dims) !== data.length) throw wrong(`A tensor of [${dims.join(', ')}] can't have ${data.length} numbers.`);
    this.type = type;
    this.data = arrayOf(type, data) as D;
    this.dims = [...dims];
  }

  /** How many numbers it has. */
  get size(): number {
    return this.data.length;
  }

  /** How many rows it has: its first dimension. 0 without dimensions. */
  get length(): number {
    return this.dims[0] ?? 0;
  }

  /** The numbers as nested lists, one level for each dimension. Name the type unless there are two: `tolist<number[]>()`. */
  tolist<L = NumberOf<D>[][]>(): L {
    return nested(Array.from(this.data as ArrayLike<unknown>), this.dims) as L;
  }

  /** The only number. Throws 'invalid_argument' if there are several. */
  item(): NumberOf<D> {
    if (this.size !== 1) throw wrong(`item() needs a tensor of one number; this one has ${this.size}.`);
    return this.data[0] as NumberOf<D>;
  }

  /** Copies a part: `slice(0, [1, 3], null)` selects for each dimension. Absent ones are selected whole. */
  slice(...slices: readonly (TensorSlice | undefined)[]): Tensor<D> {
    const ranges = this.dims.map((length, at) => rangeOf(slices[at] ?? null, length));
    const kept = ranges.map(([start, end]) => end - start);
    const data = new (this.data.constructor as new (size: number) => D)(sizeOf(kept));
    for (let i = 0; i < data.length; ++i) {
      let from = 0;
      for (let at = kept.length - 1, rest = i, step = 1; at >= 0; step *= this.dims[at--]!) {
        from += ((rest % kept[at]!) + ranges[at]![0]) * step;
        rest = Math.floor(rest / kept[at]!);
      }
      data[i] = this.data[from]!;
    }
    return new Tensor(
      this.type,
      data,
      kept.filter((_, at) => typeof slices[at] !== 'number'),
    );
  }

  /** The mean of all numbers, or along a dimension, which is removed unless `keepdim` is true. */
  mean(dim: number | null = null, keepdim = false): Tensor {
    const lanes = dim === null ? [{ start: 0, step: 1, count: this.size }] : this.#lanes(dim);
    const removed = dim === null ? -1 : indexIn(dim, this.dims.length);
    const dims = this.dims.flatMap((length, at) => (dim !== null && at !== removed ? [length] : keepdim ? [1] : []));
    const means = lanes.map((lane) => this.#fold(lane, 0, (sum, value) => sum + value) / lane.count);
    return new Tensor('float32', Float32Array.from(means), dims);
  }

  /** Divides the numbers along a dimension by their norm: the sum of |x| ** p, to the power of 1 / p. */
  normalize(p = 2, dim = 1): Tensor {
    return this.#mapLanes(dim, (lane) => {
      const norm = Math.max(this.#fold(lane, 0, (sum, value) => sum + Math.abs(value) ** p) ** (1 / p), 1e-12);
      return (value) => value / norm;
    });
  }

  /** 1 / (1 + exp(-x)) of each number. */
  sigmoid(): Tensor {
    const numbers = Float32Array.from(this.data as ArrayLike<number>, (value) => 1 / (1 + Math.exp(-Number(value))));
    return new Tensor('float32', numbers, this.dims);
  }

  /** The softmax along a dimension, by default the last. */
  softmax(dim = -1): Tensor {
    return this.#mapLanes(dim, (lane) => {
      const most = this.#fold(lane, -Infinity, Math.max);
      const sum = this.#fold(lane, 0, (total, value) => total + Math.exp(value - most));
      return (value) => Math.exp(value - most) / sum;
    });
  }

  /** Does nothing: the memory is freed with the object. */
  dispose(): void {}

  /** Visits the rows, or the numbers of a tensor with one dimension. */
  *[Symbol.iterator](): Generator<Tensor<D>, void, undefined> {
    if (this.dims.length < 2) yield* this.data as unknown as Iterable<Tensor<D>>;
    else for (let row = 0; row < this.dims[0]!; ++row) yield rowOf(this, row);
  }

  #lanes(dim: number): Lane[] {
    const at = indexIn(dim, this.dims.length);
    const count = this.dims[at]!;
    const step = sizeOf(this.dims.slice(at + 1));
    return Array.from({ length: count === 0 ? 0 : this.size / count }, (_, i) => ({
      start: Math.floor(i / step) * step * count + (i % step),
      step,
      count,
    }));
  }

  #fold({ start, step, count }: Lane, initial: number, fold: (folded: number, value: number) => number): number {
    let folded = initial;
    for (let i = 0; i < count; ++i) folded = fold(folded, Number(this.data[start + i * step]));
    return folded;
  }

  #mapLanes(dim: number, mapOf: (lane: Lane) => (value: number) => number): Tensor {
    const data = new Float32Array(this.size);
    for (const lane of this.#lanes(dim)) {
      const map = mapOf(lane);
      for (let i = 0, at = lane.start; i < lane.count; ++i, at += lane.step) data[at] = map(Number(this.data[at]));
    }
    return new Tensor('float32', data, this.dims);
  }
}

/** The numbers as an array of this type: a list is converted, and an array must be of the type. */
function arrayOf(type: TensorType, data: TensorData | readonly (number | bigint)[]): TensorData {
  const { name } = kArrays[type];
  if (ArrayBuffer.isView(data)) {
    if (data[Symbol.toStringTag] === name) return data;
    throw wrong(`A tensor of type ${type} needs a ${name}, not a ${data[Symbol.toStringTag]}.`);
  }
  if (type !== 'int64' && type !== 'uint64') return (kArrays[type] as Float32ArrayConstructor).from(data as readonly number[], Number);
  const other = data.find((value) => typeof value !== 'bigint' && !Number.isInteger(value));
  if (other !== undefined) throw wrong(`A tensor of type ${type} can't have ${show(other)}: it is not a whole number.`);
  return (kArrays[type] as BigInt64ArrayConstructor).from(data as readonly number[], BigInt);
}

function rowOf<D extends TensorData>({ type, data, dims }: Tensor<D>, row: number): Tensor<D> {
  const [rows = 0, ...rest] = dims;
  const at = indexIn(row, rows);
  const width = sizeOf(rest);
  return new Tensor(type, data.subarray(at * width, (at + 1) * width) as D, rest);
}

// Indices are looked up after all members. So a tensor stays a plain object, which can be sent to another thread.
const kRows: ProxyHandler<object> = {
  get: (target, key, tensor: Tensor) =>
    typeof key === 'string' && /^-?\d+$/.test(key) ? rowOf(tensor, Number(key)) : Reflect.get(target, key, tensor),
};
Object.setPrototypeOf(Tensor.prototype, new Proxy(Object.prototype, kRows));

/** The numbers along a dimension, with all other indices fixed. */
interface Lane {
  start: number;
  step: number;
  count: number;
}

function wrong(message: string): PeruseError {
  return new PeruseError('invalid_argument', message);
}

function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

/** An index, from the end if it is negative. */
function indexIn(index: number, length: number): number {
  if (Number.isInteger(index) && index >= -length && index < length) return index < 0 ? index + length : index;
  throw wrong(`The index ${show(index)} is outside of a dimension of ${length}.`);
}

function rangeOf(slice: TensorSlice, length: number): [start: number, end: number] {
  if (slice === null) return [0, length];
  if (typeof slice === 'number') {
    const at = indexIn(slice, length);
    return [at, at + 1];
  }
  const bound = (value: number | null, usual: number) =>
    Math.min(Math.max((value ?? usual) + (value !== null && value < 0 ? length : 0), 0), length);
  const [start, end] = [bound(slice[0], 0), bound(slice[1], length)];
  if (start <= end) return [start, end];
  throw wrong(`[${slice.join(', ')}] is not a range of a dimension of ${length}.`);
}

function nested(values: unknown[], [length, ...dims]: readonly number[]): unknown {
  if (length === undefined) return values[0];
  if (dims.length === 0) return values;
  const width = sizeOf(dims);
  return Array.from({ length }, (_, row) => nested(values.slice(row * width, (row + 1) * width), dims));
}
