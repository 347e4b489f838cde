// The options of pipeline(), each in one place.
import type { DeviceWish, DtypeWish } from './engine/load_request.js';
import type { Variant, VariantWish } from './engine/variant.js';
import { PeruseError, show } from './errors.js';
import { checkOptions, type Given, kSourceOptions, type Option, option } from './options.js';
import { dtypeIfQuantized, engineDtype, kOnnxDtypes, type OnnxDtype } from './precisions.js';
import type { ProgressCallback } from './progress.js';
import { kFinderOptions, kLabelsOption, type RedactPipelineOptions } from './redact/types.js';
import { isObject } from './sources/json.js';
import type { Source, SourceOptions } from './sources/source.js';
import type { OwnLoadOption } from './tasks/definition.js';
import { definitionOf, kTaskNames, type OwnLoadOptionOf, type ResolvedTask, type Task, type TaskOrAlias } from './tasks/tasks.js';
import type { WasmModule } from './web_types.js';

const kOnlyElsewhere = {
  /** transformers.js's: ignored with a notice, because it configures onnxruntime. */
  session_options: option<object>({ kind: 'other' }),
  /** transformers.js's: ignored with a notice. Files with the data of an ONNX file are found by themselves. */
  use_external_data_format: option<unknown>({ kind: 'other' }),
  /** transformers.js's: `id2label` of the object names the labels. All else is ignored with a notice: the model's config.json is read. */
  config: option<object>({ kind: 'other' }),
};

/** A value, or an object with one for each name of an ONNX file, without its suffix. */
type PerFile<T> = T | Readonly<Record<string, T>>;

const kOnnxDevices = ['gpu', 'webnn', 'webnn-gpu', 'webnn-npu', 'webnn-cpu', 'cuda', 'dml', 'coreml'] as const;

/** Names of onnxruntime's devices that Peruse does not have. */
type OnnxDevice = (typeof kOnnxDevices)[number];

type Options = Record<string, unknown>;

/** Returns the options in Peruse's terms. `hasLabels` means that the task has the option id2label. */
function withoutForeign<O extends object>(given: O, hasLabels: boolean): { options: O; notices: string[] } {
  if (typeof given !== 'object' || given === null) return { options: given, notices: [] };
  const { session_options, use_external_data_format, config, ...rest } = given as Options;
  const options: Options = { ...rest };
  const notices: string[] = [];
  const file = typeof options.model_file_name === 'string' ? options.model_file_name : 'model';
  for (const name of ['dtype', 'device']) {
    const value = options[name];
    if (!isObject(value)) continue;
    options[name] = value[file];
    if (value[file] === undefined) notices.push(`${name} has no entry for the file '${file}', so the default was used.`);
  }
  if (kOnnxDevices.includes(options.device as OnnxDevice)) {
    notices.push(`device '${String(options.device)}' is onnxruntime's; the device was chosen as with 'auto'.`);
    options.device = 'auto';
  }
  if (isObject(session_options) && Object.keys(session_options).length > 0) {
    notices.push('session_options is ignored: it configures onnxruntime, which Peruse does not use.');
  }
  if (use_external_data_format) notices.push('use_external_data_format is ignored: files with external data are found by themselves.');
  if (isObject(config)) {
    const { id2label, ...others } = config;
    if (hasLabels && id2label !== undefined) options.id2label ??= id2label;
    if (!hasLabels || Object.keys(others).length > 0)
      notices.push("config is ignored except for id2label: the model's config.json is read.");
  }
  return { options: options as O, notices };
}

const kLabels = {
  /**
   * Names of the labels, instead of those in config.json: a list, or an object with the keys 0, 1, ... Useful for adapters, which store only the
   * number of labels; without this option they are LABEL_0, LABEL_1, ...
   */
  id2label: option<readonly string[] | Readonly<Record<number, string>>>({ kind: 'other' }),
};

export const kLabelReaders = {
  /** For an old GLiNER checkpoint that only names its encoder (`model_name` in gliner_config.json): the folder with config.json and tokenizer. */
  encoder: option<Source>({
    kind: 'other',
    flag: { value: 'source', help: "for an old GLiNER: the model with its encoder's configuration and tokenizer" },
  }),
  /** For a bi-encoder (GLiNER, GLiClass) without a tokenizer for labels: its label encoder's folder. */
  labels_encoder: option<Source>({
    kind: 'other',
    flag: { value: 'id', help: 'for a bi-encoder: the model with the tokenizer of its label encoder' },
  }),
};

