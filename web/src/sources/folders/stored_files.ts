// The files in a cache as modelCache lists and removes them.
import { FileStore, isPartOfFile, type LockingCache } from '../../cache/file_store.js';
import type { CustomCache } from '../../env.js';
import { describeError, PeruseError } from '../../errors.js';
import type { FileAccess } from '../file_access.js';
import { removeCommit } from '../http/commit_pin.js';
import type { StoreChoice } from '../source.js';
import { openCache } from './open_folder.js';
import type { CachedFile, StoredModels, VerifiedCache } from './stored_models.js';

/** Age in milliseconds after which a partly written file counts as abandoned. */
const kAbandoned = 10 * 60_000;

/** Opens the cache; undefined if this environment has none. */
export async function openStored(keep: StoreChoice, access: FileAccess): Promise<StoredModels | undefined> {
  const cache = await openCache(keep, access);
  return cache && new StoredFiles(cache);
}

class StoredFiles implements StoredModels {
  private readonly store_: FileStore;

  constructor(private readonly cache_: LockingCache) {
    this.store_ = new FileStore(cache_, (why) => {
      throw new PeruseError('invalid_argument', `The cache can't be read: ${why}.`);
    });
  }

  async list(): Promise<CachedFile[]> {
    const files: CachedFile[] = [];
    for (const url of await this.urls()) {
      const stored = await this.store_.find(url);
      if (stored === undefined || stored.missing) continue;
      files.push({ url, bytes: stored.bytes, storedAt: new Date(stored.storedAt) });
    }
    return files;
  }

  async remove(base: URL): Promise<number> {
    const commit = await this.store_.commitOf(base.href);
    if (commit !== undefined) await this.store_.removeCommitName(base.href);
    const others = commit === undefined ? 0 : await removeCommit(this.store_, base.href, commit);
    const isOfModel = (url: URL) => url.origin === base.origin && url.pathname.startsWith(base.pathname) && url.search === base.search;
    return others + (await this.removeWhere(isOfModel));
  }

  private async removeWhere(goes: (url: URL) => boolean): Promise<number> {
    let removed = 0;
    for (const url of (await this.urls()).filter((one) => goes(new URL(one)))) {
      const stored = await this.store_.find(url);
      if ((await this.store_.remove(url)) && stored?.missing === false) ++removed;
    }
    return removed;
  }

  async clear(): Promise<number> {
    const removed = await this.removeWhere(() => true);
    await this.cache_.tidy?.(kAbandoned);
    return removed;
  }

  async verify(repair: boolean): Promise<VerifiedCache> {
    const found: VerifiedCache = { files: 0, bytes: 0, damaged: [], removed: 0 };
    for (const url of (await this.urls()).filter((one) => !isPartOfFile(one))) {
      const reason = await this.damageOf(url, found);
      if (reason === undefined) continue;
      found.damaged.push({ url, reason });
      if (!repair) continue;
      await this.store_.remove(url);
      found.removed += 1;
    }
    return found;
  }

  /** Reads a file. Returns how it is damaged. */
  private async damageOf(url: string, found: VerifiedCache): Promise<string | undefined> {
    const stored = await this.store_.find(url);
    if (stored === undefined) return 'its bytes are missing';
    if (stored.missing) return undefined;
    found.files += 1;
    try {
      for await (const chunk of stored.chunks()) found.bytes += chunk.length;
      return undefined;
    } catch (error) {
      return describeError(error);
    }
  }

  private async urls(): Promise<string[]> {
    const { keys, delete: remove } = this.cache_ as Partial<CustomCache>;
    if (!keys || !remove) throw new PeruseError('unsupported', 'The cache given as env.cache has no keys() or no delete().');
    try {
      return (await this.cache_.keys!()).map((key) => (typeof key === 'string' ? key : key.url));
    } catch (error) {
      throw new PeruseError('invalid_argument', `The cache can't be read: ${describeError(error)}.`, { cause: error });
    }
  }
}
