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
