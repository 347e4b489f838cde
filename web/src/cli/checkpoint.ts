// What a checkpoint says of itself: config.json and the headers of its safetensors files, nothing else of them.
import { PeruseError } from '../errors.js';
import { UrlFolder } from '../sources/folder_url.js';
import { nodeHostParts } from '../worker/host_parts_node.js';
import { openFolder } from '../sources/open_folder.js';
import { nodePlatform } from '../platform/platform_node.js';
import { resolveSource, type MissingFile, type ModelFile, type SourceOptions } from '../sources/source.js';

export interface TensorInfo {
  dtype: string;
  shape: number[];
}

export interface Checkpoint {
  config: Record<string, unknown>;
  configBytes: Uint8Array;
  /** The files with the weights, in order. */
  files: string[];
  tensors: Map<string, TensorInfo>;
  /** A safetensors header as the engine reads it: of the one file, or of all shards as if they were one. */
  header: Uint8Array;
  /** Bytes of the tensors in the files. */
  bytes: number;
}

/** The first bytes of a file, or the whole. */
type Read = (file: string, firstBytes?: number) => Promise<Uint8Array | MissingFile>;

const kFirstRead = 1 << 16;  // Enough for most headers.
const kLargestHeader = 100 << 20;
const kBytes: Record<string, number> = {
  F64: 8, I64: 8, U64: 8, F32: 4, I32: 4, U32: 4, F16: 2, BF16: 2, I16: 2, U16: 2, I8: 1, U8: 1, BOOL: 1, F8_E4M3: 1, F8_E5M2: 1,
};

export async function readCheckpoint(model: string, options: SourceOptions): Promise<Checkpoint> {
  const read = await reader(model, options);
  const configBytes = await readNeeded(read, 'config.json');
  const config = parseJson('config.json', configBytes);
  const files = await weightFiles(read);
  const headers = await Promise.all(files.map((file) => readHeader(read, file)));
  const tensors = new Map<string, TensorInfo>();
  let bytes = 0;
  headers.forEach(({ json }, index) => {
    for (const [name, { dtype, shape, data_offsets: [from, to] = [0, 0] }] of Object.entries(json)) {
      if (name === '__metadata__') continue;
      if (tensors.has(name)) throw new PeruseError('malformed_file', `${files[index]} has the tensor '${name}', and so has another file.`);
      tensors.set(name, { dtype, shape });
      bytes += to - from;
    }
  });
  return { config, configBytes, files, tensors, bytes, header: headers.length === 1 ? headers[0]!.bytes : joinHeaders(tensors) };
}

async function reader(model: string, options: SourceOptions): Promise<Read> {
  const spec = await resolveSource(model, options, nodePlatform.places);
  const signal = new AbortController().signal;
  if (spec.kind === 'url' && !spec.offline) {
    const folder = new UrlFolder(spec, nodeHostParts);
    return async (file, firstBytes) => take(await folder.open(file, signal, firstBytes), firstBytes);
  }
  const folder = await openFolder(spec, nodeHostParts);
  return async (file, firstBytes) => take(await folder.open(file, signal), firstBytes);
}

async function take(file: ModelFile | MissingFile, most = Infinity): Promise<Uint8Array | MissingFile> {
  if (!file.found) return file;
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of file.chunks()) {
    parts.push(chunk.slice());
    length += chunk.length;
    if (length >= most) break;  // Which also stops the transfer.
  }
  return new Uint8Array(Buffer.concat(parts)).subarray(0, Math.min(length, most));
}

async function readNeeded(read: Read, file: string, firstBytes?: number): Promise<Uint8Array> {
  const bytes = await read(file, firstBytes);
  if (bytes instanceof Uint8Array) return bytes;
  throw new PeruseError(bytes.offline ? 'offline' : 'not_found', `Did not find ${bytes.where} (${bytes.why}).`);
}

async function weightFiles(read: Read): Promise<string[]> {
  const single = await read('model.safetensors', 8);
  if (single instanceof Uint8Array) return ['model.safetensors'];
  const index = await read('model.safetensors.index.json');
  if (!(index instanceof Uint8Array)) {
    const torch = await read('pytorch_model.bin', 1);
    const only = torch instanceof Uint8Array ? '; there is only pytorch_model.bin, which Peruse does not read' : '';
    throw new PeruseError('not_found', `Did not find ${single.where} (${single.why})${only}.`);
  }
  const { weight_map: map } = parseJson('model.safetensors.index.json', index) as { weight_map?: Record<string, string> };
  const files = [...new Set(Object.values(map ?? {}))].sort();
  if (files.length === 0 || !files.every((file) => typeof file === 'string' && /^[\w.-]+\.safetensors$/.test(file))) {
    throw new PeruseError('malformed_file', 'model.safetensors.index.json names no files that are weights.');
  }
  return files;
}

type HeaderJson = Record<string, TensorInfo & { data_offsets?: [number, number] }>;

async function readHeader(read: Read, file: string): Promise<{ bytes: Uint8Array; json: HeaderJson }> {
  let bytes = await readNeeded(read, file, kFirstRead);
  if (bytes.length < 8) throw new PeruseError('truncated_file', `${file} ended after ${bytes.length} bytes.`);
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (length > kLargestHeader) throw new PeruseError('malformed_file', `${file} is no safetensors file: its header would be ${length} bytes long.`);
  if (bytes.length < 8 + length) bytes = await readNeeded(read, file, 8 + length);
  if (bytes.length < 8 + length) throw new PeruseError('truncated_file', `${file} ended after ${bytes.length} bytes, within its header.`);
  bytes = bytes.subarray(0, 8 + length);
  const json = parseJson(file, bytes.subarray(8)) as HeaderJson;
  for (const [name, tensor] of Object.entries(json)) {
    if (name === '__metadata__') continue;
    const { dtype, shape, data_offsets: at } = tensor ?? {};
    if (typeof dtype !== 'string' || !Array.isArray(shape) || !shape.every(Number.isSafeInteger) || !Array.isArray(at) || !at.every(Number.isSafeInteger)) {
      throw new PeruseError('malformed_file', `${file}: the header says nothing sensible of the tensor '${name}'.`);
    }
  }
  return { bytes, json };
}

function joinHeaders(tensors: Checkpoint['tensors']): Uint8Array {
  let at = 0;
  const json = Object.fromEntries([...tensors].map(([name, tensor]) => {
    const from = at;
    at += elements(tensor) * (kBytes[tensor.dtype] ?? 1);
    return [name, { ...tensor, data_offsets: [from, at] }];
  }));
  const text = new TextEncoder().encode(JSON.stringify(json));
  const header = new Uint8Array(8 + text.length);
  new DataView(header.buffer).setBigUint64(0, BigInt(text.length), true);
  header.set(text, 8);
  return header;
}

export function elements({ shape }: TensorInfo): number {
  return shape.reduce((product, size) => product * size, 1);
}

function parseJson(file: string, bytes: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new PeruseError('malformed_file', `${file} holds no valid JSON.`, { cause: error });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new PeruseError('malformed_file', `${file} holds JSON, but no object.`);
}
