import { type DescribeOptions, describe } from './describe.js';
import { env } from './env.js';
import { asArgumentError } from './errors.js';
import { load, pipeline } from './pipeline.js';
import type { AnyPipelineOptions, PipelineOptions } from './pipeline_options.js';
import { platform } from './platform/current.js';
import { cacheSettings, hubFolder, resolveSource, type Source } from './sources/source.js';
import type { CachedFile, StoredModels } from './sources/stored_models.js';
import type { TaskOrAlias } from './tasks/tasks.js';

export type { CachedFile } from './sources/stored_models.js';

/** Options of modelCache.preload(): those that the later load has. */
export interface PreloadOptions extends AnyPipelineOptions {
  /** The task of the later load. Default: that of the model's class. */
  task?: TaskOrAlias;
}

/** Options of modelCache.has(): those of describe(), and the weights that the later load names. */
export interface HasOptions extends Omit<DescribeOptions, 'offline' | 'local_files_only'>, Pick<PipelineOptions, 'dtype' | 'weights'> {}

/** The model files that Peruse has stored (see `env.cache`). */
export const modelCache = {
  /**
   * Whether a load would download nothing. Asks no server.
   *
   * @throws PeruseError 'invalid_argument' for a source or options that make no sense.
   */
  async has(source: Source, { dtype = 'auto', weights = 'auto', ...options }: HasOptions = {}): Promise<boolean> {
    try {
      const { downloads } = await describe(source, { ...options, offline: true });
      const fits = (one: (typeof downloads)[number]) =>
        (dtype === 'auto' || one.dtype === dtype) && (weights === 'auto' || one.weights === weights);
      return downloads.find(fits)?.cached ?? false;
    } catch (error) {
      const typed = asArgumentError(error);
      if (['offline', 'not_found', 'network'].includes(typed.code)) return false;
      throw typed;
    }
  },

  /**
   * Downloads and stores a model, so that a later load downloads nothing.
   *
   * @throws PeruseError: those of a load.
   */
  async preload(source: Source, { task, ...options }: PreloadOptions = {}): Promise<void> {
    const loaded = task === undefined ? await load(source, options) : await pipeline(task, source, options);
    await loaded.dispose();
  },

  /** Lists all stored files. */
  async list(): Promise<CachedFile[]> {
    return (await stored())?.list() ?? [];
  },

  /** Removes a model's files and returns their number. A hub id without a revision means all its revisions. */
  async delete(source: string | URL, options: { revision?: string } = {}): Promise<number> {
    const spec = await resolveSource(source, { revision: options.revision }, { ...platform().paths, findFolder: async () => undefined });
    const remote = spec.kind === 'either' ? spec.second : spec;
    if (remote.kind !== 'url') return 0;
    const allRevisions = remote.hub && options.revision === undefined && typeof source === 'string' && !/^https?:/i.test(source);
    const base = new URL(allRevisions ? hubFolder(source, undefined) : remote.base);
    return (await stored())?.remove(base) ?? 0;
  },

  async clear(): Promise<number> {
    return (await stored())?.clear() ?? 0;
  },
};

async function stored(): Promise<StoredModels | undefined> {
  if (env.cache === false) return undefined;
  const { files } = platform();
  return (await files.kit!()).openStored(cacheSettings(), files);
}
