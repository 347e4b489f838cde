// A folder at a URL with cached files. An entry is created after a file's last byte has arrived and been checked. Parallel loads of a file
// share one download: the others wait and read the stored file. Cache failures do not stop a load.
import { beside } from '../../cache/entry.js';
import { DamagedEntry, type FileStore, type Saving, type ServerHeaders, type StoredFile } from '../../cache/file_store.js';
import { describeError, PeruseError, type PlainError, throwIfAborted } from '../../errors.js';
import { Late, patience, within } from '../../patience.js';
import { CommitPin } from '../http/commit_pin.js';
import { isSame, versionOf } from '../http/requests.js';
import type { FileFacts, FormSink, MissingFile, ModelFile, ModelFolder } from '../source.js';
import type { MissingRemoteFile, RemoteFile, UrlFolder } from './folder_url.js';
import type { Recovery } from './healing.js';
import type { CheckedModel } from './stored_models.js';
import { Suspects } from './suspects.js';

interface CachedFolderOptions {
  /** Use cached files without a request. */
  immutable: boolean;
  offline: boolean;
  /** The model's name in messages. */
  name: string;
  notice: (sentence: string) => void;
}

const kImmutable = 'immutable';
const kConfig = 'config.json';
/** Time in milliseconds for which a file that the hub lacks counts as missing without a request. */
const kMissingFor = 24 * 3600_000;

export class CachedFolder implements ModelFolder {
  readonly recovery: Recovery;
  private broken_ = false; // whether the cache has refused a file; nothing more is then stored
  private troubled_ = false; // whether the server has refused to answer; stored files are then used without a request
  private readonly pin_: CommitPin | undefined;
  private readonly suspects_: Suspects;
  private readonly gone_ = new Set<string>(); // entries of files that the server does not have any more

  constructor(
    private readonly remote_: UrlFolder,
    private readonly store_: FileStore,
    private readonly options_: CachedFolderOptions,
  ) {
    const { immutable, name } = options_;
    this.pin_ = immutable ? CommitPin.of(remote_, store_, name) : undefined;
    this.suspects_ = new Suspects(store_, options_);
    this.recovery = {
      doubt: async (error) => (await this.remote_.doubt()) || this.moved() || this.doubts(error),
      giveUp: (error) => this.suspects_.giveUp(error),
      settle: () => this.settle(),
    };
  }

  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<ModelFile | MissingFile> {
    throwIfAborted(signal);
    await this.pin_?.ready();
    const stored = await this.find(file);
    throwIfAborted(signal);
    const usable = stored && (await this.usable(file, stored, signal));
    if (usable) return usable;
    if (this.options_.offline) return notStored(this.remote_.address(file));
    const copy = stored && !this.isDoubted(file) ? stored : undefined;
    try {
      if (firstBytes === undefined) return await this.fetch(file, copy, signal);
      const part = await this.remote_.open(file, signal, firstBytes, copy !== undefined);
      return part.found || !copy ? part : this.missing(file, part, copy);
    } catch (error) {
      if (!copy || !this.isRefusal(error)) throw error;
      this.trouble(error.message);
      return this.fromStore(file, copy, signal);
    }
  }

  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingFile> {
    await this.pin_?.ready();
    const stored = await this.find(file);
    const usable = stored && (await this.usable(file, stored, signal));
    if (usable) return usable.found ? { found: true, size: usable.size, version: usable.version, cached: true } : usable;
    if (this.options_.offline) return notStored(this.remote_.address(file));
    const remote = await this.remote_.look(file, signal).catch((error: unknown) => {
      if (!stored?.missing || !this.isRefusal(error)) throw error;
      return { found: false, where: this.remote_.address(file), why: kKnownMissing, certain: false } as const;
    });
    if (!remote.found && remote.certain && !stored) await this.rememberMissing(file, remote);
    return remote.found && this.options_.immutable ? { ...remote, version: this.version() } : remote;
  }

  async openInForm(file: string, form: string, signal: AbortSignal): Promise<ModelFile | undefined> {
    await this.pin_?.ready();
    const url = beside(this.key(file), form);
    const stored = this.isDoubted(file) ? undefined : await this.store_.find(url);
    if (!stored || stored.missing) return undefined;
    const usable = await this.usable(file, stored, signal);
    if (!usable?.found) return undefined;
    return { ...usable, where: url, size: stored.bytes, chunks: () => this.readingForm(url, stored) };
  }

