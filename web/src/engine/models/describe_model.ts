// Describes a model by its configuration, the headers of its weights, and the sizes of its files.
import { PeruseError, throwIfAborted } from '../../errors.js';
import {
  type Dtype,
  type EngineDtype,
  engineDtype,
  engineDtypeOfOnnx,
  floatsFor,
  kDtypes,
  kOnnxDtypes,
  kQuantizedForms,
  type OnnxDtype,
  type QuantizedForm,
} from '../../precisions.js';
import {
  type Job,
  labelsFolder,
  locateModel,
  lookAtTokenizer,
  modulesIn,
  readModules,
  readStanford,
  readTokenLayer,
  tokenizerForSize,
} from '../../sources/checkpoint.js';
import type { FileAccess } from '../../sources/file_access.js';
import { FileStart } from '../../sources/file_bytes.js';
import { healing } from '../../sources/folders/healing.js';
import { lookAt } from '../../sources/folders/look.js';
import { isObject, parseObject, textOf } from '../../sources/json.js';
import { kLabelsTokenizer, labelsEncoderOf, labelsHint } from '../../sources/label_models.js';
import {
  explainMissing,
  type FoundWeights,
  findWeights,
  kForms,
  kTokenizerConfigs,
  kVocabularies,
  type LoadPooling,
  notFound,
  shardsOf,
} from '../../sources/model_files.js';
import { refusedType } from '../../sources/onnx_families.js';
import { onnxName } from '../../sources/onnx_files.js';
import { openCheckpoint, openWithStatic } from '../../sources/open_checkpoint.js';
import { readPairTemplate } from '../../sources/pair_template.js';
import { type NamedFile, type Reading, readNeeded, readThoseThere } from '../../sources/read_files.js';
import type { FileFacts, MissingFile, ModelFile, ModelFolder, SourceSpec } from '../../sources/source.js';
import { naming } from '../../sources/weights/feed_weights.js';
import { type EngineTask, hasHead } from '../../tasks/definition.js';
import type { WasmModule } from '../../web_types.js';
import type { Engine } from '../engine.js';
import type { VariantChoice } from '../variant.js';
import { describeVectors, type VectorReport } from './describe_vectors.js';

export interface DescribeRequest {
  source: SourceSpec;
  encoder?: SourceSpec | undefined;
  labelsEncoder?: SourceSpec | undefined;
  route?: string | undefined;
  pooling?: LoadPooling | undefined;
  /** Location and name of ONNX files (WeightsWish). */
  subfolder: string;
  modelFileName: string;
  tasks: EngineTask[];
  choice: VariantChoice;
  wasm?: string | WasmModule | undefined;
}

/** Why a task does not run. */
export interface Refusal {
  code: string;
  message: string;
}

/** Weights that can be loaded: the options of pipeline() that load them, and what they cost. */
export interface ModelDownload {
  dtype: OnnxDtype;
  weights: 'safetensors' | 'onnx';
  /** The weights file, or the index of shards. */
  file: string;
  /** Bytes of all files to download, or 0 if the server does not report the size of the weights. */
  bytes: number;
  /** Bytes of memory that the weights will take, about. */
  memory: number;
  /** Whether an engine on the CPU can hold the weights: a page's WebAssembly memory ends at 4 GB, of which calls need some. */
  fits: boolean;
  /** Whether a load downloads nothing. */
  cached: boolean;
  tasks: string[];
}

export interface DescriptionReport {
  config: Record<string, unknown>;
  downloads: ModelDownload[];
  /** The reason for each task that does not run with any weights. */
  refused: Record<string, Refusal>;
  /** The vectors of an embedder. */
  vectors?: VectorReport;
}

export interface DescribeContext {
  files: FileAccess;
  startEngine: () => Promise<Engine>;
  signal: AbortSignal;
}

/** Codes of errors that mean that a model or task is not supported, not that a file is damaged. */
const kRefusals = ['unsupported', 'missing_head', 'missing_tensor', 'shape_mismatch', 'not_found'];

