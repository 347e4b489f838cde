// quantizeCheckpoint(): writes a q8 checkpoint (Node). What it is and how exact: docs/precision.md.
//
// One pass over each weights file: a row at a time becomes integers and a scale; nothing larger than a chunk is in memory.
// The result loads like any checkpoint, and gives the same bits as quantising the original while loading.
import { mkdir, open, realpath, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import '../index_node.js';
import { describe, PeruseError, throwIfAborted } from '../errors.js';
import { openFolder } from '../sources/open_folder.js';
import { platform } from '../platform/current.js';
import { ByteReporter, Totals, type ProgressCallback } from '../progress.js';
import { QuantizedTensor, isQuantizable } from './quantize_tensor.js';
import { dtypeBits, encodeHeader, headerLength, malformed, parseHeader, type TensorEntry } from '../sources/safetensors.js';
import { resolveSource, type ModelFile, type ModelFolder, type Source, type SourceOptions } from '../sources/source.js';

export interface QuantizeOptions extends SourceOptions {
  /** Told of the weights' bytes as they are read. */
  progress_callback?: ProgressCallback;
  /** Cancels; nothing half-written is left behind. */
  signal?: AbortSignal;
}

/** What was written. */
export interface QuantizeReport {
  /** Tensors that became int8. */
  quantized: number;
  /** Tensors that were copied. */
  copied: number;
  /** Bytes of the weights before. */
  bytesBefore: number;
  /** Bytes of the weights after. */
  bytesAfter: number;
}

const kWeights = 'model.safetensors';
const kIndex = 'model.safetensors.index.json';
const kBeside = [
  'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json', 'added_tokens.json', 'vocab.txt', 'vocab.json',
  'merges.txt', 'spm.model',
];
/** How config.json says what the weights are; core/models/config.cc reads it. */
const kNote = { quant_method: 'peruse-q8', bits: 8, scheme: 'symmetric int8, <name>_scale: one float32 for each row' };

/**
 * Writes the checkpoint of `source` to `folder` with linear layers and word embeddings as 8-bit integers (dtype 'q8').
 *
 * @throws PeruseError: those of loading, and 'unsupported' for a checkpoint that is quantised already.
 */
export async function quantizeCheckpoint(source: Source, folder: string, options: QuantizeOptions = {}): Promise<QuantizeReport> {
  const signal = options.signal ?? new AbortController().signal;
  throwIfAborted(signal);
  const spec = await resolveSource(source, options, platform().places);
  await mkdir(folder, { recursive: true });
  if (spec.kind === 'folder' && await realpath(spec.path) === await realpath(folder)) {
    throw new PeruseError('invalid_argument', `The q8 checkpoint can't replace the one it is made from: ${folder}.`);
  }
  const job = new Job(spec.name, await openFolder(spec, platform().hostParts ?? {}), folder, options.progress_callback ?? (() => {}), signal);
  return job.run();
}

class Job {
  private readonly totals_ = new Totals();
  private readonly report_: QuantizeReport = { quantized: 0, copied: 0, bytesBefore: 0, bytesAfter: 0 };

  constructor(
    private readonly name_: string,
    private readonly source_: ModelFolder,
    private readonly folder_: string,
    private readonly progress_: ProgressCallback,
    private readonly signal_: AbortSignal,
  ) {}

  async run(): Promise<QuantizeReport> {
    const config = await this.config();
    const single = await this.source_.open(kWeights, this.signal_);
    if (single.found) await this.transform(kWeights, single);
    else await this.transformShards(single.where);
    for (const name of kBeside) {
      const file = await this.source_.open(name, this.signal_);
      if (file.found) await writeFile(join(this.folder_, name), await whole(file));
    }
    // Last: a folder without it is no checkpoint.
    await writeFile(join(this.folder_, 'config.json'), `${JSON.stringify(config, null, 2)}\n`);
    return this.report_;
  }

  private async config(): Promise<object> {
    const file = await this.source_.open('config.json', this.signal_);
    if (!file.found) throw new PeruseError('not_found', `Did not find ${file.where} (${file.why}).`);
    const config = parseObject(file.where, await whole(file));
    if ('quantization_config' in config) {
      throw new PeruseError('unsupported', `${file.where} has a quantization_config: the checkpoint is quantised already.`);
    }
    return { ...config, quantization_config: kNote };
  }

  private async transformShards(missing: string): Promise<void> {
    const file = await this.source_.open(kIndex, this.signal_);
    if (!file.found) throw new PeruseError('not_found', `Found neither ${missing} nor ${file.where} (${file.why}).`);
    const index = parseObject(file.where, await whole(file));
    const shards = Object.values((index['weight_map'] ?? {}) as object);
    if (shards.length === 0 || !shards.every((name): name is string => typeof name === 'string' && /^[^./\\:?#%][^/\\:?#%]*$/.test(name))) {
      throw new PeruseError('malformed_file', `${file.where} has no weight_map of plain file names.`);
    }
    const map: Record<string, string> = {};
    for (const shard of new Set(shards)) {
      const part = await this.source_.open(shard, this.signal_);
      if (!part.found) throw new PeruseError('not_found', `Did not find ${part.where} (${part.why}), which ${kIndex} names.`);
      for (const { name } of await this.transform(shard, part)) map[name] = shard;
    }
    const metadata = { ...(index['metadata'] as object | undefined), total_size: this.report_.bytesAfter };
    await writeFile(join(this.folder_, kIndex), `${JSON.stringify({ metadata, weight_map: map }, null, 2)}\n`);
  }

  /** Under a passing name until it is whole. Returns what it holds. */
  private async transform(name: string, file: ModelFile): Promise<TensorEntry[]> {
    const path = join(this.folder_, name);
    const partial = `${path}.partial`;
    const output = await open(partial, 'w');
    try {
      const tensors = await this.write(name, file, output);
      await output.close();
      await rename(partial, path);
      return tensors;
    } catch (error) {
      await output.close().catch(() => {});
      await rm(partial, { force: true });
      throw error;
    }
  }

  private async write(name: string, file: ModelFile, output: FileHandle): Promise<TensorEntry[]> {
    const reporter = new ByteReporter(this.progress_, this.name_, name, file.size, this.totals_);
    reporter.start();
    const reader = new ByteReader(file, (bytes) => {
      throwIfAborted(this.signal_);
      reporter.add(bytes);
    });
    const { tensors, metadata } = parseHeader(file.where, await reader.take(headerLength(file.where, await reader.take(8))));
    const plan = layOut(tensors);
    const header = encodeHeader(plan.entries, metadata);
    await output.write(header, 0, header.length, 0);
    for (const tensor of tensors) {
      const at = (entry: TensorEntry) => header.length + entry.begin;
      const { values, scales } = plan.places.get(tensor.name)!;
      let position = at(values);
      const write = async (bytes: Uint8Array) => {
        await output.write(bytes, 0, bytes.length, position);
        position += bytes.length;
      };
      if (scales === undefined) {
        await reader.each(tensor.end - tensor.begin, write);
        ++this.report_.copied;
      } else {
        const quantized = new QuantizedTensor(tensor, write);
        await reader.each(tensor.end - tensor.begin, (bytes) => quantized.push(bytes));
        position = at(scales);
        await write(new Uint8Array(quantized.scales.buffer));
        ++this.report_.quantized;
      }
      this.report_.bytesBefore += tensor.end - tensor.begin;
    }
    if (!await reader.atEnd()) throw malformed(file.where, 'bytes follow its last tensor');
    this.report_.bytesAfter += plan.entries.reduce((sum, { begin, end }) => sum + end - begin, 0);
    reporter.finish();
    return plan.entries;
  }
}

interface Places {
  values: TensorEntry;
  scales?: TensorEntry;
}

/** Where everything goes: wide types first, so that every tensor is aligned, else in the source's order. */
function layOut(tensors: readonly TensorEntry[]): { entries: TensorEntry[]; places: Map<string, Places> } {
  const places = new Map<string, Places>();
  for (const tensor of tensors) {
    const values = { ...tensor };
    if (!isQuantizable(tensor)) {
      places.set(tensor.name, { values });
      continue;
    }
    const elements = tensor.shape.reduce((product, size) => product * size, 1);
    Object.assign(values, { dtype: 'I8', begin: 0, end: elements });
    const scales = { name: `${tensor.name}_scale`, dtype: 'F32', shape: [tensor.shape[0]!], begin: 0, end: 4 * tensor.shape[0]! };
    places.set(tensor.name, { values, scales });
  }
  const entries = [...places.values()].flatMap(({ values, scales }) => scales === undefined ? [values] : [values, scales]);
  entries.sort((a, b) => dtypeBits(b.dtype) - dtypeBits(a.dtype));
  let at = 0;
  for (const entry of entries) {
    const size = entry.end - entry.begin;
    entry.begin = at;
    entry.end = at += size;
  }
  return { entries, places };
}

/** Takes a file's bytes in the amounts that are wanted. */
class ByteReader {
  private readonly chunks_: AsyncIterator<Uint8Array>;
  private chunk_: Uint8Array = new Uint8Array(0);

  constructor(private readonly file_: ModelFile, private readonly onChunk_: (bytes: number) => void) {
    this.chunks_ = file_.chunks()[Symbol.asyncIterator]();
  }

  async take(bytes: number): Promise<Uint8Array> {
    const result = new Uint8Array(bytes);
    let filled = 0;
    await this.each(bytes, async (part) => {
      result.set(part, filled);
      filled += part.length;
    });
    return result;
  }

  /** Calls `use` with the next `bytes` bytes, piece by piece. */
  async each(bytes: number, use: (part: Uint8Array) => Promise<void>): Promise<void> {
    for (let left = bytes; left > 0;) {
      if (await this.atEnd()) throw new PeruseError('truncated_file', `${this.file_.where} ends ${left} bytes too early.`);
      const part = this.chunk_.subarray(0, left);
      await use(part);
      left -= part.length;
      this.chunk_ = this.chunk_.subarray(part.length);
    }
  }

  async atEnd(): Promise<boolean> {
    while (this.chunk_.length === 0) {
      const next = await this.chunks_.next();
      if (next.done) return true;
      this.chunk_ = next.value;
      this.onChunk_(next.value.length);
    }
    return false;
  }
}

async function whole(file: ModelFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of file.chunks()) parts.push(chunk.slice());
  return Buffer.concat(parts);
}

function parseObject(where: string, bytes: Uint8Array): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    throw new PeruseError('malformed_file', `${where} is not JSON: ${describe(error)}.`);
  }
  throw new PeruseError('malformed_file', `${where} is not a JSON object.`);
}
