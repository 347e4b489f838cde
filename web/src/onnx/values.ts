// Converts stored parameters to floats, or to rows of int8 with a scale each.
import type { Claim } from './claim.js';
import type { Coding } from './constants.js';
import { kTypes, sizeOf, type Tensor } from './tensor.js';

/** Types of tensors for the engine. I8 and U8 (4 bits) are followed by their scales. */
export type StoredType = 'F32' | 'F16' | 'BF16' | 'I8' | 'U8';

export type BytesOf = (tensor: Tensor) => Uint8Array;

const kMostLevels = 127;
const kRowsAtOnce = 64; // of a transposed matrix

function floatsOf(claim: Claim, bytes: BytesOf): Float32Array<ArrayBuffer> {
  const stored = storedFloats(claim, bytes);
  return oriented(claim, stored);
}

function reorderedBytes(claim: Claim, bytes: Uint8Array): Uint8Array {
  if (!claim.transposed && !claim.columns && !claim.byHeads) return bytes;
  const own = bytes.slice(); // a copy whose start is aligned
  const values = claim.tensor.type === kTypes.F32 ? new Float32Array(own.buffer) : new Uint16Array(own.buffer);
  return new Uint8Array(oriented(claim, values).buffer);
}

/** Converts integers to rows of int8. Keeps the file's codes if they fit; otherwise rounds the row again. */
export class RowFitter {
  readonly rows: number;
  readonly width: number;
  /** Scales of the rows that were converted so far. */
  readonly scales: Float32Array<ArrayBuffer>;
  private readonly claim_: Claim;
  private readonly given_: Float32Array;
  private readonly zeros_: ArrayLike<number>;

  /** Precondition: the coding is 'integers', with one scale and zero point for all rows or for each row. */
  constructor(claim: Claim, bytes: BytesOf) {
    [this.rows, this.width] = matrixOf(claim);
    const { scale, zero } = claim.coding as Coding & { kind: 'integers' };
    this.claim_ = claim;
    this.given_ = toFloats(scale, bytes(scale));
    this.zeros_ = zero ? codesOf(zero, bytes(zero)) : [0];
    this.scales = new Float32Array(this.rows);
  }

  fit(first: number, bytes: Uint8Array): Uint8Array {
    return this.fitCodes(first, codesOf(this.claim_.tensor, bytes));
  }

  fitAll(bytes: Uint8Array): Uint8Array {
    return this.fitCodes(0, oriented(this.claim_, codesOf(this.claim_.tensor, bytes)));
  }

  private fitCodes(first: number, codes: Int8Array | Uint8Array): Uint8Array {
    const integers = new Int8Array(codes.length);
    const channel = this.claim_.columns?.first ?? 0;
    const pick = (values: ArrayLike<number>, row: number) => values[values.length === 1 ? 0 : channel + row]!;
    for (let from = 0, row = first; from < codes.length; from += this.width, ++row) {
      const to = from + this.width;
      this.scales[row] = fitRow(codes.subarray(from, to), pick(this.zeros_, row), pick(this.given_, row), integers.subarray(from, to));
    }
    return new Uint8Array(integers.buffer);
  }
}

export function* wholeBytes(claim: Claim, dtype: StoredType, bytes: BytesOf): Generator<Uint8Array> {
  if (dtype === 'U8') {
    yield bytes(claim.tensor);
    yield bytes((claim.coding as Coding & { kind: 'blocks' }).scale);
  } else if (dtype === 'I8') {
    const fitter = new RowFitter(claim, bytes);
    yield fitter.fitAll(bytes(claim.tensor));
    yield new Uint8Array(fitter.scales.buffer);
  } else if (claim.coding.kind === 'floats') {
    yield reorderedBytes(claim, bytes(claim.tensor));
  } else {
    yield new Uint8Array(floatsOf(claim, bytes).buffer);
  }
}