/** Bytes of weights that an engine can hold. The rest of its 4 GiB is for the engine, and for what a load and a call need. */
const kMostWeights = 3.75 * 2 ** 30;

/** Sums the bytes of files that one load needs, and records whether all of them are cached. */
class Files {
  bytes = 0;
  cached = true;

  add({ size, cached }: FileFacts): this {
    this.bytes += size;
    this.cached &&= cached;
    return this;
  }
}

interface Checkpoint {
  found: Pick<FoundWeights, 'name' | 'sharded'>;
  files: Files;
  /** Copies that earlier loads have stored as they quantised the file. */
  copies: Map<QuantizedForm, ModelFile>;
  /** If the file itself is neither cached nor reachable: the precision of the copy that is read in its place. */
  only?: QuantizedForm;
  index?: Uint8Array;
  start: FileStart;
}

export async function describeModel(request: DescribeRequest, context: DescribeContext): Promise<DescriptionReport> {
  return healing((opened) => describeOnce(request, { ...context, files: { ...context.files, opened } }));
}

async function describeOnce(request: DescribeRequest, context: DescribeContext): Promise<DescriptionReport> {
  const { signal } = context;
  const open = async (source: SourceSpec) => openCheckpoint(source, context.files, signal);
  const own = await openWithStatic(request.source, context.files, signal, request.route);
  const encoder = request.encoder && (await open(request.encoder));
  const labels = request.labelsEncoder && (await open(request.labelsEncoder));
  const { job, config, lack, weights } = await locateModel(own, { encoder, labels });
  const checkpoint = await lookAtCheckpoint({ ...job, folder: weights });
  const onnx = await lookAtOnnx(weights, request, signal);
  if (!checkpoint.found && onnx.length === 0) throw await explainMissing(weights, checkpoint.missing, signal);
  const engine = await context.startEngine();
  try {
    const root = { ...own, importOnnx: context.files.importOnnx };
    return await new Description(root, job, config, lack, engine, request.pooling).of(
      request.tasks,
      checkpoint.found ? checkpoint.weights : undefined,
      onnx,
    );
  } finally {
    engine.dispose();
  }
}

async function lookAtCheckpoint(
  reading: Reading,
): Promise<{ found: true; weights: Checkpoint } | { found: false; missing: MissingFile[] }> {
  const { folder, signal } = reading;
  const copies = new Map<QuantizedForm, ModelFile>();
  for (const form of kQuantizedForms) {
    const copy = await folder.openInForm?.(kForms[0], form, signal);
    if (copy) copies.set(form, copy);
  }
  const found = await findWeights({ open: (file) => folder.open(file, signal, 1) }, signal).catch((error: unknown) => {
    if (copies.size === 0) throw error;
    return { found: false as const, missing: [] };
  });
  if (!found.found) {
    const [only] = copies.keys();
    if (only === undefined) return found;
    const open = async () => (await folder.openInForm?.(kForms[0], only, signal)) ?? notThere(kForms[0]);
    const start = new FileStart(open);
    return { found: true, weights: { found: { name: kForms[0], sharded: false }, files: new Files(), copies, only, start } };
  }
  await found.file.close();
  const files = new Files();
  const start = new FileStart((most) => folder.open(found.name, signal, most));
  if (!found.sharded) {
    const facts = await lookAt(folder, found.name, signal);
    return { found: true, weights: { found, files: facts.found ? files.add(facts) : files, copies, start } };
  }
  const { content: index } = await readNeeded(reading, found.name);
  files.add({ found: true, size: index.length, cached: true });
  for (const shard of shardsOf(parseObject(found.name, index)) ?? []) {
    const facts = await lookAt(folder, shard, signal);
    if (!facts.found) throw notFound([facts], `, which ${found.name} names`);
    files.add(facts);
  }
  return { found: true, weights: { found, files, copies, index, start } };
}

