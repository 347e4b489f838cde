// Writes a checkpoint as safetensors, in its own dtype or another (Node). The engine parses the source and encodes tensors. Memory holds one
// chunk of a file, or one tensor if it is scattered in a PyTorch file.
import '../index_node.js';
import type { FileHandle } from 'node:fs/promises';
import { checkFolderName, NewFile, writeWhole } from '../cache/write_file_node.js';
import { changed, explainOnnx, onnxModel } from '../engine/models/feed_onnx.js';
import { integerParameters, type TensorInfo, WeightsReader } from '../engine/weights_reader.js';
import { PeruseError, show, throwIfAborted } from '../errors.js';
import { openOnnx } from '../onnx/onnx_weights.js';
import type { RouteOptions } from '../pipeline_options.js';
import { runtime } from '../platform/current.js';
import { hasIntegers, kSmallestForm, kUsualForm } from '../precisions.js';
import { type ProgressCallback, Totals } from '../progress.js';
import { locate, readOthers } from '../sources/checkpoint.js';
import type { FileAccess } from '../sources/file_access.js';
import { healing } from '../sources/folders/healing.js';
import { parseObject, textOf } from '../sources/json.js';
import { type FoundWeights, neededShards, neededWeights } from '../sources/model_files.js';
import { pairTemplate } from '../sources/on_demand/chat_template.js';
import { openRoute } from '../sources/on_demand/routes.js';
import { openStatic } from '../sources/on_demand/static_embeddings.js';
import { chooseOnnx, type OnnxChoice, type WeightsWish } from '../sources/onnx_files.js';
import type { OnnxRequest, OpenedOnnx } from '../sources/onnx_part.js';
import { openWithStatic } from '../sources/open_checkpoint.js';
import { feedFile, type Reading, readWhole } from '../sources/read_files.js';
import { type ModelFile, resolveSource, type Source, type SourceOptions, type SourceSpec } from '../sources/source.js';
import { refuseSource, writeStaged } from '../sources/staged_folder_node.js';
import { openShard } from '../sources/weights/feed_weights.js';
import { FloatWeights, floatConfig, floatNotice, type QuantizedConfig, quantizedConfig } from '../sources/weights/float_weights.js';
import { dtypeBits, encodeHeader, type TensorEntry, tensorBytes } from '../sources/weights/safetensors.js';
import { taskOfClasses } from '../tasks/definition.js';
import { kEngineTasks } from '../tasks/tasks.js';
import { readerModule, withModel } from './engines.js';

export interface RewriteOptions extends SourceOptions, RouteOptions {
  /** Receives progress of reading the weights. */
  progress_callback?: ProgressCallback;
  /** Cancels, and removes incomplete files. */
  signal?: AbortSignal;
  /** Replace a model in the folder. By default throws if there is one. */
  overwrite?: boolean;
}

interface RewriteReport {
  encoded: number;
  copied: number;
  bytesBefore: number;
  bytesAfter: number;
  /** The file that was read, or the index of shards. */
  file: string;
  /** Warnings, for example that the source was quantised already. */
  notices: string[];
  layers: PackedLayers;
}

/** What linear layers lose whose tensors get fewer bits than those of narrow layers. */
export interface PackedLayers {
  /** Number of tensors with fewer bits. */
  packed: number;
  /** The largest relative error of these tensors. 0 if no tensor has fewer bits. */
  largestLoss: number;
  /** Tensors of layers that would lose too much, and keep the bits of narrow layers. */
  kept: { name: string; loss: number }[];
}

