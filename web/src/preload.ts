import { type DescribeOptions, describe } from './describe.js';
import { asArgumentError, PeruseError } from './errors.js';
import { pipeline } from './pipeline.js';
import type { AnyPipelineOptions, PipelineOptions } from './pipeline_options.js';
import { platform } from './platform/current.js';
import type { Source } from './sources/source.js';
import type { TaskOrAlias } from './tasks/tasks.js';

/** Options of preload(): those that the later load has. */
export interface PreloadOptions extends AnyPipelineOptions {
  /** The task of the later load. Default: the first task that the model offers. */
  task?: TaskOrAlias;
}

/** Options of isCached(): those of describe(), and the weights that the later load names. */
export interface IsCachedOptions
  extends Omit<DescribeOptions, 'offline' | 'local_files_only'>,
    Pick<PipelineOptions, 'dtype' | 'weights'> {}

/**
 * Downloads a model into the cache, so that a later pipeline() downloads nothing. Loads the model once and frees its memory.
 *
 * @throws PeruseError: those of pipeline().
 */
export async function preload(source: Source, { task, ...options }: PreloadOptions = {}): Promise<void> {
  const loaded = await pipeline(task ?? (await firstTask(source, options)), source, options);
  await loaded.dispose();
}

async function firstTask(source: Source, options: AnyPipelineOptions): Promise<TaskOrAlias> {
  const { downloads, refused } = await describe(source, sourceOptions(options));
  const task = downloads.flatMap(({ tasks }) => tasks)[0];
  if (task !== undefined) return task;
  const reason = Object.values(refused)[0]?.message ?? 'there are no weights';
  throw new PeruseError('unsupported', `No task runs with this model: ${reason}`);
}

function sourceOptions({ revision, token, offline, signal, subfolder, model_file_name, encoder, labels_encoder }: AnyPipelineOptions) {
  const all = { revision, token, offline, signal, subfolder, model_file_name, encoder, labels_encoder };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as DescribeOptions;
}

/**
 * Whether pipeline() would download nothing. Asks no server.
 *
 * @throws PeruseError 'invalid_argument' for a source or options that make no sense.
 */
export async function isCached(source: Source, { dtype = 'auto', weights = 'auto', ...options }: IsCachedOptions = {}): Promise<boolean> {
  try {
    const { downloads } = await describe(source, { ...options, offline: true });
    const fits = (one: (typeof downloads)[number]) =>
      (dtype === 'auto' || one.dtype === dtype) && (weights === 'auto' || one.weights === weights);
    return downloads.find(fits)?.cached ?? false;
  } catch (error) {
    const typed = asArgumentError(error);
    if (typed instanceof PeruseError && ['offline', 'not_found', 'network'].includes(typed.code)) return false;
    throw typed;
  }
}

/** Whether this browser or runtime runs Peruse: it needs WebAssembly with SIMD. */
export function isSupported(): boolean {
  const { wasm, simd } = platform().features(false);
  return wasm && simd;
}
