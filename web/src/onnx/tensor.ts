// TensorProto: a tensor's name, type, shape and location in the file. Only small tensors are read with the graph.
import { joined } from '../sources/file_bytes.js';
import { type Field, fields, kFourBytes, malformed, numbersOf, textOf } from './protobuf.js';

export const kTypes = { F32: 1, U8: 2, I8: 3, I32: 6, I64: 7, BOOL: 9, F16: 10, F64: 11, BF16: 16, U4: 21, I4: 22 } as const;

const kBits: Readonly<Record<number, number>> = {
  1: 32,
  2: 8,
  3: 8,
  4: 16,
  5: 16,
  6: 32,
  7: 64,
  9: 8,
  10: 16,
  11: 64,
  12: 32,
  13: 64,
  16: 16,
  21: 4,
  22: 4,
};

export interface Tensor {
  name: string;
  dims: number[];
  type: number;
  /** Little-endian values in C order; undefined if they are in a file. */
  bytes?: Uint8Array;
  place?: Place;
}

/** Location of bytes. `file` names external data; undefined means the .onnx file. */
export interface Place {
  file?: string;
  offset: number;
  length: number;
}

/** Tensors with more bytes stay in the file. */
export const kSmallBytes = 1 << 16;
const kMostTypedBytes = 1 << 20;
const kMostDims = 8;

export class TensorBuilder {
  private name_ = '';
  private readonly dims_: number[] = [];
  private type_ = 0;
  private raw_: { bytes?: Uint8Array; place?: Place } | undefined;
  private readonly typed_: { field: Field; bytes: number }[] = [];
  private typedBytes_ = 0;
  private readonly external_ = new Map<string, string>();
  private isExternal_ = false;

  /** Adds any field except raw_data (9), for which there is `setRaw`. */
  push(field: Field): void {
    switch (field.number) {
      case 1:
        this.dims_.push(...numbersOf(field, kMostDims + 1));
        if (this.dims_.length > kMostDims) throw malformed(`a tensor has more than ${kMostDims} dimensions`);
        return;
      case 2:
        this.type_ = field.value;
        return;
      case 8:
        this.name_ = textOf(field, 'the name of a tensor');
        return;
      case 13:
        this.pushExternal(field);
        return;
      case 14:
        this.isExternal_ = field.value === 1;
        return;
      case 4:
      case 5:
      case 7:
      case 10:
      case 11:
        this.typedBytes_ += field.bytes.length + 8;
        if (this.typedBytes_ > kMostTypedBytes)
          throw malformed(`the tensor "${this.name_}" has more than ${kMostTypedBytes} bytes in typed fields`);
        this.typed_.push({ field: { ...field, bytes: field.bytes.slice() }, bytes: field.bytes.length });
    }
  }

  setRaw(raw: { bytes?: Uint8Array; place?: Place }): void {
    this.raw_ = raw;
  }

  build(): Tensor {
    const count = this.dims_.reduce((product, size) => (size < 0 ? Number.NaN : product * size), 1);
    const bits = kBits[this.type_];
    const shape = `[${this.dims_.join(', ')}]`;
    if (!Number.isSafeInteger(count * 64)) throw malformed(`the tensor "${this.name_}" has the impossible shape ${shape}`);
    const tensor: Tensor = { name: this.name_, dims: this.dims_, type: this.type_ };
    if (bits === undefined) return tensor; // text or complex numbers
    const length = Math.ceil((count * bits) / 8);
    const found = this.isExternal_ ? { place: this.externalPlace(length) } : (this.raw_ ?? { bytes: this.typedValues() });
    const has = found.place?.length ?? found.bytes?.length ?? 0;
    if (has !== length) throw malformed(`the tensor "${this.name_}" ${shape} has ${has} bytes instead of ${length}`);
    return Object.assign(tensor, found);
  }

  private pushExternal(field: Field): void {
    let key = '';
    let value = '';
    for (const part of fields(field.bytes)) {
      if (part.number === 1) key = textOf(part, 'a key of external_data');
      if (part.number === 2) value = textOf(part, 'a value of external_data');
    }
    this.external_.set(key, value);
  }

  /** The name of the external file is checked when it is opened (onnx_weights.ts). */
  private externalPlace(length: number): Place {
    const number = (key: string, missing: number) => {
      const text = this.external_.get(key);
      if (text === undefined) return missing;
      const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (!Number.isSafeInteger(value)) throw malformed(`the tensor "${this.name_}" has the impossible ${key} '${text}' of external data`);
      return value;
    };
    return { file: this.external_.get('location') ?? '', offset: number('offset', 0), length: number('length', length) };
  }

  /** Converts float_data, int32_data, ... to the form of raw_data. */
  private typedValues(): Uint8Array {
    return joined(this.typed_.map(({ field }) => this.typedField(field)));
  }

  private typedField(field: Field): Uint8Array {
    if (field.number === 4 || field.number === 10) {
      if (field.type === 0) throw malformed(`the tensor "${this.name_}" has floats that are written as integers`);
      if (field.number === 4 && field.type !== kFourBytes && field.bytes.length % 4 !== 0)
        throw malformed('float_data has a broken number');
      return field.bytes;
    }
    const values = numbersOf(field);
    const size = (kBits[this.type_] ?? 0) / 8;
    if (size < 1) return Uint8Array.from(values);
    const bytes = new Uint8Array(values.length * size);
    const view = new DataView(bytes.buffer);
    values.forEach((value, index) => {
      if (size === 8) view.setBigInt64(8 * index, BigInt(value), true);
      else if (size === 4) view.setInt32(4 * index, value, true);
      else if (size === 2) view.setInt16(2 * index, value, true);
      else view.setInt8(index, value);
    });
    return bytes;
  }
}

export function parseTensor(message: Uint8Array): Tensor {
  const builder = new TensorBuilder();
  for (const field of fields(message)) {
    if (field.number === 9) builder.setRaw({ bytes: field.bytes.slice() });
    else builder.push(field);
  }
  return builder.build();
}

export function sizeOf({ dims }: Pick<Tensor, 'dims'>): number {
  return dims.reduce((product, size) => product * size, 1);
}

export function bytesOf({ bytes, place }: Tensor): number {
  return bytes?.length ?? place?.length ?? 0;
}

export function isFloat({ type }: Tensor): boolean {
  return type === kTypes.F32 || type === kTypes.F16 || type === kTypes.BF16;
}
