import { FileStore, type LockingCache } from './cache/file_store.js';
import { type CustomCache, env } from './env.js';
import { describeError, PeruseError } from './errors.js';
import { platform } from './platform/current.js';
import { openCache } from './sources/open_folder.js';
import { hubFolder, resolveSource } from './sources/source.js';

/** A file in the cache. */
export interface CachedFile {
  url: string;
  /** Size in bytes; 0 if the server did not report it. */
  bytes: number;
  storedAt: Date;
}

/** The model files that Peruse has stored (see `env.cache`). */
export const modelCache = {
  /** Lists all stored files. */
  async list(): Promise<CachedFile[]> {
    const cache = await current();
    if (cache === undefined) return [];
    const store = openStore(cache);
    const files: CachedFile[] = [];
    for (const url of await urls(cache)) {
      const stored = await store.find(url);
      if (stored === undefined || stored.missing) continue;
      files.push({ url, bytes: stored.bytes, storedAt: new Date(stored.storedAt) });
    }
    return files;
  },

  /** Removes a model's files and returns their number. A hub id without a revision means all its revisions. */
  async delete(source: string | URL, options: { revision?: string } = {}): Promise<number> {
    const spec = await resolveSource(source, { revision: options.revision }, { ...platform().paths, findFolder: async () => undefined });
    const remote = spec.kind === 'either' ? spec.second : spec;
    if (remote.kind !== 'url') return 0;
    const allRevisions = remote.hub && options.revision === undefined && typeof source === 'string' && !/^https?:/i.test(source);
    const base = new URL(allRevisions ? hubFolder(source, undefined) : remote.base);
    return removeWhere((url) => url.origin === base.origin && url.pathname.startsWith(base.pathname) && url.search === base.search);
  },

  async clear(): Promise<number> {
    const removed = await removeWhere(() => true);
    await (await current())?.tidy?.(kAbandoned);
    return removed;
  },
};

/** Age in milliseconds after which a partly written file counts as abandoned. */
const kAbandoned = 10 * 60_000;

async function current(): Promise<LockingCache | undefined> {
  if (env.cache === false) return undefined;
  return openCache({ custom: env.cache === true ? undefined : env.cache, folder: env.cacheFolder }, platform().files);
}

function openStore(cache: LockingCache): FileStore {
  return new FileStore(cache, (why) => {
    throw new PeruseError('internal', `The cache can't be read: ${why}.`);
  });
}

async function urls(cache: CustomCache): Promise<string[]> {
  if (!cache.keys || !cache.delete) throw new PeruseError('unsupported', 'The cache given as env.cache has no keys() or no delete().');
  try {
    return (await cache.keys()).map((key) => (typeof key === 'string' ? key : key.url));
  } catch (error) {
    throw new PeruseError('internal', `The cache can't be read: ${describeError(error)}.`, { cause: error });
  }
}

async function removeWhere(goes: (url: URL) => boolean): Promise<number> {
  const cache = await current();
  if (cache === undefined) return 0;
  const store = openStore(cache);
  let removed = 0;
  for (const url of (await urls(cache)).filter((one) => goes(new URL(one)))) {
    const stored = await store.find(url);
    if ((await store.remove(url)) && stored?.missing === false) ++removed;
  }
  return removed;
}