async function lookAtOnnx(
  folder: ModelFolder,
  request: DescribeRequest,
  signal: AbortSignal,
): Promise<{ dtype: OnnxDtype; file: string; files: Files }[]> {
  const all = await Promise.all(
    kOnnxDtypes.map(async (dtype) => {
      const file = onnxName(dtype, request);
      const facts = await lookAt(folder, file, signal);
      if (!facts.found) return [];
      const files = new Files().add(facts);
      for (let part = 0; ; ++part) {
        const data = await lookAt(folder, `${file}_data${part === 0 ? '' : `_${part}`}`, signal);
        if (!data.found) return [{ dtype, file, files }];
        files.add(data);
      }
    }),
  );
  return all.flat();
}

class Description {
  private readonly parsed_: Record<string, unknown>;

  constructor(
    /** Reads the model's own folder. */
    private readonly root_: Reading & Pick<FileAccess, 'importOnnx'>,
    private readonly job_: Job,
    private readonly config_: NamedFile,
    private readonly lack_: string | undefined,
    /** Provides the module for the checks; each check opens a session of its own. */
    private readonly engine_: Engine,
    private readonly pooling_: DescribeRequest['pooling'],
  ) {
    this.parsed_ = parseObject(config_.name, config_.content);
  }

  async of(
    tasks: readonly EngineTask[],
    checkpoint: Checkpoint | undefined,
    onnx: Awaited<ReturnType<typeof lookAtOnnx>>,
  ): Promise<DescriptionReport> {
    const tokenizer = await lookAtTokenizer(this.job_.folder, this.job_.signal);
    const small = tokenizer?.files.reduce((files, file) => files.add(file), new Files());
    const config = await lookAt(this.job_.folder, this.config_.name, this.job_.signal);
    const configBytes = config.found && config.size > 0 ? config.size : this.config_.content.length;
    const refused: DescriptionReport['refused'] = {};
    const runs: EngineTask[] = [];
    const isRead = this.unreadOnnx() === undefined;
    for (const task of tasks) {
      throwIfAborted(this.job_.signal);
      const why = await this.refusal(task, small !== undefined, checkpoint);
      if (why) refused[task.name] = why;
      else runs.push(task);
    }
    const of = async (
      dtype: OnnxDtype,
      weights: ModelDownload['weights'],
      file: string,
      files: Files,
      engine: EngineDtype,
    ): Promise<ModelDownload> => {
      const memory = runs.length === 0 ? 0 : await this.memory(engine, runs[0]!, weights === 'onnx' ? undefined : checkpoint);
      return {
        dtype,
        weights,
        file,
        bytes: files.bytes === 0 ? 0 : files.bytes + (small?.bytes ?? 0) + configBytes,
        memory,
        fits: memory <= kMostWeights,
        cached: files.cached && (small?.cached ?? true) && config.found && config.cached,
        tasks: runs.map(({ name }) => name),
      };
    };
    const downloads: ModelDownload[] = [];
    for (const dtype of checkpoint ? this.dtypesOf(checkpoint) : []) {
      const { found, files, copies } = checkpoint!;
      const copy = files.cached && !checkpoint!.only ? undefined : copies.get(dtype as QuantizedForm);
      const loaded = copy ? new Files().add({ found: true, size: copy.size, cached: true }) : files;
      downloads.push(await of(dtype, 'safetensors', found.name, loaded, engineDtype(dtype)));
    }
    const read = isRead ? onnx : [];
    for (const { dtype, file, files } of read) downloads.push(await of(dtype, 'onnx', file, files, engineDtypeOfOnnx(dtype)));
    for (const dtype of checkpoint ? [] : kDtypes) {
      if (read.some((one) => one.dtype === dtype)) continue;
      const floats = floatsFor(dtype).flatMap((other) => read.filter((one) => one.dtype === other))[0];
      if (floats) downloads.push(await of(dtype, 'onnx', floats.file, floats.files, engineDtype(dtype)));
    }
    const embeds = runs.some(({ sentenceFiles }) => sentenceFiles === 'all');
    const vectors = embeds ? await describeVectors(this.root_, { job: this.job_, config: this.config_ }, this.pooling_) : undefined;
    return { config: this.parsed_, downloads, refused, ...(vectors && { vectors }) };
  }