function fitRow(codes: Int8Array | Uint8Array, zero: number, scale: number, out: Int8Array): number {
  if (zero === 0 && codes instanceof Int8Array && !codes.includes(-128)) {
    out.set(codes);
    return scale;
  }
  let largest = 0;
  for (let i = 0; i < codes.length; ++i) largest = Math.max(largest, Math.abs(codes[i]! - zero));
  if (largest <= kMostLevels) {
    for (let i = 0; i < codes.length; ++i) out[i] = codes[i]! - zero;
    return scale;
  }
  for (let i = 0; i < codes.length; ++i) out[i] = Math.round(((codes[i]! - zero) * kMostLevels) / largest);
  return Math.fround((scale * largest) / kMostLevels);
}

/** Rows and columns of the parameter; axes after the first one form a row. */
export function matrixOf(claim: Claim): [rows: number, width: number] {
  const shape = shapeOf(claim);
  const rows = shape[0] ?? 1;
  return [rows, rows === 0 ? 0 : shape.reduce((product, size) => product * size, 1) / rows];
}

export function shapeOf({ shape, transposed, columns, asColumn, byHeads }: Claim): number[] {
  if (byHeads) return [shape[1]!, shape[0]! * shape[2]!];
  const cut = columns ? [...shape.slice(0, -1), columns.count] : shape;
  if (asColumn) return [...cut, 1];
  return transposed ? [...cut].reverse() : cut;
}

function storedFloats(claim: Claim, bytes: BytesOf): Float32Array<ArrayBuffer> {
  const { tensor, coding } = claim;
  switch (coding.kind) {
    case 'floats':
      return toFloats(tensor, bytes(tensor));
    case 'integers':
      return integerFloats(claim, coding, bytes);
    case 'blocks':
      return blockFloats(claim, coding, bytes);
    case 'bnb4':
      return bnbFloats(claim, coding, bytes);
  }
}

function integerFloats(
  { tensor, shape }: Claim,
  { scale, zero, axis }: Coding & { kind: 'integers' },
  bytes: BytesOf,
): Float32Array<ArrayBuffer> {
  const codes = codesOf(tensor, bytes(tensor));
  const scales = toFloats(scale, bytes(scale));
  const zeros = zero ? codesOf(zero, bytes(zero)) : new Int8Array(1);
  const inner = shape.slice(axis + 1).reduce((product, size) => product * size, 1);
  const length = shape[axis] ?? 1;
  const values = new Float32Array(codes.length);
  for (let i = 0; i < codes.length; ++i) {
    const channel = Math.floor(i / inner) % length;
    values[i] = (codes[i]! - zeros[zeros.length === 1 ? 0 : channel]!) * scales[scales.length === 1 ? 0 : channel]!;
  }
  return values;
}

/** In MatMulNBits each row of codes is padded to whole blocks; in other operators it is not. */
function blockFloats(
  { tensor, shape }: Claim,
  { scale, zero, bits, block, missingZero, ofColumns }: Coding & { kind: 'blocks' },
  bytes: BytesOf,
): Float32Array<ArrayBuffer> {
  const [rows = 0, width = 0] = shape;
  const blocks = Math.ceil(width / block);
  const padded = tensor.dims.length === 3 ? blocks * block : width;
  const codes = smallCodes(bytes(tensor), bits, tensor.type === kTypes.I4);
  const scales = toFloats(scale, bytes(scale));
  const zeros = zero && zerosOf(zero, bits, rows, blocks, bytes);
  const values = new Float32Array(rows * width);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < width; ++column) {
      const at = ofColumns ? Math.floor(row / block) * width + column : row * blocks + Math.floor(column / block);
      values[row * width + column] = (codes(row * padded + column) - (zeros ? zeros(at) : missingZero)) * scales[at]!;
    }
  }
  return values;
}

/** Zero points: floats, or codes in rows that are padded to whole bytes. */
function zerosOf(zero: Tensor, bits: number, rows: number, blocks: number, bytes: BytesOf): (index: number) => number {
  const all = bytes(zero);
  if (zero.type !== kTypes.U8 && zero.type !== kTypes.U4 && zero.type !== kTypes.I4 && zero.type !== kTypes.I8) {
    const floats = toFloats(zero, all);
    return (index) => floats[index]!;
  }
  const codes = smallCodes(all, bits, zero.type === kTypes.I4 || zero.type === kTypes.I8);
  const isPadded = zero.type === kTypes.U8 && bits === 4 && all.length === rows * Math.ceil(blocks / 2);
  if (!isPadded) return codes;
  const stride = 2 * Math.ceil(blocks / 2);
  return (index) => codes(Math.floor(index / blocks) * stride + (index % blocks));
}

