// Headers of entries in a cache.
import type { CustomCache } from '../env.js';
import type { BlockStream } from './block_stream.js';

export interface ServerHeaders {
  etag?: string | undefined;
  lastModified?: string | undefined;
  /** Commit of the hub's repository. */
  commit?: string | undefined;
  /** Announced length, which may be that of a compressed body; 0 if unknown. */
  size: number;
  /** Real length; 0 if unknown. */
  bytes: number;
}

/** A cache that can also prevent parallel downloads of one file. */
export interface LockingCache extends CustomCache {
  lock?(url: string, signal: AbortSignal): Promise<() => void>;
  /** Removes files without an entry if their last change was more than `unusedFor` milliseconds ago. */
  tidy?(unusedFor: number): Promise<void>;
}

export interface Saving {
  stream: Pick<BlockStream, 'write' | 'end' | 'fail'>;
  /** Resolves when the file is stored; rejects if storing fails. */
  saved: Promise<void>;
}

export const kStoredAt = 'x-peruse-stored-at';
export const kForm = 'x-peruse-form';
/** An entry with the file's blocks. */
export const kBlocks = 'sealed-blocks';
const kSize = 'x-peruse-announced';
const kCommit = 'x-peruse-commit';

/** Headers of an entry of this form that is stored now. */
export function headersOf(form: string, { size, etag, lastModified, commit }: Omit<ServerHeaders, 'bytes'>): Headers {
  const headers = new Headers({
    [kStoredAt]: String(Date.now()),
    [kForm]: form,
    'content-type': 'application/octet-stream',
  });
  if (size > 0) headers.set(kSize, String(size));
  if (etag !== undefined) headers.set('etag', etag);
  if (lastModified !== undefined) headers.set('last-modified', lastModified);
  if (commit !== undefined) headers.set(kCommit, commit);
  return headers;
}

export function readEntry({ headers }: Response): Omit<ServerHeaders, 'bytes'> & { storedAt: number } {
  return {
    size: Number(headers.get(kSize)) || 0,
    storedAt: Number(headers.get(kStoredAt)),
    etag: headers.get('etag') ?? undefined,
    lastModified: headers.get('last-modified') ?? undefined,
    commit: headers.get(kCommit) ?? undefined,
  };
}

/** Name and version of a file, which are part of its blocks' seals. */
export function nameOf(url: string, { etag, lastModified }: Pick<ServerHeaders, 'etag' | 'lastModified'>): string {
  return JSON.stringify([url, etag ?? lastModified ?? '']);
}

/** The URL of an entry that belongs to a file's. */
export function beside(url: string, suffix: string): string {
  const { href, search } = new URL(url);
  return `${href.slice(0, href.length - search.length)}.peruse-${suffix}${search}`;
}