/** A smaller vocabulary: fewer rows of token embeddings and of layers that predict tokens. */
export interface RowTrim {
  rows: number;
  /** The rows to keep, ascending. */
  kept: readonly number[];
  config(config: Record<string, unknown>): Record<string, unknown>;
  /** Returns the trimmed files next to the weights, such as the tokenizer's. */
  files(files: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array>;
}

/**
 * The largest relative error of a tensor in few bits: root of the squared errors' sum over that of the squared weights. Normally distributed
 * weights have 0.08 in 4 bits, the layers of all-MiniLM-L6-v2 0.086 to 0.099.
 */
export const kMostLoss = 0.125;
const kForm = 'model.safetensors';
const kMetadata = '__metadata__';

/**
 * Writes a model that is made from `source` to `folder`: `write` gets a temporary folder, whose files then replace a model in `folder`. Throws
 * if `folder` is the source, or holds a model that may not be replaced.
 */
export async function writeModel<T>(
  source: Source,
  folder: string,
  options: RewriteOptions,
  write: (staged: string) => Promise<T>,
): Promise<T> {
  throwIfAborted(options.signal);
  checkFolderName(folder);
  await refuseSource(await resolveSource(source, options, runtime().paths), folder);
  return writeStaged('The checkpoint', folder, { overwrite: options.overwrite === true }, write);
}

/**
 * Without `dtype`, values do not change. `wish` chooses the weights file; without it, ONNX files are not read. With `measures`, layers that
 * would lose too much in few bits keep more. Throws PeruseError.
 */
export async function rewriteCheckpoint(
  source: Source,
  staged: string,
  options: RewriteOptions,
  dtype?: string,
  wish?: WeightsWish,
  trim?: RowTrim,
  measures = false,
): Promise<RewriteReport> {
  const signal = options.signal ?? new AbortController().signal;
  const spec = await resolveSource(source, options, runtime().paths);
  return healing(async (opened) => {
    const quiet = await openRouted(spec, opened, signal, options.route);
    const weights = { ...quiet, report: options.progress_callback ?? (() => {}), totals: new Totals() };
    return new Job(quiet, weights, staged, { dtype, wish, trim, measures }).run();
  });
}

/** Opens the source, or the modules of one route of a Router in it. */
export async function openRouted(
  source: SourceSpec,
  opened: FileAccess['opened'],
  signal: AbortSignal,
  route: string | undefined,
): Promise<Reading> {
  const importOnnx = async () => ({ openOnnx, openRoute, openStatic, pairTemplate });
  return openWithStatic(source, { ...runtime(), importOnnx, opened }, signal, route);
}

interface How {
  dtype: string | undefined;
  wish: WeightsWish | undefined;
  trim: RowTrim | undefined;
  measures: boolean;
}

class Job {
  private readonly report_: RewriteReport = {
    encoded: 0,
    copied: 0,
    bytesBefore: 0,
    bytesAfter: 0,
    file: '',
    notices: [],
    layers: { packed: 0, largestLoss: 0, kept: [] },
  };
  private losses_ = new Map<string, number>();
  /** Tensors of layers that keep more bits. */
  private widened_: string[] = [];
  private config_: Uint8Array = new Uint8Array();
  /** A source whose weights must become floats before they are encoded again. */
  private quantized_: QuantizedConfig | undefined;

  constructor(
    private readonly reading_: Reading,
    private weights_: Reading,
    private readonly target_: string,
    private readonly how_: How,
  ) {}

  async run(): Promise<RewriteReport> {
    const { job: encoder, config: file, prefix } = await locate(this.reading_);
    this.config_ = file.content;
    const source = parseObject(file.where, file.content);
    const { dtype, wish } = this.how_;
    this.quantized_ = dtype === undefined ? undefined : quantizedConfig(file);
    if (this.quantized_) {
      this.config_ = floatConfig(this.quantized_);
      this.report_.notices.push(floatNotice(this.quantized_.form, dtype!));
    }
    let config = await this.storedConfig(file.where, dtype);
    const onnx = wish && (await chooseOnnx(encoder.folder, wish, source, encoder.signal, /*exact=*/ true));
    const write = () => (onnx ? this.rewriteOnnx(onnx, encoder, prefix, source) : this.rewriteFound(encoder, prefix));
    let quantized = await write();
    this.widened_ = [...this.losses_].filter(([, loss]) => loss > kMostLoss).map(([name]) => name);
    if (this.widened_.length > 0) {
      const losses = this.losses_;
      this.weights_ = this.reading_; // whose progress is not reported
      Object.assign(this.report_, { encoded: 0, copied: 0, bytesBefore: 0, bytesAfter: 0 });
      quantized = await write();
      this.report_.layers.kept = [...losses].filter(([name]) => !this.losses_.has(name)).map(([name, loss]) => ({ name, loss }));
    }
    this.report_.layers.packed = this.losses_.size;
    this.report_.layers.largestLoss = Math.max(0, ...this.losses_.values());
    if (onnx) {
      config = await this.storedConfig(file.where, dtype ?? (quantized ? kUsualForm : undefined));
    }
    const { trim } = this.how_;
    const others = await readOthers(this.reading_, prefix, source);
    for (const [name, content] of trim ? trim.files(others) : others) await writeWhole(this.target_, name, content);
    // Written last, because a folder without config.json does not count as a checkpoint.
    const written = trim ? trim.config(config) : config;
    await writeWhole(this.target_, `${prefix}config.json`, `${JSON.stringify(written, null, 2)}\n`);
    return this.report_;
  }

  private storedConfig(where: string, dtype: string | undefined): Promise<Record<string, unknown>> {
    return this.withReader(dtype, where, async (_, stored) => stored ?? parseObject(where, this.config_));
  }

  private async rewriteFound(encoder: Reading, prefix: string): Promise<boolean> {
    this.losses_ = new Map();
    const weights = await neededWeights(encoder.folder, encoder.signal);
    this.report_.file = prefix + weights.name;
    if (weights.sharded) await this.rewriteShards(weights, encoder, prefix);
    else await this.rewrite(`${prefix}${kForm}`, weights.file);
    return false;
  }

