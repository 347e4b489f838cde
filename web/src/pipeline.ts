/// <reference lib="esnext.disposable" preserve="true" />

import type { DtypeWish, LoadRequest } from './engine/load_request.js';
import type { DeviceWish, MemoryReport, ProbeMemory, UsageReport } from './engine/reports.js';
import { chooseVariant, type VariantChoice, type VariantWish } from './engine/variant.js';
import { env, envNotices, mostThreads } from './env.js';
import { asArgumentError, checkSignal, describeError, PeruseError, show, throwIfAborted, toPeruseError, unlessAborted } from './errors.js';
import { Listener } from './listener.js';
import { checkLoadOptions, type OptionKind } from './load_options.js';
import { describeLoad, kDtypes, loadNotes, type PipelineInfo } from './pipeline_info.js';
import { platform } from './platform/current.js';
import { engineFiles } from './platform/engine_folder.js';
import type { ProgressCallback, ProgressInfo } from './progress.js';
import { type HostLease, keyOfSource, leaseHost, startHost } from './sharing.js';
import { kBesideTokenizer, kForms, kVocabularies } from './sources/model_files.js';
import { namedBase } from './sources/named_base.js';
import { type OnnxDtype, weightsWish } from './sources/onnx_files.js';
import { openFolder } from './sources/open_folder.js';
import { sendable } from './sources/sendable.js';
import { resolveSource, type Source, type SourceOptions, type SourceSpec } from './sources/source.js';
import type { Run } from './tasks/call.js';
import { type InspectCall, inspectCall } from './tasks/inspection.js';
import { type PatternRedactor, patternRedactor } from './tasks/pattern_redactor.js';
import type { RedactContext, RedactFinders, RedactPipelineOptions } from './tasks/redact.js';
import { streaming } from './tasks/stream.js';
import {
  engineTask,
  kAliases,
  kExampleModels,
  kTasks,
  type ResolvedTask,
  type Task,
  type TaskCall,
  type TaskOrAlias,
} from './tasks/tasks.js';
import { type PipelineTokenizer, pipelineTokenizer } from './tasks/tokenizer_calls.js';
import { kVectorSearch, type NearestRequest, type SetVectors, type VectorSearch } from './tasks/vector_search.js';
import type { WasmModule } from './web_types.js';
import type { Host, Verb, Verbs } from './worker/host.js';
import { MovingHost } from './worker/moving_host.js';
import { RemoteHost } from './worker/worker_host.js';