  /** Compares what is stored with the server. `files` are the names of the stored files. */
  async compare(signal: AbortSignal): Promise<Pick<CheckedModel, 'stored' | 'latest' | 'isCurrent'> & { files: string[] }> {
    await this.pin_?.ready();
    const files = await this.storedFiles();
    const stored = this.pin_?.commit;
    const first = files.includes(kConfig) ? kConfig : files[0];
    if (first === undefined) return { stored, latest: await this.pin_?.current(signal), isCurrent: false, files };
    for (const file of this.options_.immutable ? [first] : files) {
      const now = await this.remote_.headers(file, signal);
      if ('refusal' in now) throw new PeruseError('network', `${now.refusal}.`);
      if (stored !== undefined && now.commit !== undefined) return { stored, latest: now.commit, isCurrent: stored === now.commit, files };
      const before = await this.find(file);
      const isAsBefore = 'found' in now ? before?.missing : before && !before.missing && isSame(now, before);
      if (!isAsBefore) return { stored, latest: undefined, isCurrent: false, files };
    }
    return { stored, latest: undefined, isCurrent: true, files };
  }

  /** Downloads files from the server, unless they are stored as they are there. Returns their number. */
  async update(files: readonly string[], commit: string | undefined, signal: AbortSignal): Promise<number> {
    await this.pin_?.ready();
    if (commit !== undefined && this.pin_) this.pin_.commit = commit;
    let updated = 0;
    for (const file of files) {
      if (this.options_.immutable && commit === undefined) this.suspects_.refetch(file);
      const found = await this.open(file, signal);
      if (!found.found) continue;
      for await (const _ of found.chunks()) throwIfAborted(signal);
      updated += 1;
    }
    return updated;
  }

  private async storedFiles(): Promise<string[]> {
    const base = this.key('');
    const urls = (await this.store_.urls()) ?? [];
    const names = urls.filter((url) => url.startsWith(base)).map((url) => url.slice(base.length).replace(/\?.*$/, ''));
    return names.filter((name) => !name.includes('.peruse-'));
  }

  /** The URL by which a file is stored. */
  private key(file: string): string {
    return this.pin_?.address(file) ?? this.remote_.address(file);
  }

  private version(): string {
    return this.pin_?.commit ?? kImmutable;
  }

  private find(file: string): Promise<StoredFile | undefined> {
    return this.store_.find(this.key(file));
  }

  private isDoubted(file: string): boolean {
    return this.suspects_.isDoubted(file);
  }

  /** Returns the stored file if it may be used now, or what the server says is missing. */
  private async usable(file: string, stored: StoredFile, signal: AbortSignal): Promise<ModelFile | MissingFile | undefined> {
    const { offline, immutable } = this.options_;
    if (offline || (this.troubled_ && !this.isDoubted(file))) return this.fromStore(file, stored, signal);
    if (this.isDoubted(file)) return undefined;
    if (immutable) {
      const isFresh = !stored.missing || Date.now() - stored.storedAt < kMissingFor;
      return isFresh ? this.fromStore(file, stored, signal) : undefined;
    }
    if (stored.missing) return undefined;
    const now = await this.remote_.headers(file, signal);
    if ('refusal' in now) {
      this.trouble(now.refusal);
      return this.fromStore(file, stored, signal);
    }
    if ('found' in now) return this.missing(file, now, stored);
    return isSame(now, stored) ? this.fromStore(file, stored, signal) : undefined;
  }

  /** A file that the server does not have any more. Its copy goes when the load has succeeded. */
  private missing(file: string, remote: MissingRemoteFile, copy: StoredFile): MissingFile {
    if (remote.certain && !copy.missing) this.gone_.add(this.key(file));
    return remote;
  }

