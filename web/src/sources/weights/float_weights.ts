// Converts checkpoints with weights of 8 and 4 bits (docs/precision.md) to float32, for training and for copies in another precision.
import { PeruseError } from '../../errors.js';
import { joined } from '../file_bytes.js';
import { isObject, numberOf, parseObject, textOf } from '../json.js';
import type { NamedFile } from '../read_files.js';
import { encodeHeader, type TensorEntry, tensorBytes } from './safetensors.js';

const kMethod = /^peruse-(q\d)$/;
/** Fields of config.json with the width of a matrix. Rows of 4 bits are stored in whole groups, so the file does not have it. */
const kWidths = ['embedding_size', 'hidden_size', 'intermediate_size', 'dim', 'hidden_dim', 'd_model', 'n_embd', 'n_inner'];
const kGroup = 32;
const kPartValues = 1 << 20; // largest number of values in one chunk

/** A quantised checkpoint. */
export interface QuantizedConfig {
  /** 'q8' or 'q4'. */
  form: string;
  /** The fields of config.json for float weights. */
  config: Record<string, unknown>;
}

/** Reads config.json. Returns undefined if the weights are floats, or quantised in a way that is not Peruse's own. */
export function quantizedConfig({ name, content }: NamedFile): QuantizedConfig | undefined {
  const { quantization_config: quantization, ...config } = parseObject(name, content);
  const form = isObject(quantization) ? kMethod.exec(textOf(quantization.quant_method))?.[1] : undefined;
  return form === undefined ? undefined : { form, config };
}

export function floatConfig({ config }: QuantizedConfig): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(config, null, 2));
}

export function floatNotice(form: string, use: string): string {
  return `The weights were rounded (${form}); ${use} starts from them as float32. The checkpoint that they were made from may give better results.`;
}

/** A tensor in the order of the file. */
interface Tensor extends TensorEntry {
  /** Name of the scales of a quantised tensor. */
  scales?: string;
  isScale: boolean;
  /**
   * Columns of the matrices of a tensor [matrices, in, columns] or [matrices * in, columns] that is stored transposed, as [matrices, columns, in]
   * or [matrices * columns, in]. 0 means that the tensor is stored as it is.
   */
  columns: number;
}

/**
 * Converts a safetensors file, chunk by chunk: tensors with scales (`<name>_scale`) become float32, and the scales are left out. Holds one
 * tensor, or, if its scales come later in the file, those up to the scales. Files of another format pass unchanged.
 */
export class FloatWeights {
  /** Bytes before the first tensor of the source. */
  headerBytes = 0;
  private parts_: Uint8Array[] = [];
  private length_ = 0;
  private tensors_: Tensor[] | undefined;
  private passes_ = false;
  private readonly scales_ = new Map<string, Tensor & { bytes: Uint8Array }>();
  private readonly waiting_: { tensor: Tensor; bytes: Uint8Array }[] = [];

  constructor(
    private readonly where_: string,
    private readonly config_: Record<string, unknown>,
  ) {}

  /** Takes the next chunk of the file, and returns the chunks of the result that it completes. */
  *feed(chunk: Uint8Array): Generator<Uint8Array> {
    if (this.passes_) return yield chunk;
    this.parts_.push(chunk.slice()); // a chunk is only valid until the next one
    this.length_ += chunk.length;
    if (this.tensors_ === undefined) yield* this.readHeader();
    while (this.tensors_ && this.tensors_.length > 0 && this.length_ >= sizeOf(this.tensors_[0]!)) {
      const tensor = this.tensors_.shift()!;
      const bytes = this.take(sizeOf(tensor));
      if (tensor.isScale) this.scales_.set(tensor.name, { ...tensor, bytes });
      else this.waiting_.push({ tensor, bytes });
      yield* this.ready();
    }
    // Bytes after the last tensor are an error, which the engine reports.
    if (this.tensors_?.length === 0 && this.length_ > 0) yield this.take(this.length_);
  }

