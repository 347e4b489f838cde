// Stored files over anything that behaves like the web's Cache: what is kept beside a body, and how it is checked.
import type { CustomCache } from '../env.js';
import { describe, PeruseError } from '../errors.js';
import { lock } from './locks.js';

/** Changes with the form of what is stored; what other versions stored is not read. */
export const kStoreVersion = 1;

export interface StoredFile {
  /** The server had no such file. */
  missing: boolean;
  /** Its length in bytes; 0 if the server had not said it. */
  size: number;
  etag?: string;
  lastModified?: string;
  /** Milliseconds since 1970. */
  storedAt: number;
  chunks(): AsyncGenerator<Uint8Array>;
}

/** A cache that knows how to keep others from fetching the same file. */
export interface LockingCache extends CustomCache {
  lock?(url: string, signal: AbortSignal): Promise<() => void>;
}

const kStoredAt = 'x-peruse-stored-at';
const kChunkBytes = 1 << 20;

export class FileStore {
  constructor(private readonly cache_: LockingCache) {}

  /** Waits until nobody else fetches the file; gives the function that lets the next one. */
  async lock(url: string, signal: AbortSignal): Promise<() => void> {
    return this.cache_.lock?.(url, signal) ?? lock(`peruse ${url}`, signal);
  }

  /** What is stored under the address. A cache that can't be read holds nothing. */
  async find(url: string): Promise<StoredFile | undefined> {
    const response = await this.cache_.match(url).catch(() => undefined);
    if (response === undefined) return undefined;
    const { headers, status } = response;
    const size = Number(headers.get('content-length')) || 0;
    const storedAt = Number(headers.get(kStoredAt));
    return {
      missing: status === 404, size, storedAt,
      etag: headers.get('etag') ?? undefined,
      lastModified: headers.get('last-modified') ?? undefined,
      chunks: () => this.read(url, response, size),
    };
  }

  async save(
    url: string, { size, etag, lastModified }: { size: number; etag?: string; lastModified?: string }, body: ReadableStream<Uint8Array>,
  ): Promise<void> {
    const headers = new Headers({ [kStoredAt]: String(Date.now()), 'content-type': 'application/octet-stream' });
    if (size > 0) headers.set('content-length', String(size));
    if (etag !== undefined) headers.set('etag', etag);
    if (lastModified !== undefined) headers.set('last-modified', lastModified);
    try {
      await this.cache_.put(url, new Response(body, { headers }));
    } catch (error) {
      await this.remove(url);
      throw error;
    }
  }

  /** Remembers that the server has no such file. */
  async saveMissing(url: string): Promise<void> {
    await this.cache_.put(url, new Response(null, { status: 404, headers: { [kStoredAt]: String(Date.now()) } })).catch(() => {});
  }

  async remove(url: string): Promise<boolean> {
    return (await this.cache_.delete?.(url).catch(() => false)) ?? false;
  }

  private async *read(url: string, response: Response, size: number): AsyncGenerator<Uint8Array> {
    const reader = response.body?.getReader();
    let loaded = 0;
    try {
      while (reader) {
        const { done, value } = await reader.read();
        if (done) break;
        loaded += value.length;
        for (let at = 0; at < value.length; at += kChunkBytes) yield value.subarray(at, at + kChunkBytes);
      }
    } catch (error) {
      await this.remove(url);
      throw new PeruseError('truncated_file', `What was stored of ${url} can't be read (${describe(error)}) and was removed; load again to fetch it anew.`, { cause: error });
    } finally {
      await reader?.cancel().catch(() => {});
    }
    if (size > 0 && loaded !== size) {
      await this.remove(url);
      throw new PeruseError('truncated_file', `What was stored of ${url} had ${loaded} bytes instead of ${size} and was removed; load again to fetch it anew.`);
    }
  }
}
