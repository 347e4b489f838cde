// The header of a safetensors file: 8 bytes of length, JSON, then the tensors' bytes one after the other.
import { describe, PeruseError } from '../errors.js';

export interface TensorEntry {
  name: string;
  dtype: string;
  shape: number[];
  /** Bytes from the first tensor's first byte. */
  begin: number;
  end: number;
}

/** A header longer than this is a broken file. */
const kMaxHeaderBytes = 100_000_000;

export function headerLength(file: string, bytes: Uint8Array): number {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
  if (length > kMaxHeaderBytes) throw malformed(file, `its header would have ${length} bytes`);
  return length;
}

/** The tensors in the order of their bytes, which must follow each other; and the metadata. */
export function parseHeader(file: string, bytes: Uint8Array): { tensors: TensorEntry[]; metadata: unknown } {
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Record<string, unknown>;
  } catch (error) {
    throw malformed(file, `its header is not JSON (${describe(error)})`);
  }
  const { __metadata__: metadata, ...entries } = header;
  const tensors = Object.entries(entries).map(([name, entry]) => tensorOf(file, name, entry));
  tensors.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let at = 0;
  for (const { name, begin, end } of tensors) {
    if (begin !== at) throw malformed(file, `tensor "${name}" starts at byte ${begin} instead of ${at}`);
    at = end;
  }
  return { tensors, metadata };
}

function tensorOf(file: string, name: string, entry: unknown): TensorEntry {
  const { dtype, shape, data_offsets: offsets } = (entry ?? {}) as Record<string, unknown>;
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  if (typeof dtype !== 'string' || !Array.isArray(shape) || !shape.every(isCount)) {
    throw malformed(file, `tensor "${name}" has no dtype or no shape`);
  }
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount) || offsets[0]! > offsets[1]!) {
    throw malformed(file, `tensor "${name}" has impossible data_offsets`);
  }
  const bits = dtypeBits(dtype) * shape.reduce((product, size) => product * size, 1);
  if (8 * (offsets[1]! - offsets[0]!) !== bits) throw malformed(file, `tensor "${name}" is not as long as its shape says`);
  return { name, dtype, shape, begin: offsets[0]!, end: offsets[1]! };
}

/** The first number of a type's name, as in F32 and F8_E4M3; BOOL is a byte. */
export function dtypeBits(dtype: string): number {
  return Number(/\d+/.exec(dtype)?.[0] ?? 8);
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

export function malformed(file: string, why: string): PeruseError {
  return new PeruseError('malformed_file', `${file} is not a sound safetensors file: ${why}.`);
}
