// One tensor of a checkpoint, quantised as its bytes arrive.
import type { TensorInfo } from '../engine/weights_reader.js';
import { PeruseError } from '../errors.js';
import { quantizeRow } from './quantize_row.js';

const kElementBytes: Readonly<Record<string, number>> = { F32: 4, F16: 2, BF16: 2 };
const kBatchElements = 1 << 18;

/** Linear layers within encoder layers, except those that are folded into float32 tables or kept as such. */
const kEncoderLinear = /(^|\.)(encoder|transformer)\.layer\.\d+\.(?!.*(\.pos_|distance_embedding)).*(?<!\.conv)\.weight$/;
/** The same of ModernBERT. */
const kModernBertLinear = /(^|\.)layers\.\d+\.(attn\.Wqkv|attn\.Wo|mlp\.Wi|mlp\.Wo)\.weight$/;
/** Word embeddings and the linears over or under them. */
const kWords =
  /^decoder\.weight$|(^|\.)(embeddings\.word_embeddings|embeddings\.tok_embeddings|embeddings\.embed_proj|embeddings_project|generator_lm_head|cls\.predictions\.decoder|lm_head\.decoder|vocab_projector)\.weight$/;

/**
 * Whether dtype q8 holds the tensor as int8 (core/families says so, layer by layer) and its rows are the output channels. What
 * isn't, or lies otherwise (grouped linears, convolutions), stays as it is and is quantised while loading if need be.
 */
export function isQuantizable({ name, dtype, shape }: TensorInfo): boolean {
  const matrix = shape.length === 2 || (name.endsWith('.pointwise.weight') && shape.length === 3 && shape[2] === 1);
  const isNamed = [kEncoderLinear, kModernBertLinear, kWords].some((names) => names.test(name));
  return dtype in kElementBytes && matrix && !shape.includes(0) && isNamed;
}

export class QuantizedTensor {
  /** Of all rows, once all bytes have come. */
  readonly scales: Float32Array<ArrayBuffer>;
  private readonly width_: number;
  private readonly dtype_: string;
  private readonly name_: string;
  private readonly pending_: Uint8Array<ArrayBuffer>; // whole rows being collected
  private filled_ = 0;
  private row_ = 0;

  constructor(
    { name, dtype, shape }: TensorInfo,
    private readonly write_: (rows: Uint8Array) => Promise<void>,
  ) {
    const [rows, ...rest] = shape as [number, ...number[]];
    this.scales = new Float32Array(rows);
    this.width_ = rest.reduce((product, size) => product * size, 1);
    this.dtype_ = dtype;
    this.name_ = name;
    const batch = Math.min(rows, Math.max(1, Math.floor(kBatchElements / this.width_)));
    this.pending_ = new Uint8Array(batch * this.width_ * kElementBytes[dtype]!);
  }

  async push(bytes: Uint8Array): Promise<void> {
    while (bytes.length > 0) {
      const part = bytes.subarray(0, this.pending_.length - this.filled_);
      this.pending_.set(part, this.filled_);
      this.filled_ += part.length;
      bytes = bytes.subarray(part.length);
      const rowsLeft = this.scales.length - this.row_;
      const wanted = Math.min(this.pending_.length, rowsLeft * this.width_ * kElementBytes[this.dtype_]!);
      if (this.filled_ === wanted) await this.flush();
    }
  }

  private async flush(): Promise<void> {
    const values = toFloats(this.dtype_, this.pending_.subarray(0, this.filled_));
    const integers = new Int8Array(values.length);
    for (let at = 0; at < values.length; at += this.width_) {
      const scale = quantizeRow(values.subarray(at, at + this.width_), integers.subarray(at, at + this.width_));
      if (Number.isNaN(scale)) {
        throw new PeruseError(
          'malformed_file',
          `The tensor "${this.name_}" holds NaN or infinity in row ${this.row_}: nothing can be computed with it.`,
        );
      }
      this.scales[this.row_++] = scale;
    }
    this.filled_ = 0;
    await this.write_(new Uint8Array(integers.buffer));
  }
}

/** Little-endian elements as floats, exactly. `bytes` starts at its buffer's start. */
function toFloats(dtype: string, bytes: Uint8Array<ArrayBuffer>): Float32Array {
  if (dtype === 'F32') return new Float32Array(bytes.buffer, 0, bytes.length / 4);
  const halves = new Uint16Array(bytes.buffer, 0, bytes.length / 2);
  const floats = new Float32Array(halves.length);
  if (dtype === 'BF16') {
    const bits = new Uint32Array(floats.buffer);
    for (let i = 0; i < halves.length; ++i) bits[i] = halves[i]! << 16;
  } else {
    for (let i = 0; i < halves.length; ++i) floats[i] = halfToFloat(halves[i]!);
  }
  return floats;
}

function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
}
