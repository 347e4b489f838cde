// The page's models have 8-bit weights. Training, and computing with 32 or 16 bits, need floats; this file converts the weights.
import type { Source } from '../peruse/peruse.js';
import type { Settings } from './model_picker.js';

interface Entry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

const kFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json'];

/** Returns the source to load for a precision; converts a bundled model's weights if floats are chosen. */
export async function sourceFor({ source, dtype }: Pick<Settings, 'source' | 'dtype'>, signal: AbortSignal): Promise<Source> {
  const isFloat = dtype === 'fp32' || dtype === 'fp16';
  return isFloat && liesBesidePage(source) ? floatWeights(source, signal) : source;
}

export function liesBesidePage(source: Source): source is string {
  return typeof source === 'string' && source.startsWith(`${location.origin}/`);
}

/** Returns the model's folder if its weights are floats, otherwise its files with the weights as floats. */
export async function floatWeights(folder: string, signal: AbortSignal): Promise<Source> {
  const get = async (name: string) => {
    const response = await fetch(folder + name, { signal });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
  };
  const configFile = await get('config.json');
  const { quantization_config: quantization, ...config } = JSON.parse(new TextDecoder().decode(configFile ?? new Uint8Array())) as {
    quantization_config?: unknown;
  };
  if (quantization === undefined) return folder;
  const files: Record<string, Uint8Array> = {};
  for (const name of kFiles) {
    const content = await get(name);
    if (content !== undefined) files[name] = content;
  }
  files['config.json'] = new TextEncoder().encode(JSON.stringify(config));
  files['model.safetensors'] = withFloats((await get('model.safetensors'))!);
  return files;
}

/** Replaces every 8-bit tensor of a safetensors file by its rows times their scales (`<name>_scale`). */
function withFloats(file: Uint8Array): Uint8Array {
  const size = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + size))) as Record<string, Entry>;
  const bytesOf = ({ data_offsets: [from, to] }: Entry) => file.slice(8 + size + from, 8 + size + to);
  const entries: Record<string, Entry> = {};
  const parts: Uint8Array[] = [];
  let offset = 0;
  const scales = new Set(Object.keys(header).map((name) => `${name}_scale`));
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__' || (scales.has(name) && header[name.slice(0, -'_scale'.length)]!.dtype === 'I8')) continue;
    const scale = entry.dtype === 'I8' ? header[`${name}_scale`] : undefined;
    const part = scale === undefined ? bytesOf(entry) : floatsOf(bytesOf(entry), bytesOf(scale));
    entries[name] = { ...entry, dtype: scale === undefined ? entry.dtype : 'F32', data_offsets: [offset, offset + part.length] };
    parts.push(part);
    offset += part.length;
  }
  const text = JSON.stringify(entries);
  const head = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 8) * 8));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(head.length), true);
  return concatenated([length, head, ...parts]);
}

function floatsOf(values: Uint8Array, scales: Uint8Array): Uint8Array {
  const integers = new Int8Array(values.buffer);
  const scaleOfRow = new Float32Array(scales.buffer);
  const width = integers.length / scaleOfRow.length;
  return new Uint8Array(Float32Array.from(integers, (value, at) => value * scaleOfRow[Math.floor(at / width)]!).buffer);
}

function concatenated(parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
