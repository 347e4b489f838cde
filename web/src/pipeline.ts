// pipeline(): loads a model for a task and returns a function.
import { env } from './env.js';
import { abortError, PeruseError, throwIfAborted } from './errors.js';
import { serveFolder } from './sources/folder_port.js';
import { LocalHost, type Host } from './worker/host.js';
import { inspectCall, type InspectCall } from './tasks/inspection.js';
import type { LoadReport } from './engine/load.js';
import type { MemoryReport } from './engine/memory_report.js';
import { openFolder, staysHere } from './sources/open_folder.js';
import type { DeviceWish, ProbeMemory } from './engine/placement.js';
import { describeLoad, kDtypes, loadNotes, type Dtype, type PipelineInfo } from './pipeline_info.js';
import { platform } from './platform/current.js';
import type { ProgressCallback } from './progress.js';
import { resolveSource, type Source, type SourceOptions, type SourceSpec } from './sources/source.js';
import type { Run } from './tasks/call.js';
import { kAliases, kTasks, type ResolvedTask, type Task, type TaskCall, type TaskOrAlias } from './tasks/tasks.js';
import type { UsageReport } from './engine/usage_report.js';
import { chooseVariant, type VariantWish } from './engine/variant.js';
import { RemoteHost } from './worker/worker_host.js';

/** How to load a model, and where to run it. */
export interface PipelineOptions extends SourceOptions, VariantWish {
  /** Told of every file and its bytes while loading. */
  progress_callback?: ProgressCallback;
  /** Cancels loading. */
  signal?: AbortSignal;
  /**
   * Where to compute. 'cpu', the default ('wasm' is the same), loads nothing of the GPU's part. 'auto' takes the GPU where it
   * is faster: both run a few layers of the model's size, once in a session for each size, and where there is no GPU that works
   * it is the CPU; `info` says what was found. 'webgpu' is the GPU, and 'no_gpu' where there is none. In Node the GPU needs
   * the npm package `webgpu`.
   */
  device?: 'auto' | 'cpu' | 'wasm' | 'webgpu';
  /**
   * Precision of the weights as held. 'q8': linear layers and words as 8-bit integers, a quarter of the memory and faster on
   * the CPU (docs/precision.md says what it costs). Default 'auto': 'q8' for a q8 checkpoint; for others on the CPU 'fp32', on
   * the GPU 'fp16', where arithmetic is float32 all the same: exact for checkpoints that are float16 (and most bfloat16), about
   * three digits for others, which 'fp32' holds in full.
   */
  dtype?: 'auto' | Dtype;
  /**
   * What a call does that finds the GPU lost (a driver reset, a laptop that slept). 'recover', the default, loads the model
   * again from its source first; bytes that were given as the source are kept for that. 'refuse' fails with 'gpu_lost'. The
   * call in which it is lost fails with 'gpu_lost' either way.
   */
  on_device_lost?: 'recover' | 'refuse';
  /**
   * On a GPU that has the feature shader-f16, multiply float16 weights in half precision and add up in float32: faster, and
   * about three digits. Default false. Its shaders are compiled by the tests, but no adapter that has it has run them yet.
   */
  shader_f16?: boolean;
  /**
   * For fill-mask with DeBERTa: predict through the enhanced mask decoder, as in pre-training, with the checkpoint's absolute
   * positions. Default false, as in transformers, which leaves it out.
   */
  enhanced_mask_decoder?: boolean;
  /** Work in a worker? Default: true in browsers, false in Node. */
  worker?: boolean;
  /** URL of a folder that holds the engine's builds (peruse-*.mjs, peruse-*.wasm), instead of the package's own. Default: `env.wasmPath`. */
  wasmPath?: string | URL;
}

/** A loaded model: call it as its task is called. */
export type Pipeline<T extends Task = Task> = TaskCall<T> & {
  readonly task: T;
  readonly info: PipelineInfo;
  /** A look inside: tokens, attention maps, span kernels and hidden states of one text or pair. Costs nothing unless called. */
  readonly inspect: InspectCall;
  /** The engine's memory. */
  memory(): Promise<MemoryReport>;
  /** Calls, tokens and time since loading. */
  usage(): Promise<UsageReport>;
  /** Gives all memory back. Later calls fail with 'disposed'; calls under way with 'aborted'. */
  dispose(): Promise<void>;
};

/**
 * Loads a model.
 *
 * @param task What to do, for example 'text-classification' or 'question-answering'.
 * @param source Where the model is: a URL or path of a folder, a hub id, or its files. See {@link Source}.
 * @throws PeruseError with a `code` that says why. A failed load leaves nothing behind.
 */