/** Unpacks codes of less than a byte, the low bits first. */
function smallCodes(bytes: Uint8Array, bits: number, signed: boolean): (index: number) => number {
  if (bits === 8) return signed ? (index) => (bytes[index]! << 24) >> 24 : (index) => bytes[index]!;
  return (index) => {
    const code = (bytes[index >> 1]! >> (index & 1 ? 4 : 0)) & 15;
    return signed && code > 7 ? code - 16 : code;
  };
}

const kNf4 = [
  -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0,
  0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
  0.7229568362236023, 1,
];
const kFp4Half = [0, 0.005208333333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25];
const kFp4 = [...kFp4Half, ...kFp4Half.map((value) => -value)];

/** Unpacks bitsandbytes' 4-bit codes, the high half of a byte first. */
function bnbFloats(
  { tensor, shape }: Claim,
  { scale, block, table }: Coding & { kind: 'bnb4' },
  bytes: BytesOf,
): Float32Array<ArrayBuffer> {
  const codes = bytes(tensor);
  const scales = toFloats(scale, bytes(scale));
  const levels = Float32Array.from(table === 'nf4' ? kNf4 : kFp4);
  const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
  for (let i = 0; i < values.length; ++i) {
    const code = (codes[i >> 1]! >> (i & 1 ? 0 : 4)) & 15;
    values[i] = levels[code]! * scales[Math.floor(i / block)]!;
  }
  return values;
}

type Values = Float32Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer>;

function oriented<T extends Values>(claim: Claim, stored: T): T {
  if (claim.byHeads) return joinHeads(claim, stored);
  const { shape, transposed, columns } = claim;
  if (!transposed && !columns) return stored;
  const width = shape.at(-1) ?? 1;
  const rows = width === 0 ? 0 : stored.length / width;
  const { first, count } = columns ?? { first: 0, count: width };
  const result = stored.slice(0, rows * count) as T;
  if (transposed) return transpose(stored, { rows, width, first, count }, result);
  for (let row = 0; row < rows; ++row) {
    const from = row * width + first;
    result.set(stored.subarray(from, from + count), row * count);
  }
  return result;
}

/** Transposes a few rows at a time, whose values stay in the processor's cache. */
function transpose<T extends Values>(
  from: T,
  { rows, width, first, count }: { rows: number; width: number; first: number; count: number },
  to: T,
): T {
  for (let row = 0; row < rows; row += kRowsAtOnce) {
    const end = Math.min(rows, row + kRowsAtOnce);
    for (let column = 0; column < count; ++column) {
      for (let i = row, at = row * width + first + column; i < end; ++i, at += width) to[column * rows + i] = from[at]!;
    }
  }
  return to;
}

function joinHeads<T extends Values>({ shape: [heads = 0, rows = 0, size = 0] }: Claim, stored: T): T {
  const result = stored.slice() as T;
  for (let from = 0, head = 0; head < heads; ++head) {
    for (let row = 0; row < rows; ++row, from += size) result.set(stored.subarray(from, from + size), (row * heads + head) * size);
  }
  return result;
}

function codesOf(tensor: Tensor, bytes: Uint8Array): Int8Array<ArrayBuffer> | Uint8Array<ArrayBuffer> {
  const own = bytes as Uint8Array<ArrayBuffer>;
  return tensor.type === kTypes.I8 ? new Int8Array(own.buffer, own.byteOffset, own.length) : own;
}

function toFloats(tensor: Tensor, bytes: Uint8Array): Float32Array<ArrayBuffer> {
  const values = new Float32Array(sizeOf(tensor));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (tensor.type === kTypes.F32) {
    new Uint8Array(values.buffer).set(bytes);
  } else if (tensor.type === kTypes.BF16) {
    const bits = new Uint32Array(values.buffer);
    for (let i = 0; i < values.length; ++i) bits[i] = view.getUint16(2 * i, true) << 16;
  } else {
    for (let i = 0; i < values.length; ++i) values[i] = halfToFloat(view.getUint16(2 * i, true));
  }
  return values;
}

function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}
