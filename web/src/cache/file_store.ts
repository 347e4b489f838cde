// Stores files in any object with the web's Cache interface, with metadata and integrity checks.
import type { CustomCache } from '../env.js';
import { describeError } from '../errors.js';
import { Late, patience, within } from '../patience.js';
import { BlockStream } from './block_stream.js';
import { contentBytes, sealedBytes, unseal } from './blocks.js';
import {
  beside,
  headersOf,
  kBlocks,
  kForm,
  kStoredAt,
  type LockingCache,
  nameOf,
  readEntry,
  type Saving,
  type ServerHeaders,
} from './entry.js';
import { lock } from './locks.js';
import {
  type BegunFile,
  begunUrl,
  findBegun,
  kLeastParted,
  kParted,
  PartedSaving,
  partedBytes,
  partsOf,
  readParts,
  urlsOfParts,
} from './parts.js';

export type { LockingCache, Saving, ServerHeaders } from './entry.js';

/** Version of the storage format. Entries of other versions are ignored. */
export const kStoreVersion = 3;

export interface StoredFile extends ServerHeaders {
  missing: boolean;
  /** Milliseconds since 1970. */
  storedAt: number;
  chunks(): AsyncGenerator<Uint8Array>;
}

/** Stored bytes have changed. The message says how. */
export class DamagedEntry extends Error {
  constructor(
    message: string,
    /** Whether all bytes before the damage are valid. */
    readonly soundSoFar: boolean,
  ) {
    super(message);
  }
}

const kPointer = 'commit';

/** Whether an entry is not a file, but belongs to one or to a folder. */
export function isPartOfFile(url: string): boolean {
  return /\.peruse-(commit|begun|part-\w+-\d+)(\?|$)/.test(url);
}

/** The folder of a branch or tag, if the URL is of the entry that names its commit. */
export function folderOfPointer(url: string): string | undefined {
  const base = url.replace(/\.peruse-commit(?=\?|$)/, '');
  return base === url ? undefined : base;
}

const kChunkBytes = 1 << 20;
const kNoAnswer = 'the cache does not answer';

/** When caches last did not answer, in milliseconds since 1970. They are not used for a while. */
const kDead = new WeakMap<CustomCache, number>();
const kDeadFor = 60_000;

export class FileStore {
  constructor(
    private readonly cache_: LockingCache,
    private readonly onFault_: (why: string) => void = () => {},
  ) {}

  async lock(url: string, signal: AbortSignal): Promise<() => void> {
    if (this.isDead()) return () => {};
    return this.cache_.lock?.(url, signal) ?? lock(`peruse ${url}`, signal);
  }

  /** Returns the stored file. An unreadable cache counts as empty. */
  async find(url: string): Promise<StoredFile | undefined> {
    const response = await this.match(url);
    if (response === undefined) return undefined;
    const { headers, status } = response;
    const form = headers.get(kForm);
    const entry = readEntry(response);
    if (status === 404) return { ...entry, missing: true, bytes: 0, chunks: nothing };
    if (form === kParted) {
      const parts = partsOf(response);
      if (parts === undefined) return undefined;
      const match = (part: string) => this.match(part);
      const chunks = () => damageIn(readParts(url, entry, parts, match, (part, name) => unseal(pieces(part), name)));
      return { ...entry, missing: false, bytes: partedBytes(response), chunks };
    }
    const isPlain = form === null && !headers.has(kStoredAt); // written to the caller's cache by other code
    if (form !== kBlocks && !isPlain) return undefined;
    const length = Number(headers.get('content-length')) || 0;
    return {
      ...entry,
      missing: false,
      bytes: isPlain ? length : contentBytes(length),
      chunks: () => (isPlain ? readPlain(response, length) : damageIn(unseal(pieces(response), nameOf(url, entry)))),
    };
  }

  /** Returns what is stored of a download that has not ended. */
  async begun(url: string): Promise<(BegunFile & { chunks(): AsyncGenerator<Uint8Array> }) | undefined> {
    const match = (part: string) => this.match(part);
    const begun = await findBegun(url, match);
    return (
      begun && {
        ...begun,
        chunks: () => damageIn(readParts(url, begun, begun.parts, match, (part, name) => unseal(pieces(part), name))),
      }
    );
  }

