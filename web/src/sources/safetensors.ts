// Writes the header of a safetensors file: 8 bytes of length, JSON; the tensors' bytes follow, one after the other. Files are read
// by the engine (engine/weights_reader.ts).

export interface TensorEntry {
  name: string;
  dtype: string;
  shape: number[];
  /** Bytes from the first tensor's first byte. */
  begin: number;
  end: number;
}

/** The first number of a type's name, as in F32 and F8_E4M3; BOOL is a byte. */
export function dtypeBits(dtype: string): number {
  return Number(/\d+/.exec(dtype)?.[0] ?? 8);
}

export function tensorBytes({ dtype, shape }: Pick<TensorEntry, 'dtype' | 'shape'>): number {
  return (dtypeBits(dtype) * shape.reduce((product, size) => product * size, 1)) / 8;
}

/** The bytes of a header (the length included) for tensors whose offsets are set; the body after it is aligned to 8. */
export function encodeHeader(tensors: readonly TensorEntry[], metadata: unknown): Uint8Array {
  const entries = tensors.map(({ name, dtype, shape, begin, end }) => [name, { dtype, shape, data_offsets: [begin, end] }]);
  const head = metadata === undefined ? [] : [['__metadata__', metadata]];
  let json = new TextEncoder().encode(JSON.stringify(Object.fromEntries([...head, ...entries])));
  if (json.length % 8 !== 0) {
    const padded = new Uint8Array(Math.ceil(json.length / 8) * 8).fill(0x20);
    padded.set(json);
    json = padded;
  }
  const bytes = new Uint8Array(8 + json.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  return bytes;
}
