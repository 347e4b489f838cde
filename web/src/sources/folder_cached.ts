// A folder at a URL with cached files. An entry is created after a file's last byte has arrived and been checked. Parallel loads of a file
// share one download: the others wait and read the stored file. Cache failures do not stop a load.
import { DamagedEntry, type FileStore, type Saving, type ServerHeaders, type StoredFile } from '../cache/file_store.js';
import { describeError, PeruseError, throwIfAborted } from '../errors.js';
import { Late, patience, within } from '../patience.js';
import { type RemoteFile, type UrlFolder, versionOf } from './folder_url.js';
import type { FileFacts, FormSink, MissingFile, ModelFile, ModelFolder } from './source.js';

export interface CachedFolderOptions {
  /** Use cached files without a request. */
  immutable: boolean;
  offline: boolean;
  notice: (sentence: string) => void;
}

const kImmutable = 'immutable';

export class CachedFolder implements ModelFolder {
  private broken_ = false; // whether the cache has refused a file; nothing more is then stored

  constructor(
    private readonly remote_: UrlFolder,
    private readonly store_: FileStore,
    private readonly options_: CachedFolderOptions,
  ) {}

  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<ModelFile | MissingFile> {
    throwIfAborted(signal);
    const { immutable, offline } = this.options_;
    const url = this.remote_.address(file);
    const stored = await this.store_.find(url);
    throwIfAborted(signal);
    if (stored && (await this.isUsable(file, stored, signal))) return this.fromStore(file, stored, signal);
    if (offline) return notStored(url);
    if (firstBytes !== undefined) return this.remote_.open(file, signal, firstBytes);

    const release = await this.store_.lock(url, signal);
    try {
      const meanwhile = await this.store_.find(url);
      if (meanwhile && meanwhile.storedAt !== stored?.storedAt) {
        // Another load fetched the file while this one waited for the lock.
        release();
        return this.fromStore(file, meanwhile, signal);
      }
      const remote = await this.remote_.open(file, signal);
      if (!remote.found) {
        if (remote.certain && immutable) await this.store_.saveMissing(url);
        else if (stored) await this.store_.remove(url);
        release();
        return remote;
      }
      return {
        ...remote,
        version: immutable ? kImmutable : remote.version,
        transfers: this.broken_ || !(immutable || remote.etag || remote.lastModified),
        chunks: () => this.storing(url, remote, release),
        close: () => remote.close().finally(release),
        inForm: (form) => ({
          chunks: () => releasing(remote, release),
          save: (bytes) => this.savingForm(formOf(url, form), { ...remote, size: 0, bytes }),
        }),
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingFile> {
    const url = this.remote_.address(file);
    const stored = await this.store_.find(url);
    if (stored && (await this.isUsable(file, stored, signal))) {
      const found = this.fromStore(file, stored, signal);
      return found.found ? { found: true, size: found.size, version: found.version, cached: true } : found;
    }
    if (this.options_.offline) return notStored(url);
    const remote = await this.remote_.look(file, signal);
    if (!remote.found && remote.certain && this.options_.immutable) await this.store_.saveMissing(url);
    return remote.found && this.options_.immutable ? { ...remote, version: kImmutable } : remote;
  }

  async openInForm(file: string, form: string, signal: AbortSignal): Promise<ModelFile | undefined> {
    const url = formOf(this.remote_.address(file), form);
    const stored = await this.store_.find(url);
    if (!stored || stored.missing || !(await this.isUsable(file, stored, signal))) return undefined;
    const version = this.options_.immutable ? kImmutable : versionOf(stored);
    const chunks = () => this.readingForm(url, stored);
    return { found: true, where: url, size: stored.bytes, version, chunks, close: async () => {} };
  }

  private async *readingForm(url: string, stored: StoredFile): AsyncGenerator<Uint8Array> {
    try {
      yield* stored.chunks();
    } catch (error) {
      if (!(error instanceof DamagedEntry)) throw error;
      await this.store_.remove(url);
      throw new PeruseError(
        'truncated_file',
        `The cached copy of ${url} is damaged (${error.message}) and was removed; load the model again to download it.`,
      );
    }
  }

  private savingForm(url: string, headers: ServerHeaders): FormSink {
    const saving = this.broken_ ? undefined : new Storing(this.store_.save(url, headers));
    return {
      add: async (chunk) => saving?.add(chunk),
      finish: async (whole) => {
        const why = await saving?.finish(whole);
        if (!whole || why === undefined) return;
        this.broken_ = true;
        this.options_.notice(`${url} is not kept: ${why}.`);
      },
    };
  }

  private async isUsable(file: string, stored: StoredFile, signal: AbortSignal): Promise<boolean> {
    return this.options_.offline || this.options_.immutable || (await this.isCurrent(file, stored, signal));
  }

  private fromStore(file: string, stored: StoredFile, signal: AbortSignal): ModelFile | MissingFile {
    const where = this.remote_.address(file);
    if (stored.missing) return { found: false, where, why: 'the server had no such file when it was asked' };
    const version = this.options_.immutable ? kImmutable : versionOf(stored);
    return { found: true, where, size: stored.bytes, version, chunks: () => this.reading(file, stored, signal), close: async () => {} };
  }

  /** Whether the server's file equals the stored one. If the server is unreachable, the stored file is used. */
  private async isCurrent(file: string, stored: StoredFile, signal: AbortSignal): Promise<boolean> {
    const now = await this.remote_.headers(file, signal);
    return now === 'unreachable' || (now !== undefined && isSame(now, stored));
  }

  /** Yields a stored file. If it is damaged, downloads the remaining bytes. */
  private async *reading(file: string, stored: StoredFile, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let given = 0;
    let damage: DamagedEntry;
    try {
      for await (const chunk of stored.chunks()) {
        given += chunk.length;
        yield chunk;
      }
      return;
    } catch (error) {
      if (!(error instanceof DamagedEntry)) throw error;
      damage = error;
    }
    const url = this.remote_.address(file);
    await this.store_.remove(url);
    const what = `The cached copy of ${url} is damaged (${damage.message}) and was removed`;
    if (this.options_.offline) throw new PeruseError('offline', `${what}; Peruse is offline and can't fetch it again.`);
    const remote = await this.remote_.open(file, signal);
    if (!remote.found) throw new PeruseError('not_found', `${what}; downloading it again failed: ${remote.why}.`);
    if (given > 0 && !(damage.soundSoFar && isSame(remote, stored))) {
      await remote.close();
      throw new PeruseError('truncated_file', `${what}; load the model again to download it.`);
    }
    this.options_.notice(`${what}; it was fetched again.`);
    for await (const chunk of this.storing(url, remote, () => {})) {
      const known = Math.min(given, chunk.length);
      given -= known;
      if (known < chunk.length) yield chunk.subarray(known);
    }
  }

  private async *storing(url: string, remote: RemoteFile, release: () => void): AsyncGenerator<Uint8Array> {
    const saving = this.broken_ ? undefined : new Storing(this.store_.save(url, remote));
    let whole = false;
    try {
      for await (const chunk of remote.chunks()) {
        yield chunk;
        await saving?.add(chunk);
      }
      whole = true;
    } finally {
      const why = await saving?.finish(whole);
      if (whole && why !== undefined) {
        this.broken_ = true;
        this.options_.notice(`${url} is not cached: ${why}.`);
      }
      release();
    }
  }
}

function formOf(url: string, form: string): string {
  const { href, search } = new URL(url);
  return `${href.slice(0, href.length - search.length)}.peruse-${form}${search}`;
}

async function* releasing(remote: RemoteFile, release: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* remote.chunks();
  } finally {
    release();
  }
}

function notStored(where: string): MissingFile {
  return { found: false, where, why: 'it is not stored here, and Peruse is offline', offline: true };
}

/** Compares tags, or else date and length. Without these, the file counts as changed. */
function isSame(now: ServerHeaders, stored: ServerHeaders): boolean {
  if (now.etag !== undefined || stored.etag !== undefined) return weak(now.etag) === weak(stored.etag);
  if (now.lastModified === undefined || now.lastModified !== stored.lastModified) return false;
  // A length that is unknown, as that of another form, is not compared.
  return now.size === 0 || stored.size === 0 || now.size === stored.size;
}

/** Servers that compress the body make their tags weak. */
function weak(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}

/** Stores a file in parallel with its use, until storing fails. */
class Storing {
  private why_: string | undefined;
  private over_ = false;
  private ended_ = false;
  private readonly saved_: Promise<void>;

  constructor(private readonly saving_: Saving) {
    this.saved_ = saving_.saved.then(
      () => {
        if (!this.ended_) this.giveUp(new Error("the cache's put() did not read it to its end"));
        this.over_ = true;
      },
      (error: unknown) => this.giveUp(error),
    );
  }

  async add(chunk: Uint8Array): Promise<void> {
    if (this.over_) return;
    try {
      await Promise.race([this.saving_.stream.write(chunk), this.saved_]);
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** Returns why the file was not stored, or undefined. */
  async finish(whole: boolean): Promise<string | undefined> {
    this.ended_ = true;
    try {
      if (!whole) this.saving_.stream.fail(new PeruseError('aborted', 'The download did not end.'));
      else if (!this.over_) await Promise.race([this.saving_.stream.end(), this.saved_]);
      await within(patience.cache, this.saved_);
    } catch (error) {
      this.giveUp(error instanceof Late && error.message === '' ? new Late('the cache does not answer') : error);
    }
    return this.why_;
  }

  private giveUp(error: unknown): void {
    this.over_ = true;
    this.why_ ??= describeError(error);
    this.saving_.stream.fail(error);
  }
}