  /** Returns whether some weights are integers. */
  private async rewriteOnnx(
    { name, dtype }: OnnxChoice,
    { folder, signal }: Reading,
    prefix: string,
    config: Record<string, unknown>,
  ): Promise<boolean> {
    this.losses_ = new Map();
    const encoded = hasIntegers(dtype) ? await this.integers(name, config) : undefined;
    const opened = await openOnnx({ folder, name, ...onnxModel(config), encoded, signal, report: () => {} });
    if (opened.conflicts.length > 0) throw new PeruseError('unsupported', `${name}: ${opened.conflicts.slice(0, 3).join('; ')}.`);
    this.config_ = changed(this.config_, config, opened.changes);
    await refuseIncomplete(name, this.config_, opened);
    this.report_.file = prefix + name;
    const { size, quantized } = opened;
    await this.rewrite(`${prefix}${kForm}`, { found: true, where: name, size, chunks: () => opened.chunks(), close: async () => {} });
    return quantized;
  }

  private async integers(name: string, config: Record<string, unknown>): Promise<OnnxRequest['encoded']> {
    const module = await readerModule();
    return (tensors, changes) => {
      const all = integerParameters(new WeightsReader(module, name), changed(this.config_, config, changes), tensors);
      // Words of 4 bits are made of floats.
      return this.how_.dtype === kSmallestForm ? new Map([...all].filter(([, kind]) => kind === 'rows')) : all;
    };
  }

  private async withReader<T>(
    dtype: string | undefined,
    where: string,
    use: (reader: WeightsReader, stored: Record<string, unknown> | undefined) => Promise<T>,
  ): Promise<T> {
    const reader = new WeightsReader(await readerModule(), where);
    try {
      return await use(reader, dtype === undefined ? undefined : reader.encode(this.config_, dtype));
    } finally {
      reader.dispose();
    }
  }

  private async rewriteShards({ name: indexName, file }: FoundWeights, encoder: Reading, prefix: string): Promise<void> {
    const index = parseObject(file.where, (await readWhole(encoder, indexName, file)).content);
    const targets = refuseSameNames(neededShards(file.where, index).map((shard) => [safetensorsName(shard), shard]));
    const map: Record<string, string> = {};
    for (const [target, shard] of targets) {
      const part = await openShard(encoder, shard, indexName);
      for (const { name } of await this.rewrite(`${prefix}${target}`, part)) map[name] = target;
    }
    const metadata = { ...(index.metadata as object | undefined), total_size: this.report_.bytesAfter };
    const written = `${JSON.stringify({ metadata, weight_map: map }, null, 2)}\n`;
    await writeWhole(this.target_, `${prefix}${kForm}.index.json`, written);
  }

  private async rewrite(name: string, file: ModelFile): Promise<TensorEntry[]> {
    let output: NewFile | undefined;
    try {
      return await this.withReader(this.how_.dtype, file.where, async (reader) => {
        if (this.how_.trim) reader.markTokenRows(this.config_);
        if (this.how_.measures && this.how_.dtype !== undefined) reader.widen(this.widened_);
        output = await NewFile.open(this.target_, name);
        const entries = await this.write(name, file, reader, output.handle);
        await output.keep();
        return entries;
      });
    } catch (error) {
      await output?.drop();
      throw error;
    }
  }

  private async write(name: string, file: ModelFile, reader: WeightsReader, output: FileHandle): Promise<TensorEntry[]> {
    let target: TargetFile | undefined;
    const floats = this.quantized_ && new FloatWeights(file.where, this.quantized_.config);
    const read = await feedFile(this.weights_, name, file, async (chunk) => {
      for (const part of floats?.feed(chunk) ?? [chunk]) {
        const pieces = reader.feed(part);
        target ??= reader.header && (await TargetFile.start(reader.header, output, this.how_.trim));
        for (const { tensor, bytes } of pieces) await target!.append(tensor, bytes);
      }
    });
    const { encoded, bytes: parsed, losses } = reader.finish();
    for (const [tensor, loss] of losses) this.losses_.set(tensor, loss);
    const bytes = floats ? read - floats.headerBytes : parsed;
    const { entries } = target!;
    this.report_.encoded += encoded;
    this.report_.copied += entries.length - 2 * encoded; // an encoded tensor has two entries: rows and scales
    this.report_.bytesBefore += bytes;
    this.report_.bytesAfter += entries.reduce((sum, { begin, end }) => sum + end - begin, 0);
    return entries;
  }
}

/** A safetensors file whose tensors are written in any order. */
class TargetFile {
  readonly entries: TensorEntry[];
  /** Where each tensor is written, by index of the source's header. Names tied to another tensor are only listed in the metadata. */
  private readonly places_: ({ entry: TensorEntry; written: number; rows: KeptRows | undefined } | undefined)[];