  private take(count: number): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(count);
    for (let at = 0; at < count; ) {
      const [first] = this.parts_;
      const part = first!.subarray(0, count - at);
      taken.set(part, at);
      at += part.length;
      if (part.length === first!.length) this.parts_.shift();
      else this.parts_[0] = first!.subarray(part.length);
    }
    this.length_ -= count;
    return taken;
  }

  private *readHeader(): Generator<Uint8Array> {
    if (this.length_ < 8) return;
    const start = joined(this.parts_);
    const size = Number(new DataView(start.buffer).getBigUint64(0, true));
    if (this.length_ < 8 + size && size < 1e8) return;
    const read = size < 1e8 ? tensorsIn(start.subarray(8, 8 + size)) : undefined;
    if (read === undefined) {
      this.passes_ = true; // the engine reports the malformed file
      return yield this.take(this.length_);
    }
    this.headerBytes = 8 + size;
    this.take(this.headerBytes);
    this.tensors_ = read.tensors;
    let end = 0;
    const entries = read.tensors.flatMap((tensor) => {
      if (tensor.isScale) return [];
      const entry = tensor.scales === undefined ? tensor : { ...tensor, dtype: 'F32', shape: this.floatShape(tensor) };
      const begin = end;
      end += tensor.scales === undefined ? sizeOf(tensor) : tensorBytes(entry);
      return [{ ...entry, begin, end }];
    });
    yield encodeHeader(entries, read.metadata);
  }

  private floatShape(tensor: Tensor): number[] {
    const { columns, shape } = tensor;
    if (columns === 0) return [shape[0] ?? 0, ...this.rowShape(tensor)];
    const width = this.rowWidth(tensor);
    return shape.length === 3 ? [shape[0]!, width, columns] : [(shape[0]! / columns) * width, columns];
  }

  private rowShape({ dtype, shape: [, ...rest] }: Tensor): number[] {
    return dtype === 'U8' ? [this.widthOfBytes(elementsOf(rest))] : rest;
  }

  private rowWidth(tensor: Tensor): number {
    if (tensor.columns === 0) return elementsOf(this.rowShape(tensor));
    const bytes = tensor.shape.at(-1)!;
    return tensor.dtype === 'U8' ? this.widthOfBytes(bytes) : bytes;
  }

  private widthOfBytes(bytes: number): number {
    const widths = kWidths.map((name) => numberOf(this.config_[name]));
    return widths.find((one) => one <= 2 * bytes && one > 2 * bytes - kGroup) ?? 2 * bytes;
  }

  private *ready(): Generator<Uint8Array> {
    while (this.waiting_.length > 0) {
      const { tensor, bytes } = this.waiting_[0]!;
      if (tensor.scales === undefined) yield bytes;
      else {
        const scales = this.scales_.get(tensor.scales);
        if (scales === undefined) return;
        yield* this.floats(tensor, bytes, scales);
        this.scales_.delete(tensor.scales);
      }
      this.waiting_.shift();
    }
  }

  private *floats(tensor: Tensor, bytes: Uint8Array, scales: Tensor & { bytes: Uint8Array }): Generator<Uint8Array> {
    const { columns, shape } = tensor;
    const rows = elementsOf(shape.slice(0, columns > 0 ? -1 : 1));
    const width = this.rowWidth(tensor);
    const steps = scaleValues(scales);
    const inRow = tensor.dtype === 'U8' ? Math.ceil(width / kGroup) : 1;
    if (steps?.length !== rows * inRow) {
      throw new PeruseError('shape_mismatch', `${this.where_}: ${scales.name} has the wrong shape or type for ${tensor.name}.`);
    }
    const decode = tensor.dtype === 'U8' ? rowOfNibbles : rowOfBytes;
    const rowBytes = bytes.length / rows;
    const rowsAtOnce = columns > 0 ? columns : Math.max(1, Math.floor(kPartValues / width));
    for (let first = 0; first < rows; first += rowsAtOnce) {
      const count = Math.min(rowsAtOnce, rows - first);
      const part = new Float32Array(count * width);
      for (let i = 0; i < count; ++i) {
        const row = first + i;
        const out = part.subarray(i * width, (i + 1) * width);
        decode(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), steps.subarray(row * inRow, (row + 1) * inRow), out);
      }
      yield new Uint8Array((columns > 0 ? transposed(part, width) : part).buffer);
    }
  }
}

