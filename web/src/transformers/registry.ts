// transformers.js's questions about stored models.
import { env, type HasOptions, modelCache, PeruseError } from '../face.js';

/** A stored file of a model. */
export interface CachedFileStatus {
  /** The file's name in its repository. */
  file: string;
  cached: boolean;
}

/** Whether a load would download nothing, and the files that are stored. A file that is missing is not listed: only a load knows its name. */
export interface CacheStatus {
  allCached: boolean;
  files: CachedFileStatus[];
}

/** What was removed. */
export interface ClearedFiles {
  filesDeleted: number;
  filesCached: number;
  files: { file: string; deleted: boolean; wasCached: boolean }[];
}

const unlisted =
  (name: string) =>
  async (..._given: readonly unknown[]): Promise<never> => {
    throw new PeruseError(
      'unsupported',
      `ModelRegistry.${name}() is not supported: describe() of 'peruse' says what a load would download.`,
    );
  };

/** Questions about stored models. They ask no server. The task of a pipeline does not change the answer. */
export const ModelRegistry = {
  get_available_dtypes: unlisted('get_available_dtypes'),
  get_file_metadata: unlisted('get_file_metadata'),
  get_files: unlisted('get_files'),
  get_model_files: unlisted('get_model_files'),
  get_pipeline_files: unlisted('get_pipeline_files'),
  get_processor_files: unlisted('get_processor_files'),
  get_tokenizer_files: unlisted('get_tokenizer_files'),
  /** Whether a model's files are stored. */
  is_cached(model: string, options: HasOptions = {}): Promise<boolean> {
    return modelCache.has(model, options);
  },
  /** The same for a pipeline. */
  is_pipeline_cached(_task: string, model: string, options: HasOptions = {}): Promise<boolean> {
    return modelCache.has(model, options);
  },
  /** Whether a model's files are stored, and which are. */
  async is_cached_files(model: string, options: HasOptions = {}): Promise<CacheStatus> {
    const files = (await storedNames(model)).map((file) => ({ file, cached: true }));
    return { allCached: await modelCache.has(model, options), files };
  },
  /** The same for a pipeline. */
  is_pipeline_cached_files(_task: string, model: string, options: HasOptions = {}): Promise<CacheStatus> {
    return ModelRegistry.is_cached_files(model, options);
  },
  /** Removes a model's stored files, of all its revisions. */
  async clear_cache(model: string): Promise<ClearedFiles> {
    const names = await storedNames(model);
    const filesDeleted = await modelCache.delete(model);
    const files = names.map((file) => ({ file, deleted: true, wasCached: true }));
    return { filesDeleted, filesCached: names.length, files };
  },
  /** The same for a pipeline. */
  clear_pipeline_cache(_task: string, model: string): Promise<ClearedFiles> {
    return ModelRegistry.clear_cache(model);
  },
};

async function storedNames(model: string): Promise<string[]> {
  const [folder = '', afterRevision] = env.remotePathTemplate.replace(/^\/+/, '').replace('{model}', model).split('{revision}');
  const place = new URL(folder, env.remoteHost.replace(/\/?$/, '/')).href.replace(/\/?$/, '/');
  return (await modelCache.list()).flatMap(({ url }) => {
    if (!url.startsWith(place)) return [];
    const path = url.slice(place.length); // 'main/config.json'
    return [afterRevision === undefined ? path : path.slice(path.indexOf('/') + 1)];
  });
}