/** How to load a model, and where to run it. */
export interface PipelineOptions extends SourceOptions, VariantWish {
  /** Receives each file's name and bytes during loading. */
  progress_callback?: ProgressCallback;
  /** Cancels loading. */
  signal?: AbortSignal;
  /**
   * The device. 'cpu' (default) and 'wasm' load no GPU code. 'auto' times a few layers of the model's size on both devices, once per session
   * and size, and takes the faster one; without a working GPU that is the CPU. 'webgpu' requires the GPU or throws 'no_gpu'; in Node it needs
   * the npm package `webgpu`. `info.device` is the result.
   */
  device?: 'auto' | 'cpu' | 'wasm' | 'webgpu';
  /**
   * Precision of the weights in memory. 'q8' stores linear layers and token embeddings as 8-bit integers: a quarter of the memory, and faster
   * on the CPU (docs/precision.md has the accuracy). 'fp32' is exact. 'fp16' is exact for float16 and most bfloat16 checkpoints, and keeps
   * about three digits of others. Arithmetic is float32. Default 'auto': 'q8' for q8 checkpoints; otherwise 'fp32' on the CPU, 'fp16' on the GPU.
   *
   * All values also name ONNX files, as in transformers.js: 'int8' is `onnx/model_int8.onnx`. Weights of 4 bits are stored as 'q8'.
   */
  dtype?: 'auto' | OnnxDtype;
  /**
   * The files with the weights. 'safetensors' means model.safetensors or pytorch_model.bin. 'onnx' means the ONNX file that `dtype` names.
   * Default 'auto': safetensors, unless only ONNX files exist or the ONNX file of the requested `dtype` is the smaller download. Peruse reads
   * only the parameters of an ONNX file, and computes with its own engine.
   */
  weights?: 'auto' | 'safetensors' | 'onnx';
  /**
   * How a float checkpoint that is loaded as q8 is cached: 'auto', the default, stores the 8-bit weights, so that the next load reads a
   * quarter. 'source' stores the file as it is on the server, which every `dtype` can use. Other loads always store the source.
   */
  cache?: 'auto' | 'source';
  /** The folder of ONNX files within the model's folder. Default 'onnx'; '' means the model's own folder. */
  subfolder?: string;
  /** The name of ONNX files without the suffix of the precision and '.onnx'. Default 'model'. */
  model_file_name?: string;
  /** A LoRA adapter (a folder written by peft), merged into the weights. Its head replaces the model's; `id2label` names the labels. */
  adapter?: Source;
  /** For an old GLiNER checkpoint that only names its encoder (`model_name` in gliner_config.json): the folder with config.json and tokenizer. */
  encoder?: Source;
  /** For a bi-encoder (GLiNER, GLiClass) without a tokenizer for labels: its label encoder's folder. */
  labels_encoder?: Source;
  /**
   * What a call does if the GPU device was lost before it (driver reset, sleep). 'recover' (default) loads the model again; bytes given as
   * the source are kept for that. 'refuse' throws 'gpu_lost'. A call during which the device is lost always throws 'gpu_lost'.
   */
  on_device_lost?: 'recover' | 'refuse';
  /** For fill-mask with DeBERTa: use the enhanced mask decoder with absolute positions, as in pre-training. Default: false. */
  enhanced_mask_decoder?: boolean;
  /**
   * Names of the labels, instead of those in config.json: a list, or an object with the keys 0, 1, ... Useful for adapters, which store only the
   * number of labels; without this option they are LABEL_0, LABEL_1, ...
   */
  id2label?: readonly string[] | Readonly<Record<number, string>>;
  /**
   * Share weights, and the thread or GPU device, with a pipeline that has loaded the same checkpoint with the same options for another task.
   * Default true. With false, the pipeline has its own engine and works in parallel.
   */
  share?: boolean;
  /**
   * Whether to compute in a worker. Default 'auto': in browsers yes. In Node yes for models from a server or with weights of more than 64 MB;
   * other models begin in the calling thread, and move to a worker after a call that took longer than 50 ms.
   */
  worker?: boolean | 'auto';
  /** The URL of a folder with the engine's builds (peruse-*.wasm), instead of the package's own. Default: `env.wasmPath`. */
  wasmPath?: string | URL;
  /**
   * The compiled build 'peruse-simd.wasm' or 'peruse-relaxed.wasm', for hosts that do not allow compilation at run time (Cloudflare's
   * workers). Set `variant` to the same name.
   */
  wasmModule?: WasmModule;
}

/** Options of pipeline() for a task: loading options, and the task's own. */
export type PipelineOptionsOf<T extends TaskOrAlias> = PipelineOptions & ('redact' extends T ? RedactPipelineOptions : unknown);

