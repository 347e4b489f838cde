// Writes the header of a safetensors file: 8 bytes with its length, then JSON. The tensors' bytes follow.

export interface TensorEntry {
  name: string;
  dtype: string;
  shape: number[];
  begin: number;
  end: number;
}

/** Bits of a data type: the first number of its name, as in F32 and F8_E4M3; 8 for BOOL. */
export function dtypeBits(dtype: string): number {
  return Number(/\d+/.exec(dtype)?.[0] ?? 8);
}

export function tensorBytes({ dtype, shape }: Pick<TensorEntry, 'dtype' | 'shape'>): number {
  return (dtypeBits(dtype) * shape.reduce((product, size) => product * size, 1)) / 8;
}

/** Returns the header's bytes, with its length. Aligned to 8 bytes. */
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
