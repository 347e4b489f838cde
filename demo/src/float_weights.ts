// The page's models have weights of 8 bits, and some have token embeddings of 4 bits. Training, and other precisions, need floats; this file
// converts the weights. docs/precision.md describes both forms.
import type { Source } from '../peruse/peruse.js';
import type { Settings } from './model_picker.js';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

const kFiles = ['tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json'];

/** Returns the source to load for a precision; converts a bundled model's weights if they have another one. */
export async function sourceFor({ source, dtype }: Pick<Settings, 'source' | 'dtype'>, signal: AbortSignal): Promise<Source> {
  return dtype !== 'auto' && liesBesidePage(source) ? floatWeights(source, signal, dtype) : source;
}

export function liesBesidePage(source: Source): source is string {
  return typeof source === 'string' && source.startsWith(`${location.origin}/`);
}

/** Returns the model's folder if its weights are floats or have the precision `unless`, otherwise its files with the weights as floats. */
export async function floatWeights(folder: string, signal: AbortSignal, unless?: string): Promise<Source> {
  const get = async (name: string) => {
    const response = await fetch(folder + name, { signal });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
  };
  const configFile = await get('config.json');
  if (configFile === undefined) return folder;
  const { quantization_config: quantization, ...config } = JSON.parse(new TextDecoder().decode(configFile)) as {
    quantization_config?: { quant_method: string };
  };
  if (quantization === undefined || quantization.quant_method === `peruse-${unless}`) return folder;
  const [weights, ...others] = await Promise.all(['model.safetensors', ...kFiles].map(get));
  const files: Record<string, Uint8Array> = {
    'config.json': new TextEncoder().encode(JSON.stringify(config)),
    'model.safetensors': withFloats(weights!),
  };
  for (const [index, name] of kFiles.entries()) if (others[index]) files[name] = others[index];
  return files;
}

/** Replaces every tensor that has scales (`<name>_scale`) by floats. */
function withFloats(file: Uint8Array): Uint8Array {
  const size = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + size))) as Record<string, Entry>;
  const bytesOf = ({ data_offsets: [from, to] }: Entry) => file.slice(8 + size + from, 8 + size + to);
  const entries: Record<string, Entry> = {};
  const parts: Uint8Array[] = [];
  let offset = 0;
  const scalesOf = ({ dtype }: Entry, name: string) => (kDecoders.has(dtype) ? header[`${name}_scale`] : undefined);
  const shapeOf = ({ dtype, shape: [rows = 0, ...rest] }: Entry) => [rows, ...(dtype === 'U8' ? rest.map((bytes) => 2 * bytes) : rest)];
  const scales = new Set(Object.entries(header).flatMap(([name, entry]) => (scalesOf(entry, name) ? [`${name}_scale`] : [])));
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__' || scales.has(name)) continue;
    const scale = scalesOf(entry, name);
    const floats = scale && kDecoders.get(entry.dtype)!(bytesOf(entry), bytesOf(scale));
    const part = floats ? new Uint8Array(floats.buffer) : bytesOf(entry);
    const data_offsets: Entry['data_offsets'] = [offset, offset + part.length];
    entries[name] = floats ? { dtype: 'F32', shape: shapeOf(entry), data_offsets } : { ...entry, data_offsets };
    parts.push(part);
    offset += part.length;
  }
  const text = JSON.stringify(entries);
  const head = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(head.length), true);
  return concatenated([length, head, ...parts]);
}

/** Integers of 8 bits, with a scale for each row. */
function floatsOfBytes(values: Uint8Array, scales: Uint8Array): Float32Array<ArrayBuffer> {
  const integers = new Int8Array(values.buffer);
  const scaleOfRow = new Float32Array(scales.buffer);
  const width = integers.length / scaleOfRow.length;
  return Float32Array.from(integers, (value, at) => value * scaleOfRow[Math.floor(at / width)]!);
}

/** Integers of 4 bits, two a byte, with a half-precision scale for each group of 32. Rows of these models have whole groups. */
function floatsOfNibbles(values: Uint8Array, scales: Uint8Array): Float32Array<ArrayBuffer> {
  const scaleOfGroup = Float32Array.from(new Uint16Array(scales.buffer), floatOf);
  const valueAt = (at: number) => ((values[at >> 1]! >> (4 * (at & 1))) & 15) - 8;
  return Float32Array.from({ length: 2 * values.length }, (_, at) => valueAt(at) * scaleOfGroup[at >> 5]!);
}

/** The value of a half-precision number that is finite. */
function floatOf(half: number): number {
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

const kDecoders = new Map([
  ['I8', floatsOfBytes],
  ['U8', floatsOfNibbles],
]);

function concatenated(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