  /** Returns why the model's ONNX files cannot be loaded. */
  private unreadOnnx(): string | undefined {
    return refusedType(textOf(this.parsed_.model_type));
  }

  private dtypesOf({ only, copies }: Checkpoint): readonly Dtype[] {
    if (only) return [...copies.keys()];
    const method = isObject(this.parsed_.quantization_config) ? textOf(this.parsed_.quantization_config.quant_method) : undefined;
    if (method === undefined) return kDtypes;
    return kQuantizedForms.filter((form) => method === `peruse-${form}`);
  }

  private async refusal(task: EngineTask, hasTokenizer: boolean, checkpoint: Checkpoint | undefined): Promise<Refusal | undefined> {
    // If files are missing, the engine can check a model for every task except those of a model with labelConfig.
    const refused = this.lack_ !== undefined && task.labelConfig ? undefined : await this.engineRefusal(task, checkpoint);
    if (refused) return { ...refused, message: refused.message + this.ownCode(refused) };
    const unread = checkpoint ? undefined : this.unreadOnnx();
    if (unread) return { code: 'unsupported', message: unread };
    if (this.lack_ !== undefined) return { code: 'not_found', message: this.lack_ };
    if (!hasTokenizer) {
      const names = kVocabularies.map((files) => files.join(' with ')).join(', ');
      return { code: 'not_found', message: `the tokenizer is missing: none of the files ${names} exists` };
    }
    const labels = task.labelsTokenizer ? labelsEncoderOf(this.parsed_) : undefined;
    if (labels === undefined) return undefined;
    const there = await lookAtTokenizer(labelsFolder(this.job_), this.job_.signal);
    return there === undefined ? { code: 'not_found', message: `${labelsHint(labels)}.` } : undefined;
  }

  private async engineRefusal(task: EngineTask, checkpoint: Checkpoint | undefined): Promise<Refusal | undefined> {
    let isOpen = false;
    const feed = async (session: Engine) => {
      isOpen = true;
      if (checkpoint) await this.feedHeader(session, checkpoint);
    };
    try {
      await this.asking(task, checkpoint?.only ?? 'auto', feed);
    } catch (error) {
      // Errors about config.json are about the model. Other errors while weights are read are about the weights file.
      if (!isRefusal(error) && (isOpen || !(error instanceof PeruseError))) {
        return naming(checkpoint?.found.name ?? this.config_.name, () => Promise.reject(error));
      }
      const { code, message } = error as PeruseError;
      return { code, message };
    }
    return checkpoint ? undefined : otherHead(task, this.parsed_);
  }

  private async memory(dtype: string, task: EngineTask, checkpoint: Checkpoint | undefined): Promise<number> {
    try {
      return await this.asking(task, dtype, async (session) => {
        if (checkpoint) await this.feedHeader(session, checkpoint);
        return session.weightBytes();
      });
    } catch (error) {
      if (isRefusal(error)) return 0;
      throw error;
    }
  }

  private async asking<T>(task: EngineTask, dtype: string, use: (session: Engine) => T | Promise<T>): Promise<T> {
    const session = this.engine_.fork();
    try {
      session.addFile('config.json', this.config_.content);
      for (const { name, content } of await this.tokenizer()) session.addFile(name, content);
      session.addFile(`${kLabelsTokenizer}tokenizer.json`, kStandInTokenizer);
      for (const { name, content } of await this.modules(task)) session.addFile(name, content);
      const pooling = task.sentenceFiles === 'all' ? this.pooling_ : undefined;
      await session.open({ task: task.name, dtype, ...(pooling && { pooling }) });
      return await use(session);
    } finally {
      session.dispose();
    }
  }