const kAdapters = {
  /** For jina-embeddings-v3, whose checkpoint has an adapter for each task: the task's name, for example 'retrieval.query'. Default: none. */
  lora_task: option({ kind: 'string', flag: { value: 'name', help: 'for jina-embeddings-v3: the task whose adapter to apply' } }),
};

const kMasks = {
  /** With DeBERTa: use the enhanced mask decoder with absolute positions, as in pre-training. Default: false. */
  enhanced_mask_decoder: option({ kind: 'boolean', default: false }),
};

export const kPooling = {
  /**
   * The vectors of a model whose folder does not say that it gives them. 'splade': sparse vectors, of a masked language model (SPLADE) or of
   * BGE M3 (`sparse_linear.pt`). 'multi_vector': matrices of BGE M3 (`colbert_linear.pt`). Folders that sentence-transformers saved as a
   * SparseEncoder or MultiVectorEncoder, and those of PyLate and Stanford's ColBERT, do not need this option.
   */
  pooling: option({ kind: ['splade', 'multi_vector'] }),
};

export const kRoutes = {
  /**
   * The route of sentence-transformers' Router, for example 'query', for folders whose routes have encoders of their own: only its modules are
   * loaded. If the routes share an encoder, the call's `task` chooses.
   */
  route: option({ kind: 'string', flag: { value: 'name', help: 'the route of a Router whose modules to load, such as query' } }),
};

/** The options of every load. */
export const kLoadOptions = {
  /** Receives each file's name and bytes during loading. */
  progress_callback: option<ProgressCallback>({ kind: 'function' }),
  /** Cancels loading. */
  signal: option({ kind: 'signal' }),
  /**
   * The device. 'cpu' (default) loads no GPU code; 'wasm' is transformers.js's name of it. 'auto' times a few layers of the model's size on
   * both devices, once per session and size, and takes the faster one; without a working GPU that is the CPU. 'webgpu' requires the GPU or
   * throws 'no_gpu'; in Node it needs the npm package `webgpu`. `info.device` is the result. onnxruntime's other devices ('gpu', 'webnn', 'cuda',
   * 'dml', 'coreml') mean 'auto', with a notice.
   */
  device: option<PerFile<DeviceWish | 'wasm' | OnnxDevice>>({
    kind: ['auto', 'cpu', 'wasm', 'webgpu'],
    default: 'cpu',
    flag: { except: ['wasm'], value: 'device', help: 'cpu, webgpu or auto (cpu)' },
  }),
  /**
   * Precision of the weights in memory. 'q8' stores linear layers and token embeddings as 8-bit integers: a quarter of the memory, and faster
   * on the CPU. 'q4' is the same with 4 bits for token embeddings and linear layers of at least 1,024 inputs and outputs (docs/precision.md has
   * the accuracy of both). 'fp32' is exact. 'fp16' is exact for float16 and most bfloat16 checkpoints, and keeps about three digits of others.
   * Arithmetic is float32. Default 'auto': the precision of a q8 or q4 checkpoint; otherwise 'fp32' on the CPU, 'fp16' on the GPU.
   *
   * All values also name ONNX files, as in transformers.js: 'int8' is `onnx/model_int8.onnx`. Layers of 4 bits are stored as 8 bits, so
   * `info.dtype` is then 'q8'. An object has one of them for each name of a file, without its suffix.
   */
  dtype: option<PerFile<'auto' | OnnxDtype>>({
    kind: ['auto', ...kOnnxDtypes],
    default: 'auto',
    flag: { value: 'precision', help: 'precision: fp32, fp16, q8, q4; of ONNX files also int8, uint8, q4f16, bnb4 (auto)' },
  }),
  /** The precision as transformers.js 2 names it: true means `dtype: 'q8'`, false `dtype: 'fp32'`. Ignored if `dtype` is given. */
  quantized: option({ kind: 'boolean' }),
  ...kOnlyElsewhere,
  /**
   * The files with the weights. 'safetensors' means model.safetensors or pytorch_model.bin. 'onnx' means the ONNX file that `dtype` names.
   * Default 'auto': safetensors, unless only ONNX files exist or the ONNX file of the requested `dtype` is the smaller download. Peruse reads
   * only the parameters of an ONNX file, and computes with its own engine.
   */
  weights: option({
    kind: ['auto', 'safetensors', 'onnx'],
    default: 'auto',
    flag: { value: 'form', help: 'safetensors, onnx or auto: the files to read (auto)' },
  }),
  /**
   * How a float checkpoint that is loaded as q8 or q4 is cached: 'auto', the default, stores the quantised weights, so that the next load
   * reads a quarter or less. 'source' stores the file as it is on the server, which every `dtype` can use. Other loads always store the source.
   */
  cache: option({ kind: ['auto', 'source'], default: 'auto' }),
  /** The folder of ONNX files within the model's folder. Default 'onnx'; '' means the model's own folder. */
  subfolder: option({ kind: 'string', default: 'onnx', flag: { value: 'name', help: 'the folder of ONNX files (onnx)' } }),
  /** The name of ONNX files without the suffix of the precision and '.onnx'. Default 'model'. */
  model_file_name: option({ kind: 'string', default: 'model', flag: { value: 'name', help: 'the name of ONNX files (model)' } }),
  /** A LoRA adapter (a folder written by peft), merged into the weights. Its head replaces the model's; `id2label` names the labels. */
  adapter: option<Source>({
    kind: 'other',
    flag: { value: 'source', help: 'a LoRA adapter (peft) to merge into the model: a folder, URL or hub id' },
  }),
  /** The build of the engine. Default 'auto'. */
  variant: option<Variant | 'auto'>({ kind: 'other', default: 'auto' }),
  /** Number of threads, 1 to 16. Default 'auto'. */
  threads: option<number | 'auto'>({ kind: 'other', default: 'auto', flag: { value: 'n', help: 'number of CPU threads' } }),
  /**
   * Whether to compute in a worker, or in the calling thread (false). Default 'auto': in a worker, unless the calling thread is a worker in a
   * browser, or none can be started (service workers, policies), which `info.notices` then reports.
   */
  worker: option<boolean | 'auto'>({ kind: 'other', default: 'auto' }),
  /**
   * The compiled build 'peruse-simd.wasm' or 'peruse-relaxed.wasm', for hosts that do not allow compilation at run time (Cloudflare's
   * workers). Set `variant` to the same name.
   */
  wasm_module: option<WasmModule>({ kind: 'other' }),
};