function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Transposes a matrix with rows of `width` values. */
function transposed(matrix: Float32Array, width: number): Float32Array<ArrayBuffer> {
  const result = new Float32Array(matrix.length);
  const rows = matrix.length / width;
  for (let row = 0; row < rows; ++row) for (let i = 0; i < width; ++i) result[i * rows + row] = matrix[row * width + i]!;
  return result;
}

function sizeOf({ begin, end }: TensorEntry): number {
  return end - begin;
}

/** The tensors of a header, in the order of their bytes. Undefined if it is malformed, or they have gaps. */
function tensorsIn(json: Uint8Array): { tensors: Tensor[]; metadata: unknown } | undefined {
  let header: Record<string, unknown>;
  try {
    header = parseObject('the header', json);
  } catch {
    return undefined;
  }
  const { __metadata__: metadata, ...entries } = header;
  const tensors: Tensor[] = [];
  for (const [name, entry] of Object.entries(entries)) {
    const { dtype, shape, data_offsets: offsets } = (isObject(entry) ? entry : {}) as Record<string, unknown>;
    if (typeof dtype !== 'string' || !areCounts(shape) || !areCounts(offsets) || offsets.length !== 2) return undefined;
    const scales = (dtype === 'I8' || dtype === 'U8') && `${name}_scale` in entries ? { scales: `${name}_scale` } : {};
    tensors.push({ name, dtype, shape, begin: offsets[0]!, end: offsets[1]!, isScale: false, columns: 0, ...scales });
  }
  tensors.sort((a, b) => a.begin - b.begin || a.end - b.end);
  const scaleNames = new Set(tensors.map(({ scales }) => scales));
  const shapes = new Map(tensors.map(({ name, shape }) => [name, shape]));
  for (const tensor of tensors) {
    tensor.isScale = scaleNames.has(tensor.name);
    // Scales of other tensors have one dimension for all rows. Those of 4 bits have one more, for groups.
    const scales = shapes.get(tensor.scales ?? '') ?? [];
    if (scales.length > (tensor.dtype === 'U8' ? 2 : 1)) tensor.columns = scales[1]!;
  }
  const fits = tensors.every((one, i) => one.begin === (tensors[i - 1]?.end ?? 0) && sizeOf(one) === tensorBytes(one));
  return fits ? { tensors, metadata } : undefined;
}

function areCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && (one as number) >= 0);
}

/** Scales in F32 or F16; undefined for other types. */
function scaleValues({ dtype, bytes }: { dtype: string; bytes: Uint8Array }): Float32Array | undefined {
  const { buffer } = bytes.slice();
  if (dtype === 'F32') return new Float32Array(buffer);
  return dtype === 'F16' ? Float32Array.from(new Uint16Array(buffer), floatOfHalf) : undefined;
}

/** Writes 8-bit integers times the scale of their row. */
function rowOfBytes(row: Uint8Array, [scale = 0]: Float32Array, out: Float32Array): void {
  const values = new Int8Array(row.buffer, row.byteOffset, row.length);
  for (let i = 0; i < out.length; ++i) out[i] = values[i]! * scale;
}

/** Writes 4-bit integers times the scale of their group. Value 2i is in the low half of byte i. */
function rowOfNibbles(row: Uint8Array, scales: Float32Array, out: Float32Array): void {
  for (let i = 0; i < out.length; ++i) {
    const value = ((row[i >> 1]! >> (4 * (i & 1))) & 15) - 8;
    out[i] = value * scales[Math.floor(i / kGroup)]!;
  }
}

function floatOfHalf(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}
