// pipeline(): loads a model for a task and returns a function.
import { abortError, PeruseError, throwIfAborted } from './errors.js';
import { LocalHost, type Host } from './host.js';
import type { LoadReport } from './load.js';
import type { MemoryReport } from './memory_report.js';
import { platform } from './platform.js';
import type { ProgressCallback } from './progress.js';
import { resolveSource, type Source, type SourceOptions } from './source.js';
import type { Run } from './tasks/call.js';
import { kAliases, kTasks, type ResolvedTask, type Task, type TaskCall, type TaskOrAlias } from './tasks/tasks.js';
import { chooseVariant, type Build, type VariantChoice, type VariantWish } from './variant.js';
import { RemoteHost } from './worker_host.js';

export interface PipelineOptions extends SourceOptions, VariantWish {
  /** Told of every file and its bytes while loading. */
  progress_callback?: ProgressCallback;
  /** Cancels loading. */
  signal?: AbortSignal;
  /**
   * Where to compute. 'auto', the default, is the CPU: small encoders are often faster there. 'webgpu' computes on the GPU, in
   * float32 (with dtype 'fp16' the weights are held as float16); it never falls back: 'no_gpu' says why there is none. In Node
   * it needs the npm package `webgpu`.
   */
  device?: 'auto' | 'cpu' | 'wasm' | 'webgpu';
  /** Precision of the weights as held. Default 'auto': 'fp32'. */
  dtype?: 'auto' | Dtype;
  /** Work in a worker? Default: true in browsers, false in Node. */
  worker?: boolean;
  /** URL of a folder that holds the engine's builds (peruse-*.mjs, peruse-*.wasm), instead of the package's own. */
  wasmPath?: string | URL;
}

/** What was loaded, where it runs, and why nothing better. */
export interface PipelineInfo {
  task: Task;
  /** The model, as the caller named it. */
  model: string;
  variant: Build;
  threads: number;
  /** Why this build and number of threads. */
  reason: string;
  device: 'cpu' | 'webgpu';
  dtype: Dtype;
  /** In a worker, or in the caller's own thread. */
  worker: boolean;
  /** Bytes read: all files. */
  bytes: number;
  /** From the call of pipeline() to its return. */
  milliseconds: number;
  /** The engine's account of the weights: heads found, tensors unused. */
  weights: LoadReport['weights'];
}

/** A loaded model: call it as its task is called. */
export type Pipeline<T extends Task = Task> = TaskCall<T> & {
  readonly task: T;
  readonly info: PipelineInfo;
  /** The engine's memory. */
  memory(): Promise<MemoryReport>;
  /** Gives all memory back. Later calls fail with 'disposed'; calls under way with 'aborted'. */
  dispose(): Promise<void>;
};

/** Precisions by the names of transformers.js, and the engine's names for them. */
const kDtypes = { fp32: 'f32', fp16: 'f16', q8: 'q8' } as const;
type Dtype = keyof typeof kDtypes;

/**
 * Loads a model.
 *
 * @param task What to do, for example 'text-classification' or 'question-answering'.
 * @param source Where the model is: a URL or path of a folder, a hub id, or its files. See {@link Source}.
 * @throws PeruseError with a `code` that says why. A failed load leaves nothing behind.
 */
export async function pipeline<T extends TaskOrAlias>(
  task: T, source: Source, options: PipelineOptions = {},
): Promise<Pipeline<ResolvedTask<T>>> {
  const start = performance.now();
  throwIfAborted(options.signal);
  const resolvedTask = resolveTask(task);
  const dtype = checkDevice(options);
  const inWorker = options.worker ?? platform().workerByDefault;
  const device = options.device === 'webgpu' ? 'webgpu' : 'cpu';
  const choice = device === 'webgpu' ? chooseGpu(options) : chooseVariant(platform().features(inWorker), options);
  const spec = await resolveSource(source, options, platform().places);
  throwIfAborted(options.signal);

  const report = options.progress_callback ?? (() => {});
  const host: Host = inWorker
    ? new RemoteHost(platform().startWorker(), report)
    : new LocalHost(report, platform().hostParts);
  const wasmPath = options.wasmPath === undefined ? undefined : absolute(options.wasmPath);
  let loaded: LoadReport;
  try {
    loaded = await unlessAborted(host.call('load', { task: resolvedTask, dtype: kDtypes[dtype], source: spec, choice, wasmPath }), options.signal);
  } catch (error) {
    host.dispose();
    throw error;
  }
  report({ status: 'ready', task: resolvedTask, model: spec.name });
  const info: PipelineInfo = {
    task: resolvedTask, model: spec.name, ...choice, device, dtype, worker: inWorker,
    bytes: loaded.bytes, milliseconds: performance.now() - start, weights: loaded.weights,
  };
  return assemble(resolvedTask, host, info) as unknown as Pipeline<ResolvedTask<T>>;
}

function resolveTask(task: string): Task {
  const name = Object.hasOwn(kAliases, task) ? kAliases[task as keyof typeof kAliases] : task;
  if (Object.hasOwn(kTasks, name)) return name as Task;
  const known = [...Object.keys(kTasks), ...Object.keys(kAliases)].join(', ');
  throw new PeruseError('unsupported', `There is no task '${task}'; there are ${known}.`);
}

/** Refuses devices and precisions that don't exist; gives the precision. */
function checkDevice({ device = 'auto', dtype = 'auto' }: PipelineOptions): Dtype {
  if (!['auto', 'cpu', 'wasm', 'webgpu'].includes(device)) {
    throw new PeruseError('unsupported', `Peruse does not compute on '${device}', only on 'cpu' and 'webgpu'.`);
  }
  if (device === 'webgpu' && dtype === 'q8') {
    throw new PeruseError('unsupported', "dtype 'q8' is not there for device 'webgpu': use fp32 or fp16.");
  }
  if (dtype === 'auto') return 'fp32';
  if (Object.hasOwn(kDtypes, dtype)) return dtype;
  throw new PeruseError('unsupported', `Peruse knows no dtype '${String(dtype)}', only ${Object.keys(kDtypes).join(', ')}.`);
}

function chooseGpu({ variant = 'auto', threads = 'auto' }: PipelineOptions): VariantChoice {
  if (variant !== 'auto' || (threads !== 'auto' && threads !== 1)) {
    throw new PeruseError('invalid_argument', "variant and threads are choices of the CPU: leave them out with device 'webgpu'.");
  }
  return { variant: 'webgpu', threads: 1, reason: 'the GPU was asked for.' };
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

function assemble(task: Task, host: Host, info: PipelineInfo): Pipeline {
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
    memory: async () => {
      checkAlive();
      return host.call('memory', null);
    },
    dispose: async () => {
      disposed = true;
      host.dispose();
    },
  };
  return Object.assign(kTasks[task](run), members) as Pipeline;
}
