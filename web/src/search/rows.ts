// Vectors in the caller's memory: float32, or 8-bit integers with a scale for each row.
import { type ErrorCode, PeruseError } from '../errors.js';
import type { SetVectors, VectorHit } from '../tasks/vector_search.js';
import type { Store } from './store.js';

export type Storage = 'float32' | 'int8';

const kLevels = 127;
const kLengthError = 1e-3;

/** An array of `length` numbers; throws 'out_of_memory'. */
export function allocate<A>(make: (length: number) => A, length: number, bytes: number): A {
  try {
    return make(length);
  } catch (error) {
    const megabytes = Math.ceil((length * bytes) / 2 ** 20);
    throw new PeruseError('out_of_memory', `There is no memory for ${megabytes} MB of vectors.`, { cause: error });
  }
}

const newFloats = (length: number) => allocate((size) => new Float32Array(size), length, 4);
const newCodes = (length: number) => allocate((size) => new Int8Array(size), length, 1);

function larger<A extends Float32Array | Int8Array>(old: A, made: A): A {
  made.set(old);
  return made;
}

export class Rows implements Store<Float32Array> {
  readonly kind = 'dense';
  private floats_ = new Float32Array(0); // has unused capacity at its end, like the arrays below
  private codes_ = new Int8Array(0);
  private scales_ = new Float32Array(0);
  private capacity_ = 0; // in rows
  count = 0;

  constructor(
    readonly width: number,
    readonly storage: Storage,
  ) {}

  reserveFor(more: number): void {
    if (this.count + more > this.capacity_) this.reserve(Math.max(2 * this.capacity_, this.count + more));
  }

  /** Appends a row. reserveFor() must be called first. */
  append(vector: Float32Array): void {
    const row = this.count++;
    if (this.storage === 'float32') this.floats_.set(vector, row * this.width);
    else this.encode(row, vector);
  }

  private reserve(capacity: number): void {
    if (this.storage === 'float32') this.floats_ = larger(this.floats_, newFloats(capacity * this.width));
    else {
      this.codes_ = larger(this.codes_, newCodes(capacity * this.width));
      this.scales_ = larger(this.scales_, newFloats(capacity));
    }
    this.capacity_ = capacity;
  }

  private encode(row: number, vector: Float32Array): void {
    let largest = 0;
    for (const value of vector) largest = Math.max(largest, Math.abs(value));
    const scale = Math.fround(largest / kLevels);
    this.scales_[row] = scale;
    for (let i = 0, at = row * this.width; i < this.width; ++i, ++at) this.codes_[at] = scale === 0 ? 0 : Math.round(vector[i]! / scale);
  }

  row(row: number): Float32Array<ArrayBuffer> {
    const [start, end] = [row * this.width, (row + 1) * this.width];
    if (this.storage === 'float32') return this.floats_.slice(start, end);
    return Float32Array.from(this.codes_.subarray(start, end), (code) => code * this.scales_[row]!);
  }

  floats(): Float32Array<ArrayBuffer> {
    const copy = newFloats(this.count * this.width);
    if (this.storage === 'float32') copy.set(this.floats_.subarray(0, copy.length));
    else for (let i = 0; i < copy.length; ++i) copy[i] = this.codes_[i]! * this.scales_[Math.floor(i / this.width)]!;
    return copy;
  }

  stored(): { data: Float32Array<ArrayBuffer> | Int8Array<ArrayBuffer>; scales?: Float32Array<ArrayBuffer> } {
    const numbers = this.count * this.width;
    if (this.storage === 'float32') return { data: this.floats() };
    return { data: this.codes_.slice(0, numbers), scales: this.scales_.slice(0, this.count) };
  }

  forEngine(): Omit<SetVectors, 'index'> {
    return { width: this.width, ...this.stored() };
  }

  /** The vectors, or scales and vectors of 8 bits. */
  bytes(): Uint8Array<ArrayBuffer> {
    const { scales, data } = this.stored();
    if (scales === undefined) return new Uint8Array(data.buffer);
    const bytes = new Uint8Array(scales.byteLength + data.byteLength);
    bytes.set(new Uint8Array(scales.buffer));
    bytes.set(new Uint8Array(data.buffer), scales.byteLength);
    return bytes;
  }

