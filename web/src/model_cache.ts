import { type DescribeOptions, describe } from './describe.js';
import { env } from './env.js';
import { asArgumentError, PeruseError } from './errors.js';
import { load, pipeline } from './pipeline.js';
import type { AnyPipelineOptions, PipelineOptions } from './pipeline_options.js';
import { runtime } from './platform/current.js';
import type { CachedFile, CheckedModel, StoredModels, VerifiedCache } from './sources/folders/stored_models.js';
import { cacheSettings, hubFolder, resolveSource, type Source, type UrlSpec } from './sources/source.js';
import type { TaskOrAlias } from './tasks/tasks.js';

export type { CachedFile, CheckedModel, VerifiedCache } from './sources/folders/stored_models.js';

/** Options of modelCache.preload(): those that the later load has. */
export interface PreloadOptions extends AnyPipelineOptions {
  /** The task of the later load. Default: that of the model's class. */
  task?: TaskOrAlias;
}

/** Options of modelCache.has(): those of describe(), and the weights that the later load names. */
export interface HasOptions extends Omit<DescribeOptions, 'offline' | 'local_files_only'>, Pick<PipelineOptions, 'dtype' | 'weights'> {}

/** Options of modelCache.check(). */
export interface CheckOptions {
  /** Branch or tag of a hub id. Default 'main'. */
  revision?: string;
  /** An access token for the hub. Default: `env.token`. */
  token?: string;
  /** Download what has changed. */
  update?: boolean;
  /** Cancels the check. */
  signal?: AbortSignal;
}

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
    const remote = await remoteOf(source, options);
    if (remote === undefined) return 0;
    const allRevisions = remote.hub && options.revision === undefined && typeof source === 'string' && !/^https?:/i.test(source);
    const base = new URL(allRevisions ? hubFolder(source, undefined) : remote.base);
    return (await stored())?.remove(base) ?? 0;
  },

  /**
   * Compares a stored model with its server: with one request for a branch or tag of the hub, with one for each file at another address.
   * `update` downloads what has changed; until all of it has arrived, the stored files stay in use.
   *
   * @throws PeruseError 'network' if the server does not answer.
   */
  async check(source: string | URL, options: CheckOptions = {}): Promise<CheckedModel> {
    const { update = false, signal = new AbortController().signal, ...where } = options;
    const remote = await remoteOf(source, where);
    if (remote === undefined) throw new PeruseError('invalid_argument', `${String(source)} is not a model on a server.`);
    const files = runtime();
    return (await files.kit!()).checkModel(remote, files, update, signal);
  },

  /** Reads all stored files and compares them with the checksums that were stored with them. `repair` removes those that are damaged. */
  async verify({ repair = false }: { repair?: boolean } = {}): Promise<VerifiedCache> {
    return (await stored())?.verify(repair) ?? { files: 0, bytes: 0, damaged: [], removed: 0 };
  },

  /** Removes all stored files and returns their number. */
  async clear(): Promise<number> {
    return (await stored())?.clear() ?? 0;
  },
};

async function remoteOf(source: string | URL, options: { revision?: string; token?: string }): Promise<UrlSpec | undefined> {
  const spec = await resolveSource(source, options, { ...runtime().paths, findFolder: async () => undefined });
  const remote = spec.kind === 'either' ? spec.second : spec;
  return remote.kind === 'url' ? remote : undefined;
}

async function stored(): Promise<StoredModels | undefined> {
  if (env.cache === false) return undefined;
  const files = runtime();
  return (await files.kit!()).openStored(cacheSettings(), files);
}