export async function pipeline<T extends TaskOrAlias>(
  task: T, source: Source, settings: PipelineOptions = {},
): Promise<Pipeline<ResolvedTask<T>>> {
  const start = performance.now();
  const options = withEnv(settings);
  throwIfAborted(options.signal);
  const resolvedTask = resolveTask(task);
  const dtype = checkDevice(options);
  const inWorker = options.worker ?? platform().workerByDefault;
  const device = deviceWish(options);
  const onDeviceLost = checkDeviceLost(options);
  const choice = chooseVariant(platform().features(inWorker), device === 'webgpu' ? gpuVariant(options) : options);
  const spec = await resolveSource(source, options, platform().places);
  throwIfAborted(options.signal);

  const report = options.progress_callback ?? (() => {});
  const host: Host = inWorker
    ? new RemoteHost(platform().startWorker(), report)
    : new LocalHost(report, platform().hostParts);
  const wasmPath = options.wasmPath === undefined ? undefined : absolute(options.wasmPath);
  const loading = new AbortController();
  let loaded: LoadReport;
  try {
    const sent = inWorker ? await sendable(spec, loading.signal) : spec;
    loaded = await unlessAborted(host.call('load', {
      task: resolvedTask, dtype, enhancedMaskDecoder: options.enhanced_mask_decoder, source: sent, choice, device, onDeviceLost,
      shaderF16: options.shader_f16 === true, probes: { ...kProbes }, wasmPath,
    }), options.signal);
  } catch (error) {
    host.dispose();
    loading.abort();
    throw error;
  }
  if (loaded.placement.device === 'cpu' || onDeviceLost === 'refuse') loading.abort();  // Nothing will be read again.
  report({ status: 'ready', task: resolvedTask, model: spec.name });
  const { probe, probeKey } = loaded.placement;
  if (probe && probeKey !== undefined) kProbes[probeKey] = probe;
  const info = describeLoad(resolvedTask, spec.name, choice, loaded, inWorker, performance.now() - start);
  if (env.debug) for (const note of loadNotes(info)) env.debug(note);
  return assemble(resolvedTask, host, info, () => loading.abort()) as unknown as Pipeline<ResolvedTask<T>>;
}

/** What was not given comes from `env`. */
function withEnv(options: PipelineOptions): PipelineOptions {
  const oneThread = options.device === 'webgpu' || options.variant === 'simd' || options.variant === 'relaxed';
  const threads = options.threads ?? (oneThread ? undefined : env.threads);
  return { ...options, threads, wasmPath: options.wasmPath ?? env.wasmPath };
}

function resolveTask(task: string): Task {
  const name = Object.hasOwn(kAliases, task) ? kAliases[task as keyof typeof kAliases] : task;
  if (Object.hasOwn(kTasks, name)) return name as Task;
  const known = [...Object.keys(kTasks), ...Object.keys(kAliases)].join(', ');
  throw new PeruseError('unsupported', `There is no task '${task}'; there are ${known}.`);
}

/** Refuses devices and precisions that don't exist; gives the engine's name of the precision. */
function checkDevice({ device = 'cpu', dtype = 'auto' }: PipelineOptions): string {
  if (!['auto', 'cpu', 'wasm', 'webgpu'].includes(device)) {
    throw new PeruseError('unsupported', `Peruse does not compute on '${device}', only on 'cpu' and 'webgpu'.`);
  }
  if (dtype === 'auto') return 'auto';
  if (Object.hasOwn(kDtypes, dtype)) return kDtypes[dtype];
  throw new PeruseError('unsupported', `Peruse knows no dtype '${String(dtype)}', only ${Object.keys(kDtypes).join(', ')}.`);
}

function deviceWish({ device = 'cpu' }: PipelineOptions): DeviceWish {
  return device === 'wasm' ? 'cpu' : device;
}

function checkDeviceLost({ on_device_lost: wish = 'recover' }: PipelineOptions): 'recover' | 'refuse' {
  if (wish === 'recover' || wish === 'refuse') return wish;
  throw new PeruseError('invalid_argument', `on_device_lost must be 'recover' or 'refuse', not '${String(wish)}'.`);
}

/** On a GPU the engine only records, for which one thread is enough. */
function gpuVariant({ variant = 'auto', threads = 'auto' }: PipelineOptions): VariantWish {
  if (variant !== 'auto' || (threads !== 'auto' && threads !== 1)) {
    throw new PeruseError('invalid_argument', "variant and threads are choices of the CPU: leave them out with device 'webgpu'.");
  }
  return { threads: 1 };
}

/** What `device: 'auto'` found out in this session. */
const kProbes: ProbeMemory = {};

/** A source in a form that can go to the worker. What can't is read in this thread until the signal fires. */
async function sendable(spec: SourceSpec, signal: AbortSignal): Promise<SourceSpec> {
  if (!staysHere(spec)) return spec;
  const { port1, port2 } = new MessageChannel();
  serveFolder(await openFolder(spec, platform().hostParts), port1, signal);
  return { kind: 'port', name: spec.name, port: port2 };
}

function absolute(path: string | URL): string {
  try {
    return new URL(path, platform().places.baseUrl()).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `wasmPath '${String(path)}' is not a URL.`, { cause: error });
  }
}

/** The promise, or 'aborted' as soon as the signal fires. What the promise says later is dropped. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(abortError(signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    throwIfAborted(signal);
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    promise.catch(() => {});
  }
}

function assemble(task: Task, host: Host, info: PipelineInfo, onDispose: () => void): Pipeline {
  let disposed = false;
  const checkAlive = () => {
    if (disposed) throw new PeruseError('disposed', `This ${task} pipeline was disposed of; load it again.`);
  };
  const run: Run = async (inputs, options, signal) => {
    checkAlive();
    return unlessAborted(host.call('run', { inputs, options }, signal), signal);
  };
  const members = {
    task,
    info,
    inspect: inspectCall(async (request, signal) => {
      checkAlive();
      return unlessAborted(host.call('inspect', request, signal), signal);
    }),
    memory: async () => {
      checkAlive();
      return host.call('memory', null);
    },
    usage: async () => {
      checkAlive();
      return host.call('usage', null);
    },
    dispose: async () => {
      disposed = true;
      host.dispose();
      onDispose();
    },
  };
  return Object.assign(kTasks[task](run), members) as Pipeline;
}