/** Options that only some tasks have. The tasks' definitions name them (`loadOptions`). */
const kOwnOptions = {
  ...kLabels,
  ...kLabelReaders,
  ...kAdapters,
  ...kMasks,
  ...kPooling,
  ...kRoutes,
  ...kFinderOptions,
  ...kLabelsOption,
} satisfies Record<OwnLoadOption, Option<unknown>>;

/** How to load a model, and where to run it. */
export interface PipelineOptions extends SourceOptions, Given<typeof kLoadOptions> {}

/** For tasks whose results have the model's labels. */
export interface LabelOptions extends Given<typeof kLabels> {}

/** For models that read labels with the text. */
export interface LabelReaderOptions extends Given<typeof kLabelReaders> {}

/** For feature-extraction. */
export interface TaskAdapterOptions extends Given<typeof kAdapters> {}

/** For fill-mask. */
export interface MaskOptions extends Given<typeof kMasks> {}

/** For feature-extraction. */
export interface PoolingOptions extends Given<typeof kPooling> {}

/** For feature-extraction. */
export interface RouteOptions extends Given<typeof kRoutes> {}

type OwnOptions = LabelOptions &
  LabelReaderOptions &
  MaskOptions &
  PoolingOptions &
  RouteOptions &
  TaskAdapterOptions &
  RedactPipelineOptions;

/** Loading options that only some tasks have, by task. */
export type OptionsByTask = { [T in Task]: Pick<OwnOptions, OwnLoadOptionOf<T>> };

/** Options of pipeline() for a task: those of every load, and the task's own. */
export type PipelineOptionsOf<T extends TaskOrAlias> = PipelineOptions & OptionsByTask[ResolvedTask<T>];

/** Options of load(): those of pipeline() for any task. */
export type ModelOptions = PipelineOptions & LabelReaderOptions;

/** Options of a model's pipeline(): those that belong to the task and not to the model. */
export type TaskOptionsOf<T extends TaskOrAlias> = Pick<PipelineOptions, 'signal' | 'progress_callback'> &
  Omit<OptionsByTask[ResolvedTask<T>], keyof LabelReaderOptions>;