  /** Stores a file. `begun` is what is stored of it already. */
  save(url: string, file: ServerHeaders, begun?: BegunFile): Saving {
    if (this.isDead()) return { stream: new BlockStream(''), saved: Promise.reject(new Error(kNoAnswer)) };
    const isNamed = (file.etag ?? file.lastModified) !== undefined;
    if (file.size >= kLeastParted && isNamed) {
      const before = this.partsAt(url);
      return new PartedSaving(this.cache_, url, file, begun, async ({ id }) => {
        await this.removeEntry(begunUrl(url));
        for (const part of (await before).filter((one) => !one.includes(`.peruse-part-${id}-`))) await this.removeEntry(part);
      });
    }
    const headers = headersOf(kBlocks, file);
    if (file.bytes > 0) headers.set('content-length', String(sealedBytes(file.bytes)));
    const stream = new BlockStream(nameOf(url, file));
    const before = this.partsAt(url);
    const put = async () => {
      await this.cache_.put(url, new Response(stream.readable, { headers }));
      for (const part of await before) await this.removeEntry(part);
    };
    return { stream, saved: put() };
  }

  async saveMissing(url: string, commit?: string): Promise<void> {
    const headers = headersOf('missing', { size: 0, commit });
    await this.ask(async () => this.cache_.put(url, new Response(null, { status: 404, headers })));
  }

  /** Removes a file and its parts. */
  async remove(url: string): Promise<boolean> {
    const parts = await this.partsAt(url);
    const removed = await this.removeEntry(url);
    for (const part of parts) await this.removeEntry(part);
    return removed;
  }

  /** Removes what is stored of a download that has not ended. */
  async removeBegun(url: string, { parts }: BegunFile): Promise<void> {
    await this.removeEntry(begunUrl(url));
    for (const part of urlsOfParts(url, parts)) await this.removeEntry(part);
  }

  /** The commit of which the files of a branch or tag are stored. `base` is the URL of its folder. */
  async commitOf(base: string): Promise<string | undefined> {
    const found = await this.match(beside(base, kPointer));
    return found && readEntry(found).commit;
  }

  async saveCommit(base: string, commit: string): Promise<void> {
    const headers = headersOf(kPointer, { size: 0, commit });
    await this.ask(async () => this.cache_.put(beside(base, kPointer), new Response('', { headers })));
  }

  async removeCommitName(base: string): Promise<void> {
    await this.removeEntry(beside(base, kPointer));
  }

  /** The URLs of all entries; undefined if the cache cannot list or remove them. */
  async urls(): Promise<string[] | undefined> {
    if (!this.cache_.keys || !this.cache_.delete) return undefined;
    const keys = await this.ask(async () => this.cache_.keys!());
    return keys?.map((key) => (typeof key === 'string' ? key : key.url));
  }

  private async partsAt(url: string): Promise<string[]> {
    const old = await this.match(url);
    const parts = old?.headers.get(kForm) === kParted ? partsOf(old) : undefined;
    void old?.body?.cancel().catch(() => {});
    return parts ? urlsOfParts(url, parts) : [];
  }

  private async removeEntry(url: string): Promise<boolean> {
    return (await this.ask(async () => this.cache_.delete?.(url))) ?? false;
  }

  private async match(url: string): Promise<Response | undefined> {
    const response = await this.ask(async () => this.cache_.match(url));
    if (response === undefined || response instanceof Response) return response;
    this.onFault_('its match() did not return a Response');
    return undefined;
  }

  private isDead(): boolean {
    return Date.now() - (kDead.get(this.cache_) ?? -Infinity) < kDeadFor;
  }

  private async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    if (this.isDead()) {
      this.onFault_(kNoAnswer);
      return undefined;
    }
    try {
      return await within(patience.cacheAnswer, question());
    } catch (error) {
      if (error instanceof Late) kDead.set(this.cache_, Date.now());
      this.onFault_(error instanceof Late ? kNoAnswer : describeError(error));
      return undefined;
    }
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* damageIn(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* blocks;
  } catch (error) {
    throw new DamagedEntry(error instanceof Late ? 'it could not be read on' : describeError(error), true);
  }
}

/** Reads an entry of a caller's cache that Peruse did not write. */
async function* readPlain(response: Response, size: number): AsyncGenerator<Uint8Array> {
  let loaded = 0;
  try {
    for await (const piece of pieces(response)) {
      loaded += piece.length;
      for (let at = 0; at < piece.length; at += kChunkBytes) yield piece.subarray(at, at + kChunkBytes);
    }
  } catch (error) {
    throw new DamagedEntry(error instanceof Late ? 'it could not be read on' : describeError(error), loaded === 0);
  }
  if (size > 0 && loaded !== size) throw new DamagedEntry(`it had ${loaded} bytes instead of ${size}`, loaded === 0);
}

async function* pieces(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  try {
    while (reader) {
      const { done, value } = await within(patience.cache, reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    reader?.cancel().catch(() => {});
  }
}
