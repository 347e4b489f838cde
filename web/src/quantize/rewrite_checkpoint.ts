// Writes a checkpoint again, tensor by tensor (Node): what becomes of each tensor is the caller's. The result is safetensors.
//
// One pass over each weights file; nothing larger than a chunk is in memory, but for a tensor that lies scattered in a PyTorch file.
import { type FileHandle, lstat, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../cache/make_folder_node.js';
import { checkFolderName, NewFile, writeWhole } from '../cache/write_file_node.js';
import '../index_node.js';
import { type TensorInfo, WeightsReader } from '../engine/weights_reader.js';
import { describe, PeruseError, show, throwIfAborted } from '../errors.js';
import { platform } from '../platform/current.js';
import { ByteReporter, type ProgressCallback, Totals } from '../progress.js';
import { parseObject } from '../sources/json.js';
import { explainMissing, type FoundWeights, findWeights, notFound } from '../sources/model_files.js';
import { openFolder } from '../sources/open_folder.js';
import { dtypeBits, encodeHeader, type TensorEntry, tensorBytes } from '../sources/safetensors.js';
import { type ModelFile, type ModelFolder, resolveSource, type Source, type SourceOptions, type SourceSpec } from '../sources/source.js';
import { filesBesideWeights, kModelFiles, openCheckpoint, wholeFile } from './checkpoint_files.js';
import { readerModule } from './reader_module.js';

export interface RewriteOptions extends SourceOptions {
  /** Told of the weights' bytes as they are read. */
  progress_callback?: ProgressCallback;
  /** Cancels; nothing half-written is left behind. */
  signal?: AbortSignal;
  /** Replaces a model that the folder holds. Default false, which refuses such a folder. */
  overwrite?: boolean;
}

/** Takes a tensor's bytes in order, and writes what becomes of them. */
export interface TensorWriter {
  push(bytes: Uint8Array): Promise<void>;
  /** After the last. */
  end(): Promise<void>;
}

/** Appends to the tensor of that index in Change.tensors. */
export type Append = (index: number, bytes: Uint8Array) => Promise<void>;

/** What becomes of a tensor. */
export interface Change {
  tensors: TensorInfo[];
  writer: (append: Append) => TensorWriter;
}

/** What a rewriting does. */
export interface Rewriting {
  /** config.json as the result has it. */
  config(config: Record<string, unknown>, where: string): object;
  /** Nothing: the tensor is copied. */
  change(tensor: TensorInfo): Change | undefined;
}

export interface RewriteReport {
  /** Tensors that were changed. */
  changed: number;
  /** Tensors that were copied. */
  copied: number;
  /** Bytes of the weights before and after. */
  bytesBefore: number;
  bytesAfter: number;
}

const kForm = 'model.safetensors';
const kMetadata = '__metadata__';

/** @throws PeruseError: those of loading. */
export async function rewriteCheckpoint(
  source: Source,
  folder: string,
  options: RewriteOptions,
  rewriting: Rewriting,
): Promise<RewriteReport> {
  const signal = options.signal ?? new AbortController().signal;
  throwIfAborted(signal);
  const target = checkFolderName(folder);
  const spec = await resolveSource(source, options, platform().paths);
  try {
    return await rewrite(spec, target, options, signal, rewriting);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error; // The system's alone are about files.
    throw new PeruseError('invalid_argument', `The checkpoint can't be written to ${folder}: ${describe(error)}`, { cause: error });
  }
}

async function rewrite(
  spec: SourceSpec,
  folder: string,
  options: RewriteOptions,
  signal: AbortSignal,
  rewriting: Rewriting,
): Promise<RewriteReport> {
  await makeFolder(folder);
  if (spec.kind === 'folder' && (await realpath(spec.path)) === (await realpath(folder))) {
    throw new PeruseError('invalid_argument', `A checkpoint can't be written over the one that it is made from: ${folder}.`);
  }
  const files = await openFolder(spec, platform().folderParts ?? {});
  await clear(folder, options.overwrite === true);
  return new Job(spec.name, files, folder, options.progress_callback ?? (() => {}), signal, rewriting).run();
}

/** Removes the files of a model from the folder, or throws if it has any: two models in one folder would be read as one. */
async function clear(folder: string, overwrite: boolean): Promise<void> {
  for (const name of kModelFiles) {
    const path = join(folder, name);
    if ((await lstat(path).catch(() => undefined)) === undefined) continue;
    if (!overwrite) {
      throw new PeruseError('invalid_argument', `${path} exists: the folder holds a model. Name another folder, or set overwrite to true.`);
    }
    await rm(path);
  }
}

class Job {
  private readonly totals_ = new Totals();
  private readonly report_: RewriteReport = { changed: 0, copied: 0, bytesBefore: 0, bytesAfter: 0 };

  constructor(
    private readonly name_: string,
    private readonly folder_: ModelFolder,
    private readonly target_: string,
    private readonly progress_: ProgressCallback,
    private readonly signal_: AbortSignal,
    private readonly rewriting_: Rewriting,
  ) {}

  async run(): Promise<RewriteReport> {
    const { config: file, encoder, prefix } = await openCheckpoint(this.folder_, this.signal_);
    const config = this.rewriting_.config(parseObject(file.where, await wholeFile(file)), file.where);
    const weights = await findWeights(encoder, this.signal_);
    if (!weights.found) throw await explainMissing(encoder, weights.missing, this.signal_);
    if (weights.sharded) await this.rewriteShards(weights, encoder, prefix);
    else await this.rewrite(`${prefix}${kForm}`, weights.file);
    for (const [name, content] of await filesBesideWeights(this.folder_, prefix, config, this.signal_)) {
      await writeWhole(this.target_, name, content);
    }
    // Last: a folder without it is no checkpoint.
    await writeWhole(this.target_, `${prefix}config.json`, `${JSON.stringify(config, null, 2)}\n`);
    return this.report_;
  }

  private async rewriteShards({ name: indexName, file }: FoundWeights, encoder: ModelFolder, prefix: string): Promise<void> {
    const index = parseObject(file.where, await wholeFile(file));
    const shards = [...new Set(Object.values((index.weight_map ?? {}) as object))];
    if (shards.length === 0 || !shards.every((name): name is string => typeof name === 'string' && /^[^./\\:?#%][^/\\:?#%]*$/.test(name))) {
      throw new PeruseError('malformed_file', `${file.where} has no weight_map of plain file names.`);
    }
    const targets = refuseSameNames(shards.map((shard) => [safetensorsName(shard), shard]));
    const map: Record<string, string> = {};
    for (const [target, shard] of targets) {
      const part = await encoder.open(shard, this.signal_);
      if (!part.found) throw notFound([part], `, which ${indexName} names`);
      for (const { name } of await this.rewrite(`${prefix}${target}`, part)) map[name] = target;
    }
    const metadata = { ...(index.metadata as object | undefined), total_size: this.report_.bytesAfter };
    const written = `${JSON.stringify({ metadata, weight_map: map }, null, 2)}\n`;
    await writeWhole(this.target_, `${prefix}${kForm}.index.json`, written);
  }

  /** Returns what the written file holds. */
  private async rewrite(name: string, file: ModelFile): Promise<TensorEntry[]> {
    const reader = new WeightsReader(await readerModule(), file.where);
    let output: NewFile | undefined;
    try {
      output = await NewFile.open(this.target_, name);
      const entries = await this.write(name, file, reader, output.handle);
      await output.keep();
      return entries;
    } catch (error) {
      await output?.drop();
      throw error;
    } finally {
      reader.dispose();
    }
  }

  private async write(name: string, file: ModelFile, reader: WeightsReader, output: FileHandle): Promise<TensorEntry[]> {
    const reporter = new ByteReporter(this.progress_, this.name_, name, file.size, this.totals_);
    reporter.start();
    let target: TargetFile | undefined;
    for await (const chunk of file.chunks()) {
      throwIfAborted(this.signal_);
      reporter.add(chunk.length);
      const pieces = reader.feed(chunk);
      target ??= reader.header && (await TargetFile.start(reader.header, this.rewriting_, output));
      for (const { tensor, bytes } of pieces) await target!.push(tensor, bytes);
    }
    reader.finish();
    reporter.finish();
    this.report_.changed += target!.changed;
    this.report_.copied += target!.copied;
    this.report_.bytesBefore += target!.bytesBefore;
    this.report_.bytesAfter += target!.entries.reduce((sum, { begin, end }) => sum + end - begin, 0);
    return target!.entries;
  }
}

/** A tensor of the source, on its way. */
interface Passage {
  bytes: number;
  left: number;
  writer: TensorWriter;
}

/** A safetensors file being written, whose tensors come in any order. */
class TargetFile {
  changed = 0;
  copied = 0;
  bytesBefore = 0;
  entries: TensorEntry[] = [];
  private readonly passages_: (Passage | undefined)[];

  private constructor(
    header: readonly TensorInfo[],
    rewriting: Rewriting,
    private readonly output_: FileHandle,
  ) {
    this.passages_ = header.map((tensor) => this.plan(tensor, rewriting));
    refuseSameNames(this.entries.map(({ name }) => [name, name]));
    if (this.entries.some(({ name }) => name === kMetadata)) {
      throw new PeruseError('unsupported', `A tensor is named ${kMetadata}, which safetensors cannot hold.`);
    }
  }

  static async start(header: readonly TensorInfo[], rewriting: Rewriting, output: FileHandle): Promise<TargetFile> {
    const file = new TargetFile(header, rewriting, output);
    const tied = header.flatMap(({ name, same_as }) => (same_as === undefined ? [] : [[name, same_as]]));
    await file.layOut({ format: 'pt', ...Object.fromEntries(tied) });
    for (const passage of file.passages_) if (passage?.bytes === 0) await passage.writer.end();
    return file;
  }

  async push(tensor: number, bytes: Uint8Array): Promise<void> {
    const passage = this.passages_[tensor]!;
    await passage.writer.push(bytes);
    passage.left -= bytes.length;
    if (passage.left === 0) await passage.writer.end();
  }

  /** A second name of the same tensor is left out, as the reference library leaves it out: the metadata say whose it is. */
  private plan(tensor: TensorInfo, rewriting: Rewriting): Passage | undefined {
    if (tensor.same_as !== undefined) return undefined;
    const bytes = tensorBytes(tensor);
    this.bytesBefore += bytes;
    const change = rewriting.change(tensor);
    if (change) ++this.changed;
    else ++this.copied;
    const entries = (change?.tensors ?? [tensor]).map((info) => ({ ...info, begin: 0, end: tensorBytes(info) }));
    this.entries.push(...entries);
    const written = entries.map(() => 0);
    const append: Append = async (index, part) => {
      await this.output_.write(part, 0, part.length, this.bodyAt_ + entries[index]!.begin + written[index]!);
      written[index]! += part.length;
    };
    return { bytes, left: bytes, writer: change?.writer(append) ?? { push: (part) => append(0, part), end: async () => {} } };
  }

  private bodyAt_ = 0;

  /** Wide types first, so that every tensor is aligned, else in the source's order. */
  private async layOut(metadata: object): Promise<void> {
    this.entries.sort((a, b) => dtypeBits(b.dtype) - dtypeBits(a.dtype));
    let at = 0;
    for (const entry of this.entries) {
      const size = entry.end;
      entry.begin = at;
      at += size;
      entry.end = at;
    }
    const header = encodeHeader(this.entries, metadata);
    this.bodyAt_ = header.length;
    await this.output_.write(header, 0, header.length, 0);
    if (at > 0) await this.output_.truncate(header.length + at);
  }
}

/** 'pytorch_model-00001-of-00002.bin' is 'model-00001-of-00002.safetensors' then; other names keep what they are called. */
function safetensorsName(shard: string): string {
  return shard.endsWith('.safetensors') ? shard : `${shard.replace(/\.bin$/, '').replace(/^pytorch_model/, 'model')}.safetensors`;
}

/** Throws if two of the sources would be written under one name. */
function refuseSameNames(pairs: readonly (readonly [target: string, source: string])[]): Map<string, string> {
  const sources = new Map<string, string>();
  for (const [target, source] of pairs) {
    const other = sources.get(target);
    if (other !== undefined)
      throw new PeruseError('unsupported', `${show(other)} and ${show(source)} would both be written as ${show(target)}.`);
    sources.set(target, source);
  }
  return sources;
}