/** The options of all tasks. */
export type AnyPipelineOptions = PipelineOptions & OwnOptions;

/** The tasks that have each option that not all have. */
function tasksByOption(): Map<string, Task[]> {
  const tasks = new Map<string, Task[]>();
  for (const task of kTaskNames) {
    for (const name of definitionOf(task).loadOptions ?? []) tasks.set(name, [...(tasks.get(name) ?? []), task]);
  }
  return tasks;
}

const kOfEveryCall: readonly string[] = ['progress_callback', 'signal'];

function checked(given: AnyPipelineOptions, whose: string, has: (name: string, tasks: Task[] | undefined) => boolean): AnyPipelineOptions {
  const tasks = tasksByOption();
  const all = Object.entries({ ...kLoadOptions, ...kSourceOptions, ...kOwnOptions });
  const schema = Object.fromEntries(all.filter(([name]) => has(name, tasks.get(name))));
  const { options: own, notices } = withoutForeign(given, 'id2label' in schema);
  const { quantized, ...checked } = checkOptions(own, schema, whose, Object.fromEntries(tasks));
  const options = quantized === undefined ? checked : { dtype: dtypeIfQuantized(quantized), ...checked };
  kNotices.set(options, notices);
  return options;
}

const kNotices = new WeakMap<object, readonly string[]>();

/** Notices about options that have no effect. `options` is the object that a check returned. */
export function optionNotices(options: object): readonly string[] {
  return kNotices.get(options) ?? [];
}

/** Returns a copy of the options of pipeline(task), after checking names and types. */
export function checkPipelineOptions(task: Task, given: AnyPipelineOptions): AnyPipelineOptions {
  return checked(given, `pipeline('${task}')`, (_, tasks) => tasks?.includes(task) ?? true);
}

/** The same for load(). */
export function checkModelOptions(given: ModelOptions): ModelOptions {
  return checked(given, 'load()', (name, tasks) => tasks === undefined || name in kLabelReaders);
}

/** The same for a model's pipeline(task). */
export function checkTaskOptions(task: Task, given: AnyPipelineOptions): AnyPipelineOptions {
  const isOwn = (name: string, tasks: Task[] | undefined) => tasks?.includes(task) === true && !(name in kLabelReaders);
  return checked(given, `a model's pipeline('${task}')`, (name, tasks) => kOfEveryCall.includes(name) || isOwn(name, tasks));
}

export function checkWorker({ worker }: PipelineOptions): boolean | undefined {
  if (worker === undefined || worker === 'auto') return undefined;
  if (typeof worker === 'boolean') return worker;
  throw new PeruseError('invalid_argument', `worker must be true, false or 'auto', not ${show(worker)}.`);
}

/** Returns the engine's name of the precision. */
export function engineDtypeOf(options: PipelineOptions): DtypeWish {
  const dtype = plainDtype(options);
  return dtype === undefined || dtype === 'auto' ? 'auto' : engineDtype(dtype);
}

/** The precision of checked options, which name no files. */
export function plainDtype({ dtype }: Pick<PipelineOptions, 'dtype'>): 'auto' | OnnxDtype | undefined {
  return dtype as 'auto' | OnnxDtype | undefined;
}

export function labelNames(labels: NonNullable<LabelOptions['id2label']>): string[] {
  const names = Array.isArray(labels) ? [...labels] : Array.from(Object.keys(labels), (_, i) => (labels as Record<number, string>)[i]);
  if (names.length > 0 && names.every((name) => typeof name === 'string')) return names;
  throw new PeruseError('invalid_argument', 'Option id2label must be a list of names, or an object with a name for each of 0, 1, ...');
}

export function deviceWish({ device = 'cpu' }: PipelineOptions): DeviceWish {
  return device === 'wasm' ? 'cpu' : (device as DeviceWish);
}

/** Requests one thread: with a GPU, the CPU only records commands. */
export function gpuVariant({ variant = 'auto', threads = 'auto' }: PipelineOptions): VariantWish {
  if (variant !== 'auto' || (threads !== 'auto' && threads !== 1)) {
    throw new PeruseError('invalid_argument', "variant and threads apply to the CPU only: omit them with device 'webgpu'.");
  }
  return { threads: 1 };
}