  private constructor(
    header: readonly TensorInfo[],
    private readonly output_: FileHandle,
    trim: RowTrim | undefined,
  ) {
    this.places_ = header.map((tensor) => {
      if (tensor.same_as !== undefined) return undefined;
      const rows = trim && tensor.token_rows && tensor.shape[0] === trim.rows ? new KeptRows(tensor, trim) : undefined;
      const shape = rows ? [trim!.kept.length, ...tensor.shape.slice(1)] : tensor.shape;
      return { entry: { ...tensor, shape, begin: 0, end: tensorBytes({ ...tensor, shape }) }, written: 0, rows };
    });
    if (trim && this.places_.every((place) => place?.rows === undefined) && trim.kept.length < trim.rows) {
      throw new PeruseError('unsupported', `No tensor of the weights has vocab_size rows (${trim.rows}).`);
    }
    this.entries = this.places_.flatMap((place) => (place === undefined ? [] : [place.entry]));
    refuseSameNames(this.entries.map(({ name }) => [name, name]));
    if (this.entries.some(({ name }) => name === kMetadata)) {
      throw new PeruseError('unsupported', `A tensor is named ${kMetadata}, which safetensors cannot hold.`);
    }
  }

  static async start(header: readonly TensorInfo[], output: FileHandle, trim: RowTrim | undefined): Promise<TargetFile> {
    const file = new TargetFile(header, output, trim);
    const tied = header.flatMap(({ name, same_as }) => (same_as === undefined ? [] : [[name, same_as]]));
    await file.layOut({ format: 'pt', ...Object.fromEntries(tied) });
    return file;
  }

  async append(tensor: number, bytes: Uint8Array): Promise<void> {
    const place = this.places_[tensor]!;
    const kept = place.rows ? Buffer.concat(place.rows.of(bytes)) : bytes;
    await this.output_.write(kept, 0, kept.length, this.bodyAt_ + place.entry.begin + place.written);
    place.written += kept.length;
  }

  private bodyAt_ = 0;

  /** Assigns offsets: wide types first, so that every tensor is aligned; otherwise in the source's order. */
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

/** Throws if a parameter of the encoder or of the head that config.json names is missing, because the result could not be loaded. */
async function refuseIncomplete(name: string, config: Uint8Array, opened: OpenedOnnx): Promise<void> {
  const chunks = opened.chunks()[Symbol.asyncIterator]();
  try {
    const { value: header } = await chunks.next();
    const { architectures } = parseObject('config.json', config);
    await withModel(
      taskOfClasses(kEngineTasks, [architectures].flat().map(textOf))!,
      opened.quantized ? kUsualForm : 'auto',
      config,
      async (engine) => engine.feedWeights(header as Uint8Array),
    );
  } catch (error) {
    throw explainOnnx(name, error, opened.conflicts);
  } finally {
    await chunks.return?.();
  }
}

/** Renames 'pytorch_model-00001-of-00002.bin' to 'model-00001-of-00002.safetensors'; other names stay. */
function safetensorsName(shard: string): string {
  return shard.endsWith('.safetensors') ? shard : `${shard.replace(/\.bin$/, '').replace(/^pytorch_model/, 'model')}.safetensors`;
}

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

/** Selects rows of a tensor whose bytes arrive in order. */
class KeptRows {
  private readonly rowBytes_: number;
  private readonly isKept_: Uint8Array;
  private at_ = 0;

  constructor(tensor: TensorInfo, { rows, kept }: { rows: number; kept: readonly number[] }) {
    this.rowBytes_ = tensorBytes(tensor) / rows;
    this.isKept_ = new Uint8Array(rows);
    for (const row of kept) this.isKept_[row] = 1;
  }

  /** Returns the kept rows within the next bytes. Consecutive rows are one part. */
  of(bytes: Uint8Array): Uint8Array[] {
    const parts: Uint8Array[] = [];
    let start = 0; // of a run of kept bytes
    let end = 0;
    for (let at = 0; at < bytes.length; ) {
      const row = Math.floor((this.at_ + at) / this.rowBytes_);
      const next = Math.min(bytes.length, (row + 1) * this.rowBytes_ - this.at_);
      if (this.isKept_[row] === 1) {
        if (end < at) {
          if (end > start) parts.push(bytes.subarray(start, end));
          start = at;
        }
        end = next;
      }
      at = next;
    }
    if (end > start) parts.push(bytes.subarray(start, end));
    this.at_ += bytes.length;
    return parts;
  }
}
