// Headers of entries in a cache.
import type { ServerHeaders } from './store_types.js';

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