/** A loaded model: a function with the signature of its task. */
export type Pipeline<T extends Task = Task> = TaskCall<T> & {
  readonly task: T;
  readonly info: PipelineInfo;
  /** Returns tokens, attention maps, span kernels and hidden states of one text or pair. */
  readonly inspect: InspectCall;
  /** The model's tokenizer: `await classify.tokenizer.count('A text.')`. */
  readonly tokenizer: PipelineTokenizer;
  /** Reports the engine's memory. */
  memory(): Promise<MemoryReport>;
  /** Counts calls, tokens and time since loading. */
  usage(): Promise<UsageReport>;
  /** @internal */
  readonly [kVectorSearch]: VectorSearch;
  /**
   * Frees the model's memory. Later calls throw 'disposed'; running calls throw 'aborted'. In Node an idle worker (11 MB) waits ten seconds
   * for the next load.
   */
  dispose(): Promise<void>;
  /** Calls dispose(), for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/** Returns a redactor with patterns and finders, without a model: `pipeline('redact', null, { patterns: true })`. */
export async function pipeline(task: 'redact', source: null, settings: RedactFinders): Promise<PatternRedactor>;
/**
 * Loads a model.
 *
 * @param task The task, for example 'text-classification' or 'question-answering'.
 * @param source The model: a URL or path of a folder, a hub id, or files. See {@link Source}.
 * @throws PeruseError. A failed load frees everything that it allocated.
 */
export async function pipeline<T extends TaskOrAlias>(
  task: T,
  source: Source,
  settings?: PipelineOptionsOf<T>,
): Promise<Pipeline<ResolvedTask<T>>>;
export async function pipeline(
  task: TaskOrAlias,
  source: Source | null,
  settings: PipelineOptions & RedactPipelineOptions = {},
): Promise<Pipeline | PatternRedactor> {
  try {
    const isRedaction = task === 'redact';
    const kinds = { ...kOptionKinds, ...(isRedaction ? kRedactOptionKinds : {}) };
    const options: LoadOptions = checkLoadOptions(settings, kinds as Record<keyof LoadOptions, OptionKind>);
    if (isRedaction && source === null) return patternRedactor(options, platform().patterns);
    return await loadNamed(task, source as Source, options);
  } catch (error) {
    throw asArgumentError(error);
  }
}

const kOptionKinds: Record<keyof PipelineOptions, OptionKind> = {
  adapter: 'other',
  cache: 'other',
  device: 'other',
  dtype: 'other',
  encoder: 'other',
  enhanced_mask_decoder: 'boolean',
  id2label: 'other',
  labels_encoder: 'other',
  local_files_only: 'boolean',
  model_file_name: 'string',
  on_device_lost: 'other',
  progress_callback: 'function',
  revision: 'string',
  share: 'boolean',
  signal: 'signal',
  subfolder: 'string',
  threads: 'other',
  token: 'string',
  variant: 'other',
  wasmModule: 'other',
  wasmPath: 'other',
  weights: 'other',
  worker: 'other',
};

const kRedactOptionKinds: Record<keyof RedactPipelineOptions, OptionKind> = {
  fail_closed: 'boolean',
  finders: 'other',
  labels: 'other',
  patterns: 'other',
};

type LoadOptions = PipelineOptions & RedactPipelineOptions;

/** Replaces a source that is an adapter's folder by the base model that the adapter names, with the adapter. */
async function loadNamed<T extends TaskOrAlias>(task: T, source: Source, given: LoadOptions): Promise<Pipeline<ResolvedTask<T>>> {
  throwIfAborted(given.signal);
  checkNamed(resolveTask(task), source);
  const resolve = () => resolveSource(source, given, platform().paths);
  try {
    return await load(task, await resolve(), given);
  } catch (error) {
    if (!(error instanceof PeruseError) || error.code !== 'not_found' || given.adapter !== undefined) throw error;
    const adapter = await resolve().catch(() => undefined); // a dropped folder can only be read once, so its files are kept
    if (adapter === undefined) throw error;
    const signal = given.signal ?? new AbortController().signal;
    const base = await namedBase(adapter, given, platform().paths, platform().folderParts, signal);
    if (base === undefined) throw error;
    return load(task, base, given, adapter);
  }
}

/** `leading` is an adapter that the caller passed as the source, instead of the base model. */
async function load<T extends TaskOrAlias>(
  task: T,
  spec: SourceSpec,
  given: LoadOptions,
  leading?: SourceSpec,
): Promise<Pipeline<ResolvedTask<T>>> {
  const start = performance.now();
  const options = { ...given, wasmPath: given.wasmPath ?? env.wasmPath ?? (await platform().filesFolder?.()) };
  throwIfAborted(options.signal);
  const resolvedTask = resolveTask(task);
  const dtype = checkDevice(options);
  const weights = weightsWish(options);
  const device = deviceWish(options);
  const onDeviceLost = checkDeviceLost(options);
  const wish = device === 'webgpu' ? gpuVariant(options) : options;
  const wasm = engineFiles(options, platform().paths.baseUrl());
  const beside = (other: Source | undefined) =>
    other === undefined ? undefined : resolveSource(other, { ...options, revision: undefined }, platform().paths);
  const adapter = leading ?? (await beside(options.adapter));
  const encoder = await beside(options.encoder);
  const labelsEncoder = await beside(options.labels_encoder);
  throwIfAborted(options.signal);

  const listener = new Listener(options.progress_callback);
  const report = (progress: ProgressInfo) => listener.tell(progress);
  const worker = checkWorker(options);
  const wantsWorker = worker ?? (await platform().worksInWorker(spec));
  const first = chooseVariant(platform().features(wantsWorker), wish, mostThreads()); // rejects impossible requests before anything starts
  const key = sharingKey(options, leading ? undefined : spec, [
    device,
    dtype,
    weights,
    onDeviceLost,
    wasm,
    wantsWorker,
    first.variant,
    first.threads,
  ]);
  const startOwn = () => startHost(wantsWorker, worker, first.threads, report);
  const lease = await unlessAborted(leaseHost(key, resolvedTask, report, startOwn), options.signal, giveBack);
  const { host, inWorker, trouble } = lease;
  const loading = new AbortController();
  try {
    const choice = withTrouble(chooseVariant(platform().features(inWorker), wish, mostThreads()), trouble);
    const notices = envNotices();
    const notice = (sentence: string) => notices.push(sentence);
    const send = (one: SourceSpec) => (inWorker ? sendable(one, loading.signal, { ...platform().folderParts, notice }) : one);
    const request = {
      task: engineTask(resolvedTask, options),
      dtype,
      weights,
      keepSource: keepsSource(options),
      id2label: options.id2label && labelNames(options.id2label),
      enhancedMaskDecoder: options.enhanced_mask_decoder,
      source: await send(spec),
      adapter: adapter && (await send(adapter)),
      adapterLeads: leading !== undefined,
      encoder: encoder && (await send(encoder)),
      labelsEncoder: labelsEncoder && (await send(labelsEncoder)),
      choice,
      share: key !== undefined,
      device,
      onDeviceLost,
      probes: { ...kProbes },
      wasm: wasm ?? (await platform().build?.(choice.variant)),
    };
    const loaded = await listener.unlessFailed(unlessAborted(host.call('load', request), options.signal));
    const { name } = leading ?? spec;
    report({ status: 'ready', task: resolvedTask, model: name });
    listener.check();
    // the source will not be read again, so its files are released
    if (loaded.deviceChoice.device === 'cpu' || onDeviceLost === 'refuse') loading.abort();
    const { probe, probeKey } = loaded.deviceChoice;
    if (probe && probeKey !== undefined) kProbes[probeKey] = probe;
    loaded.notices.push(...notices);
    const info = describeLoad(resolvedTask, name, choice, loaded, inWorker, performance.now() - start);
    tellDebug(loadNotes(info));
    if (host instanceof MovingHost) {
      await allowMoving(host, spec, request, info);
      Object.defineProperty(info, 'worker', { get: () => host.inWorker, enumerable: true });
    }
    return assemble(resolvedTask, host, info, options, () => {
      loading.abort();
      lease.release();
    }) as unknown as Pipeline<ResolvedTask<T>>;
  } catch (error) {
    giveBack(lease);
    loading.abort();
    throw toPeruseError(error);
  }
}

/** Allows the host to move to a worker, if the versions of the model's files show that a second load would read the same bytes. */
async function allowMoving(host: MovingHost, spec: SourceSpec, request: LoadRequest, info: PipelineInfo): Promise<void> {
  const others = [request.adapter, request.encoder, request.labelsEncoder];
  const before = await versionsOf(spec, info.weights.file);
  if (before === undefined || others.some((one) => one !== undefined) || info.device !== 'cpu') return;
  host.allow({
    async load(signal) {
      const remote = new RemoteHost(await platform().startWorker(info.threads), () => {});
      const dispose = () => remote.dispose();
      signal.addEventListener('abort', dispose, { once: true });
      try {
        const choice = { ...request.choice, threads: info.threads, threadsAreFree: false };
        await remote.call('load', { ...request, choice, share: false });
        if ((await versionsOf(spec, info.weights.file)) !== before) throw new Error('the files have changed');
        return remote;
      } catch (error) {
        remote.dispose();
        throw error;
      } finally {
        signal.removeEventListener('abort', dispose);
      }
    },
  });
}

async function versionsOf(spec: SourceSpec, weights: string): Promise<string | undefined> {
  if (spec.kind !== 'folder') return undefined;
  const folder = await openFolder(spec, platform().folderParts);
  const { signal } = new AbortController();
  const names = [
    'config.json',
    weights,
    ...kVocabularies.flat(),
    ...kBesideTokenizer,
    ...kForms.flatMap((form) => [form, `${form}.index.json`]),
  ];
  const files = await Promise.all(names.map((name) => folder.open(name, signal).catch(() => undefined)));
  return JSON.stringify(files.map((file) => (file?.found ? file.version : null)));
}

function checkWorker({ worker }: PipelineOptions): boolean | undefined {
  if (worker === undefined || worker === 'auto') return undefined;
  if (typeof worker === 'boolean') return worker;
  throw new PeruseError('invalid_argument', `worker must be true, false or 'auto', not ${show(worker)}.`);
}

function giveBack({ host, release }: HostLease): void {
  host.dispose();
  release();
}

/** A key of everything that pipelines must have in common to share an engine; undefined if the pipeline must not share. */
function sharingKey(
  { share = true, adapter, encoder, labels_encoder, id2label, enhanced_mask_decoder }: PipelineOptions,
  spec: SourceSpec | undefined,
  settings: unknown[],
): string | undefined {
  const beside = [adapter, encoder, labels_encoder, id2label].some((one) => one !== undefined);
  const alone = !share || beside || enhanced_mask_decoder === true;
  const source = spec && keyOfSource(spec);
  // Compiled modules cannot be compared by their text, so pipelines with one do not share.
  if (alone || source === undefined || settings.some((one) => one instanceof WebAssembly.Module)) return undefined;
  return JSON.stringify([source, ...settings]);
}

function withTrouble(choice: VariantChoice, trouble: string | undefined): VariantChoice {
  return trouble === undefined ? choice : { ...choice, reason: `${choice.reason} ${trouble} So the model runs in the page's own thread.` };
}

function tellDebug(notes: string[]): void {
  if (!env.debug) return;
  for (const note of notes) {
    try {
      const given: unknown = env.debug(note);
      if (given instanceof Promise) given.catch(() => {});
    } catch (error) {
      throw new PeruseError('invalid_argument', `env.debug failed: ${describeError(error)}`, { cause: error });
    }
  }
}

function resolveTask(task: string): Task {
  if (typeof task !== 'string') throw new PeruseError('invalid_argument', `A task must be a string, not ${show(task)}.`);
  const name = Object.hasOwn(kAliases, task) ? kAliases[task as keyof typeof kAliases] : task;
  if (Object.hasOwn(kTasks, name)) return name as Task;
  const known = [...Object.keys(kTasks), ...Object.keys(kAliases)].join(', ');
  throw new PeruseError('invalid_argument', `There is no task ${show(task)}. Use one of ${known}.`);
}

/** Throws if no model is named: Peruse has no default models, unlike transformers.js. */
function checkNamed(task: Task, source: unknown): void {
  if (source !== undefined && source !== null) return;
  const example = kExampleModels[task];
  const words = example === undefined ? '.' : `, for example '${example}'.`;
  throw new PeruseError(
    'invalid_argument',
    `pipeline('${task}') needs a model as its second argument${words} Peruse has no default models.`,
  );
}

/** Checks device and precision. Returns the engine's name of the precision. */
function checkDevice({ device = 'cpu', dtype = 'auto' }: PipelineOptions): DtypeWish {
  if (!['auto', 'cpu', 'wasm', 'webgpu'].includes(device)) {
    throw new PeruseError('invalid_argument', `device must be 'auto', 'cpu', 'wasm' or 'webgpu', not ${show(device)}.`);
  }
  if (dtype === 'auto') return 'auto';
  if (Object.hasOwn(kDtypes, dtype)) return kDtypes[dtype];
  throw new PeruseError(
    'invalid_argument',
    `dtype must be 'auto', ${Object.keys(kDtypes)
      .map((name) => `'${name}'`)
      .join(', ')}, not ${show(dtype)}.`,
  );
}

function labelNames(labels: NonNullable<PipelineOptions['id2label']>): string[] {
  const names = Array.isArray(labels) ? [...labels] : Array.from(Object.keys(labels), (_, i) => (labels as Record<number, string>)[i]);
  if (names.length > 0 && names.every((name) => typeof name === 'string')) return names;
  throw new PeruseError('invalid_argument', 'Option id2label must be a list of names, or an object with a name for each of 0, 1, ...');
}

function keepsSource({ cache = 'auto' }: PipelineOptions): boolean {
  if (cache === 'auto' || cache === 'source') return cache === 'source';
  throw new PeruseError('invalid_argument', `cache must be 'auto' or 'source', not ${show(cache)}. Settings of the cache are in env.`);
}

function deviceWish({ device = 'cpu' }: PipelineOptions): DeviceWish {
  return device === 'wasm' ? 'cpu' : device;
}

function checkDeviceLost({ on_device_lost: wish = 'recover' }: PipelineOptions): 'recover' | 'refuse' {
  if (wish === 'recover' || wish === 'refuse') return wish;
  throw new PeruseError('invalid_argument', `on_device_lost must be 'recover' or 'refuse', not ${show(wish)}.`);
}

/** Requests one thread: with a GPU, the CPU only records commands. */
function gpuVariant({ variant = 'auto', threads = 'auto' }: PipelineOptions): VariantWish {
  if (variant !== 'auto' || (threads !== 'auto' && threads !== 1)) {
    throw new PeruseError('invalid_argument', "variant and threads apply to the CPU only: omit them with device 'webgpu'.");
  }
  return { threads: 1 };
}

/** Results of the probe of `device: 'auto'`, kept for the session. */
const kProbes: ProbeMemory = {};

function assemble(task: Task, host: Host, info: PipelineInfo, defaults: RedactPipelineOptions, onDispose: () => void): Pipeline {
  let disposed = false;
  const ask = async <V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> => {
    if (disposed) throw new PeruseError('disposed', `This ${task} pipeline was disposed of; load it again.`);
    checkSignal(signal);
    try {
      return await unlessAborted(host.call(verb, request, signal), signal);
    } catch (error) {
      throw toPeruseError(error);
    }
  };
  const dispose = async () => {
    disposed = true;
    host.dispose();
    onDispose();
  };
  const members = {
    task,
    info,
    inspect: typed(inspectCall((request, signal) => ask('inspect', request, signal))),
    tokenizer: pipelineTokenizer((request) => ask('tokenize', request)),
    memory: () => ask('memory', null),
    usage: () => ask('usage', null),
    dispose,
    [kVectorSearch]: {
      set: (request: SetVectors) => ask('setVectors', request),
      nearest: (request: NearestRequest) => ask('nearest', request),
    },
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: dispose } : {}), // the symbol is missing in browsers before 2025
  };
  const makeCall = kTasks[task] as (run: Run, context: RedactContext) => (...given: unknown[]) => Promise<unknown>;
  const call = makeCall((inputs, options, signal) => ask('run', { inputs, options }, signal), {
    defaults,
    loadPatterns: platform().patterns,
    tokenizer: members.tokenizer,
  });
  return Object.assign(typed(call), { ...call }, streaming(task, typed(call)), members) as unknown as Pipeline;
}

/** Wraps a call so that it throws only PeruseErrors, also if reading its arguments throws. */
function typed<A extends unknown[], R>(call: (...given: A) => Promise<R>): (...given: A) => Promise<R> {
  return async (...given) => {
    try {
      return await call(...given);
    } catch (error) {
      throw asArgumentError(error);
    }
  };
}
