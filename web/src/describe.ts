import type { DescribeRequest, DescriptionReport, ModelDownload as Download, Refusal } from './engine/models/describe_model.js';
import type { VectorReport } from './engine/models/describe_vectors.js';
import { chooseVariant } from './engine/variant.js';
import { asArgumentError, throwIfAborted, unlessAborted } from './errors.js';
import type { Sources } from './opened_model.js';
import { checkOptions, kSourceOptions, pick } from './options.js';
import {
  kLabelReaders,
  kLoadOptions,
  kPooling,
  kRoutes,
  type LabelReaderOptions,
  type PipelineOptions,
  type PoolingOptions,
  type RouteOptions,
} from './pipeline_options.js';
import { runtime } from './platform/current.js';
import { engineFiles } from './platform/paths.js';
import { type StartedHost, startHost } from './resident_models.js';
import { textOf } from './sources/json.js';
import { weightsWish } from './sources/onnx_files.js';
import { sendable } from './sources/sendable.js';
import { resolveSource, type Source, type SourceOptions, type SourceSpec, staysHere } from './sources/source.js';
import { engineTask, kEngineTasks, kTaskNames, type Task } from './tasks/tasks.js';

const kOptions = {
  ...pick(kLoadOptions, 'model_file_name', 'signal', 'subfolder'),
  ...kSourceOptions,
  ...kLabelReaders,
  ...kRoutes,
  ...kPooling,
};

/** Where to find the model, and which of its files to describe. The options are those of pipeline(). */
export interface DescribeOptions
  extends SourceOptions,
    LabelReaderOptions,
    RouteOptions,
    Pick<PoolingOptions, 'pooling'>,
    Pick<PipelineOptions, 'model_file_name' | 'signal' | 'subfolder'> {}

/** Weights that pipeline() can load with `dtype` and `weights`, and what they cost. */
export interface ModelDownload extends Omit<Download, 'tasks'> {
  /** The tasks that run. If there are only ONNX files: those of the class in config.json; parameters are checked when they are loaded. */
  tasks: Task[];
}

export type { VectorReport as VectorDescription };

/** The description of a model. */
export interface ModelDescription {
  /** The model, as the caller named it. */
  model: string;
  /** `model_type` and `architectures` are those of config.json; `model_type` of static embeddings is 'static'. */
  model_type: string;
  architectures: string[];
  /** The weights to choose from, in the order of the files: safetensors, then ONNX. */
  downloads: ModelDownload[];
  /** For each task that does not run: the reason. */
  refused: Partial<Record<Task, Refusal>>;
  /** The vectors of an embedder: dense, sparse, or a matrix for each text. Absent for other models. */
  vectors?: VectorReport;
}

/**
 * Describes a model without downloading it: for each precision the bytes to download, the memory, the tasks that run, and whether it is
 * cached. Fetches configuration, headers of weights, and sizes of files. Starts an engine for it, which is freed afterwards.
 *
 * @throws PeruseError: those of loading, before weights are read.
 */
export async function describe(source: Source, settings: DescribeOptions = {}): Promise<ModelDescription> {
  try {
    return await describeNamed(source, checkOptions(settings, kOptions, 'describe()'));
  } catch (error) {
    throw asArgumentError(error);
  }
}

async function describeNamed(source: Source, options: DescribeOptions): Promise<ModelDescription> {
  const { signal } = options;
  throwIfAborted(signal);
  const resolve = async (other: Source | undefined) =>
    other === undefined ? undefined : resolveSource(other, { ...options, revision: undefined }, runtime().paths);
  const spec = await resolveSource(source, options, runtime().paths);
  const sources = { source: spec, encoder: await resolve(options.encoder), labelsEncoder: await resolve(options.labels_encoder) };
  const isLocal = Object.values(sources).some((one) => one !== undefined && staysHere(one));
  const started = await startHost(!isLocal && runtime().startsWorkers(), isLocal ? false : undefined, 1);
  try {
    return await describeIn(started, sources, options, (request) => unlessAborted(started.host.call('describe', request, signal), signal));
  } finally {
    started.host.dispose();
  }
}

/** Describes the model of `sources` by a host that has been started. */
export async function describeIn(
  started: StartedHost,
  { source, encoder, labelsEncoder }: Pick<Sources, 'source' | 'encoder' | 'labelsEncoder'>,
  options: DescribeOptions,
  ask: (request: DescribeRequest) => Promise<DescriptionReport>,
): Promise<ModelDescription> {
  const { subfolder, modelFileName } = weightsWish({ ...options, weights: 'auto' });
  const wasm = engineFiles({ filesFolder: await runtime().filesFolder?.() }, runtime().paths.baseUrl());
  const stop = new AbortController();
  try {
    const choice = chooseVariant(runtime().features(started.inWorker), { threads: 1 });
    const send = async (one: SourceSpec | undefined) => one && (started.inWorker ? sendable(one, stop.signal, runtime()) : one);
    const { config, downloads, refused, vectors } = await ask({
      source: (await send(source))!,
      encoder: await send(encoder),
      labelsEncoder: await send(labelsEncoder),
      route: options.route,
      pooling: options.pooling,
      subfolder,
      modelFileName,
      tasks: [...kEngineTasks],
      choice,
      wasm: wasm ?? (await runtime().build?.(choice.variant, 'cpu')),
    });
    const ofTask = (task: Task) => refused[engineTask(task).name];
    return {
      model: source.name,
      model_type: textOf(config.model_type),
      architectures: [config.architectures ?? []].flat().map(textOf),
      downloads: downloads.map((one) => ({ ...one, tasks: kTaskNames.filter((task) => one.tasks.includes(engineTask(task).name)) })),
      refused: Object.fromEntries(kTaskNames.flatMap((task) => (ofTask(task) ? [[task, ofTask(task)]] : []))),
      ...(vectors && { vectors }),
    };
  } finally {
    stop.abort();
  }
}

/** Whether this browser or runtime runs Peruse: it needs WebAssembly with SIMD. */
export function isSupported(): boolean {
  const { wasm, simd } = runtime().features(false);
  return wasm && simd;
}