  only(rows: readonly number[]): Rows {
    const { width } = this;
    const kept = new Rows(width, this.storage);
    kept.reserve(rows.length);
    kept.count = rows.length;
    for (const [to, from] of rows.entries()) {
      const [start, end] = [from * width, (from + 1) * width];
      if (this.storage === 'float32') kept.floats_.set(this.floats_.subarray(start, end), to * width);
      else {
        kept.codes_.set(this.codes_.subarray(start, end), to * width);
        kept.scales_[to] = this.scales_[from]!;
      }
    }
    return kept;
  }

  static restored(width: number, storage: Storage, count: number, bytes: Uint8Array): Rows | undefined {
    const isInt8 = storage === 'int8';
    if (bytes.length !== count * width * (isInt8 ? 1 : 4) + (isInt8 ? 4 * count : 0)) return undefined;
    const { buffer } = new Uint8Array(bytes); // not slice(), which shares the memory of a Node Buffer
    const rows = new Rows(width, storage);
    rows.count = count;
    rows.reserve(count);
    if (isInt8) {
      rows.scales_.set(new Float32Array(buffer, 0, count));
      rows.codes_.set(new Int8Array(buffer, 4 * count));
    } else {
      rows.floats_.set(new Float32Array(buffer));
    }
    return rows;
  }

  /** Normalised vectors have a length of 1, or of 0 for a text without any meaning; rounding to 8 bits changes the length a little. */
  check(similarity: 'cosine' | 'dot', code: ErrorCode): void {
    const bad = this.firstBad();
    if (bad !== undefined) throw new PeruseError(code, `Vector ${bad} holds a number that is not finite.`);
    const other = similarity === 'cosine' ? this.firstOfOtherLength(kLengthError) : undefined;
    if (other === undefined) return;
    const words = `Vector ${other} has a length of ${this.lengthOf(other).toPrecision(3)}; with similarity 'cosine' vectors must be normalized`;
    throw new PeruseError(code, `${words}. Use similarity: 'dot' for others.`);
  }

  firstBad(): number | undefined {
    const [values, width] = this.storage === 'float32' ? [this.floats_, this.width] : [this.scales_, 1];
    for (let i = 0; i < this.count * width; ++i) if (!Number.isFinite(values[i])) return Math.floor(i / width);
    return undefined;
  }

  private lengthOf(row: number): number {
    let squares = 0;
    for (const value of this.row(row)) squares += value * value;
    return Math.sqrt(squares);
  }

  /** The first row whose length is neither 0 nor 1. An 8-bit row may differ by what rounding can change. */
  private firstOfOtherLength(error: number): number | undefined {
    for (let row = 0; row < this.count; ++row) {
      const length = this.lengthOf(row);
      const rounding = this.storage === 'int8' ? (Math.sqrt(this.width) / 2) * this.scales_[row]! : 0;
      if (length !== 0 && Math.abs(length - 1) > error + rounding) return row;
    }
    return undefined;
  }

  product(row: number, query: Float64Array): number {
    if (this.storage === 'float32') return Math.fround(productOf(this.floats_, row * this.width, query));
    return Math.fround(productOf(this.codes_, row * this.width, query) * this.scales_[row]!);
  }

  /** Returns the `count` rows with the largest products among those from `first` on that `accept` accepts, in any order. */
  nearest(query: Float32Array, count: number, first: number, accept: (row: number) => boolean): VectorHit[] {
    const wide = Float64Array.from(query);
    let best: VectorHit[] = [];
    for (let row = first; row < this.count; ++row) {
      if (!accept(row)) continue;
      best.push({ row, score: this.product(row, wide) });
      if (best.length >= 2 * count + 64) best = bestOf(best, count);
    }
    return bestOf(best, count);
  }
}

/** Dot product with four independent sums, which processors compute in parallel. */
function productOf(values: Float32Array | Int8Array, start: number, query: Float64Array): number {
  const { length } = query;
  let [a, b, c, d] = [0, 0, 0, 0];
  let i = 0;
  for (let at = start; i + 4 <= length; i += 4, at += 4) {
    a += values[at]! * query[i]!;
    b += values[at + 1]! * query[i + 1]!;
    c += values[at + 2]! * query[i + 2]!;
    d += values[at + 3]! * query[i + 3]!;
  }
  for (; i < length; ++i) a += values[start + i]! * query[i]!;
  return a + b + (c + d);
}

/** The best `count` hits in order: by score, then by row. */
export function bestOf(hits: VectorHit[], count: number): VectorHit[] {
  return hits.sort((a, b) => b.score - a.score || a.row - b.row).slice(0, count);
}
