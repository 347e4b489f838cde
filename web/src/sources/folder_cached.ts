// A model's folder behind a URL, its files kept. What is stored is whole: an entry is made only when its last byte has come and
// been checked. Loads of one file at the same time share one download: all but one wait for it and read what it stored.
import { PeruseError, throwIfAborted } from '../errors.js';
import type { FileStore, StoredFile } from '../cache/file_store.js';
import type { RemoteFile, UrlFolder } from './folder_url.js';
import type { MissingFile, ModelFile, ModelFolder } from './source.js';

const kBytesAhead = 4 << 20;  // How far the engine may be ahead of the store.

export class CachedFolder implements ModelFolder {
  constructor(
    private readonly remote_: UrlFolder,
    private readonly store_: FileStore,
    /** What is stored is used without asking the server. */
    private readonly immutable_: boolean,
    private readonly offline_: boolean,
  ) {}

  async open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile> {
    throwIfAborted(signal);
    const url = this.remote_.address(file);
    const stored = await this.store_.find(url);
    if (stored && (this.offline_ || await this.isCurrent(file, stored, signal))) return this.fromStore(url, stored);
    if (this.offline_) return { found: false, where: url, why: 'it is not stored here, and Peruse is offline', offline: true };

    const release = await this.store_.lock(url, signal);
    try {
      const meanwhile = await this.store_.find(url);
      if (meanwhile && meanwhile.storedAt !== stored?.storedAt) {  // Another load has fetched it while this one waited.
        release();
        return this.fromStore(url, meanwhile);
      }
      const remote = await this.remote_.open(file, signal);
      if (!remote.found) {
        if (remote.certain && this.immutable_) await this.store_.saveMissing(url);
        else if (stored) await this.store_.remove(url);
        release();
        return remote;
      }
      return {
        ...remote,
        chunks: () => this.storing(url, remote, release),
        close: () => remote.close().finally(release),
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  private fromStore(where: string, stored: StoredFile): ModelFile | MissingFile {
    if (stored.missing) return { found: false, where, why: 'the server had no such file when it was asked' };
    return { found: true, where, size: stored.size, chunks: () => stored.chunks(), close: async () => {} };
  }

  /** Whether the server still has what is stored. If it can't be reached, what is stored is the best there is. */
  private async isCurrent(file: string, stored: StoredFile, signal: AbortSignal): Promise<boolean> {
    if (this.immutable_) return true;
    const now = await this.remote_.look(file, signal);
    if (now === 'unreachable') return true;
    if (now === undefined || (now.size > 0 && now.size !== stored.size)) return false;
    if (now.etag !== undefined || stored.etag !== undefined) return now.etag === stored.etag;
    return now.lastModified !== undefined && now.lastModified === stored.lastModified;
  }

  /** The file's chunks as they come; each goes to the store too. A store that fails (a full disk, say) is given up, not the load. */
  private async *storing(url: string, remote: RemoteFile, release: () => void): AsyncGenerator<Uint8Array> {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>(undefined, new ByteLengthQueuingStrategy({ highWaterMark: kBytesAhead }));
    const writer = writable.getWriter();
    let storing = true;
    const saved = this.store_.save(url, remote, readable).catch(() => {}).finally(() => { storing = false; });
    let whole = false;
    try {
      for await (const chunk of remote.chunks()) {
        yield chunk;
        if (!storing) continue;
        writer.write(chunk).catch(() => {});
        await Promise.race([writer.ready.catch(() => {}), saved]);
      }
      whole = true;
    } finally {
      const ended = whole ? writer.close() : writer.abort(new PeruseError('aborted', 'The download did not end.'));
      await Promise.all([ended.catch(() => {}), saved]);
      release();
    }
  }
}