  /**
   * Files without which the task's head is not known: those of language models, of cross-encoders' layers, of Stanford's ColBERT, and of BGE M3's
   * layers.
   */
  private async modules(task: EngineTask): Promise<NamedFile[]> {
    if (task.sentenceFiles !== 'all' && task.sentenceFiles !== 'prompts') return [];
    const isLanguageModel = [this.parsed_.architectures].flat().some((name) => textOf(name).endsWith('ForCausalLM'));
    const modules = await modulesIn(this.root_);
    if (!isLanguageModel && modules.at(-1)?.type !== 'Dense') {
      if (task.sentenceFiles !== 'all') return [];
      const layer = await readTokenLayer(this.job_, this.config_, modules, this.pooling_);
      return [...layer, ...((await readStanford(this.job_, this.config_)) ?? [])];
    }
    const located = { job: this.job_, config: this.config_, prefix: '' };
    const files = [...(await readModules(this.root_)), ...(await readThoseThere(this.job_, kTokenizerConfigs))];
    return [...files, ...(await readPairTemplate({ ...this.job_, task }, located, files, this.root_.importOnnx))].filter(
      ({ name }) => !kTokenizerConfigs.includes(name),
    );
  }

  private tokenizer_: Promise<NamedFile[]> | undefined;

  private tokenizer(): Promise<NamedFile[]> {
    const standIn = { name: 'tokenizer.json', content: kStandInTokenizer };
    this.tokenizer_ ??= tokenizerForSize(this.job_, this.config_).then((files) => files ?? [standIn]);
    return this.tokenizer_;
  }

  private async feedHeader(session: Engine, checkpoint: Checkpoint): Promise<void> {
    const { index } = checkpoint;
    if (index) return void session.setShardIndex(index);
    const feed = (bytes: Uint8Array) => session.feedWeights(bytes);
    const reader = {
      feed: checkpoint.found.name.endsWith('.safetensors') ? upToHeader(feed) : feed,
      hasHeader: () => session.headerRead(),
    };
    if (!(await checkpoint.start.feedTo(reader))) await session.finishWeights(); // Throws, because the file is too short.
  }

  private ownCode({ code }: Refusal): string {
    if (code !== 'unsupported' || this.parsed_.auto_map === undefined) return '';
    return '; the repository brings Python code of its own for it (auto_map), which is never run';
  }
}

/** Leaves out what follows the header of a safetensors file: for the first weights the engine would allocate memory. */
function upToHeader(feed: (bytes: Uint8Array) => void): (bytes: Uint8Array) => void {
  let left = -1;
  return (bytes) => {
    if (left < 0) left = bytes.length < 8 ? Infinity : 8 + Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
    const part = bytes.subarray(0, Math.min(left, bytes.length));
    left -= part.length;
    if (part.length > 0) feed(part);
  };
}

/** Checks the task by the class that config.json names, for ONNX files, whose parameters are unknown before they are loaded. */
function otherHead(task: EngineTask, { architectures }: Record<string, unknown>): Refusal | undefined {
  const names = [architectures ?? []].flat().map(textOf);
  if (names.length === 0 || hasHead(task, names) !== false) return undefined;
  return { code: 'missing_head', message: `config.json names ${names.join(', ')}, which has no head for this task` };
}

function isRefusal(error: unknown): error is PeruseError {
  return error instanceof PeruseError && kRefusals.includes(error.code);
}

function notThere(where: string): MissingFile {
  return { found: false, where, why: 'it was removed meanwhile' };
}

/** Includes the tokens by which a language model ranks. */
const kTokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'yes', 'no'];

export const kStandInTokenizer: Uint8Array = new TextEncoder().encode(
  JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    normalizer: null,
    decoder: null,
    added_tokens: kTokens.map((content, id) => ({
      id,
      content,
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    pre_tokenizer: { type: 'WhitespaceSplit' },
    post_processor: { type: 'BertProcessing', sep: ['[SEP]', 3], cls: ['[CLS]', 2] },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(kTokens.map((token, id) => [token, id])),
    },
  }),
);
