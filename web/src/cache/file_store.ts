// Stores files in any object with the web's Cache interface, with metadata and integrity checks.
import type { CustomCache } from '../env.js';
import { describeError } from '../errors.js';
import { Late, patience, within } from '../patience.js';
import { BlockStream } from './block_stream.js';
import { contentBytes, sealedBytes, unseal } from './blocks.js';
import { lock } from './locks.js';

/** Version of the storage format. Entries of other versions are ignored. */
export const kStoreVersion = 3;

export interface ServerHeaders {
  etag?: string;
  lastModified?: string;
  /** Announced length, which may be that of a compressed body; 0 if unknown. */
  size: number;
  /** Real length; 0 if unknown. */
  bytes: number;
}

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

/** A cache that can also prevent parallel downloads of one file. */
export interface LockingCache extends CustomCache {
  lock?(url: string, signal: AbortSignal): Promise<() => void>;
  /** Removes files without an entry if their last change was more than `unusedFor` milliseconds ago. */
  tidy?(unusedFor: number): Promise<void>;
}

const kStoredAt = 'x-peruse-stored-at';
const kForm = 'x-peruse-form';
const kBlocks = 'sealed-blocks';
const kSize = 'x-peruse-announced';
const kChunkBytes = 1 << 20;
const kNoAnswer = 'the cache does not answer';

export interface Saving {
  stream: BlockStream;
  /** Resolves when the file is stored; rejects if storing fails. */
  saved: Promise<void>;
}

export class FileStore {
  private dead_ = false; // timed out once, and is not used again

  constructor(
    private readonly cache_: LockingCache,
    private readonly onFault_: (why: string) => void = () => {},
  ) {}

  async lock(url: string, signal: AbortSignal): Promise<() => void> {
    return this.cache_.lock?.(url, signal) ?? lock(`peruse ${url}`, signal);
  }

  /** Returns the stored file. An unreadable cache counts as empty. */
  async find(url: string): Promise<StoredFile | undefined> {
    const response = await this.ask(async () => this.cache_.match(url));
    if (response === undefined) return undefined;
    if (!(response instanceof Response)) {
      this.onFault_('its match() did not return a Response');
      return undefined;
    }
    const { headers, status } = response;
    const length = Number(headers.get('content-length')) || 0;
    const inBlocks = headers.get(kForm) === kBlocks;
    const isPlain = !headers.has(kForm) && !headers.has(kStoredAt); // written to the caller's cache by other code
    if (status !== 404 && !inBlocks && !isPlain) return undefined;
    const etag = headers.get('etag') ?? undefined;
    const lastModified = headers.get('last-modified') ?? undefined;
    return {
      missing: status === 404,
      bytes: inBlocks ? contentBytes(length) : length,
      size: Number(headers.get(kSize)) || 0,
      storedAt: Number(headers.get(kStoredAt)),
      etag,
      lastModified,
      chunks: () => (inBlocks ? readBlocks(response, nameOf(url, { etag, lastModified })) : readPlain(response, length)),
    };
  }

  save(url: string, { size, bytes, etag, lastModified }: ServerHeaders): Saving {
    const headers = new Headers({
      [kStoredAt]: String(Date.now()),
      [kForm]: kBlocks,
      'content-type': 'application/octet-stream',
    });
    if (size > 0) headers.set(kSize, String(size));
    if (bytes > 0) headers.set('content-length', String(sealedBytes(bytes)));
    if (etag !== undefined) headers.set('etag', etag);
    if (lastModified !== undefined) headers.set('last-modified', lastModified);
    const stream = new BlockStream(nameOf(url, { etag, lastModified }));
    const put = async () => {
      if (this.dead_) throw new Error(kNoAnswer);
      await this.cache_.put(url, new Response(stream.readable, { headers }));
    };
    return { stream, saved: put() };
  }

  async saveMissing(url: string): Promise<void> {
    const headers = { [kStoredAt]: String(Date.now()) };
    await this.ask(async () => this.cache_.put(url, new Response(null, { status: 404, headers })));
  }

  async remove(url: string): Promise<boolean> {
    return (await this.ask(async () => this.cache_.delete?.(url))) ?? false;
  }

  private async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    if (this.dead_) return undefined;
    try {
      return await within(patience.cache, question());
    } catch (error) {
      this.dead_ = error instanceof Late;
      this.onFault_(this.dead_ ? kNoAnswer : describeError(error));
      return undefined;
    }
  }
}

/** Name and version of a file, which are part of its blocks' seals. */
function nameOf(url: string, { etag, lastModified }: Pick<ServerHeaders, 'etag' | 'lastModified'>): string {
  return JSON.stringify([url, etag ?? lastModified ?? '']);
}

async function* readBlocks(response: Response, file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* unseal(pieces(response), file);
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
