import { env } from './env.js';
import { platform } from './platform/current.js';
import { cacheSettings, hubFolder, resolveSource } from './sources/source.js';
import type { CachedFile, StoredModels } from './sources/stored_models.js';

export type { CachedFile } from './sources/stored_models.js';

/** The model files that Peruse has stored (see `env.cache`). */
export const modelCache = {
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
    const isOfModel = (url: URL) => url.origin === base.origin && url.pathname.startsWith(base.pathname) && url.search === base.search;
    return (await stored())?.removeWhere(isOfModel) ?? 0;
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