  private async fetch(file: string, copy: StoredFile | undefined, signal: AbortSignal): Promise<ModelFile | MissingFile> {
    const before = this.key(file);
    const release = await this.store_.lock(this.remote_.address(file), signal);
    try {
      const meanwhile = await this.store_.find(before);
      if (meanwhile && meanwhile.storedAt !== copy?.storedAt && !this.isDoubted(file)) {
        // Another load fetched the file while this one waited for the lock.
        release();
        return this.fromStore(file, meanwhile, signal);
      }
      const remote = await this.request(file, copy, signal);
      await this.pin_?.check(file, remote, signal).catch(async (error: unknown) => {
        if (remote.found) await remote.close();
        throw error;
      });
      if (!remote.found) {
        const isMissing = !copy || copy.missing;
        if (isMissing && (!this.options_.immutable || remote.certain)) await this.rememberMissing(file, remote);
        release();
        return isMissing ? remote : this.refusedOr(file, remote, copy, signal);
      }
      return this.fetched(file, remote, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** An HTML page or another server's 404 does not say that a file is gone. */
  private refusedOr(file: string, remote: MissingRemoteFile, copy: StoredFile, signal: AbortSignal): ModelFile | MissingFile {
    if (remote.certain) return this.missing(file, remote, copy);
    this.trouble(`${remote.where}: ${remote.why}`);
    return this.fromStore(file, copy, signal);
  }

  private fetched(file: string, remote: RemoteFile, release: () => void): ModelFile {
    const { immutable } = this.options_;
    const url = this.key(file);
    return {
      ...remote,
      version: immutable ? this.version() : remote.version,
      transfers: this.broken_ || !(immutable || remote.etag || remote.lastModified),
      chunks: () => this.storing(file, url, remote, release),
      close: () => remote.close().finally(release),
      inForm: (form) => ({
        chunks: () => releasing(remote, release),
        save: (bytes) => this.savingForm(beside(url, form), { ...remote, size: 0, bytes }),
      }),
    };
  }

  /** Requests a file, or the rest of it if an earlier download has not ended. */
  private async request(file: string, copy: StoredFile | undefined, signal: AbortSignal): Promise<RemoteFile | MissingRemoteFile> {
    const url = this.key(file);
    const begun = copy || this.isDoubted(file) ? undefined : await this.store_.begun(url);
    if (begun) {
      const rest = await this.remote_.openRest(file, begun, signal);
      if (rest) return { ...rest, begun, chunks: () => joining(begun.chunks(), rest.chunks()) };
      await this.store_.removeBegun(url, begun);
    }
    return this.remote_.open(file, signal, undefined, copy !== undefined);
  }

  private async rememberMissing(file: string, remote: MissingRemoteFile): Promise<void> {
    const url = this.key(file);
    this.suspects_.saved(file, url, true);
    await this.store_.saveMissing(url, remote.commit);
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

  private fromStore(file: string, stored: StoredFile, signal: AbortSignal): ModelFile | MissingFile {
    const where = this.remote_.address(file);
    this.suspects_.given(file, stored);
    if (stored.missing) return { found: false, where, why: kKnownMissing };
    const version = this.options_.immutable ? this.version() : versionOf(stored);
    return { found: true, where, size: stored.bytes, version, chunks: () => this.reading(file, stored, signal), close: async () => {} };
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
    const key = this.key(file);
    await this.store_.remove(key);
    const what = `The cached copy of ${url} is damaged (${damage.message}) and was removed`;
    if (this.options_.offline) throw new PeruseError('offline', `${what}; Peruse is offline and can't fetch it again.`);
    const remote = await this.remote_.open(file, signal);
    if (!remote.found) throw new PeruseError('not_found', `${what}; downloading it again failed: ${remote.why}.`);
    if (given > 0 && !(damage.soundSoFar && isSame(remote, stored))) {
      await remote.close();
      throw new PeruseError('truncated_file', `${what}; load the model again to download it.`);
    }
    await this.pin_?.check(file, remote, signal);
    this.options_.notice(`${what}; it was fetched again.`);
    for await (const chunk of this.storing(file, key, remote, () => {})) {
      const known = Math.min(given, chunk.length);
      given -= known;
      if (known < chunk.length) yield chunk.subarray(known);
    }
  }

  private async *storing(file: string, url: string, remote: RemoteFile, release: () => void): AsyncGenerator<Uint8Array> {
    const { begun } = remote;
    const saving = this.broken_ ? undefined : new Storing(this.store_.save(url, remote, begun));
    let stored = begun?.stored ?? 0;
    let whole = false;
    try {
      for await (const chunk of remote.chunks()) {
        yield chunk;
        const known = Math.min(stored, chunk.length);
        stored -= known;
        if (known < chunk.length) await saving?.add(chunk.subarray(known));
      }
      whole = true;
    } finally {
      const why = await saving?.finish(whole);
      if (whole && why === undefined) this.suspects_.saved(file, url, false);
      if (whole && why !== undefined) {
        this.broken_ = true;
        this.options_.notice(`${url} is not cached: ${why}.`);
      }
      release();
    }
  }

  private isRefusal(error: unknown): error is PeruseError {
    return error instanceof PeruseError && ['network', 'unauthorized', 'malformed_file'].includes(error.code) && !this.pin_?.hasMoved;
  }

  /** The server does not answer as it should: from now on, this load uses what is stored. */
  private trouble(why: string): void {
    const { name, notice } = this.options_;
    if (!this.troubled_) notice(`${name} is loaded from the cache: ${why.replace(/\.$/, '')}.`);
    this.troubled_ = true;
  }

  private moved(): boolean {
    if (!this.pin_?.move()) return false;
    this.suspects_.reset();
    return true;
  }

  private doubts(error: PlainError): Promise<boolean> {
    return this.suspects_.doubt(error, async (file, stored) => {
      const now = await this.remote_.headers(file, new AbortController().signal);
      return !('refusal' in now) && ('found' in now || !isSame(now, stored));
    });
  }

  private async settle(): Promise<void> {
    for (const url of this.gone_) await this.store_.remove(url);
    await this.pin_?.settle();
  }
}

const kKnownMissing = 'the server had no such file when it was asked';

async function* joining(first: AsyncIterable<Uint8Array>, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
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
