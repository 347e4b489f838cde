// What the headers of an answer say about a file.
import type { ServerHeaders } from '../cache/file_store.js';
import type { Fetched } from './fetching.js';

/** A value that changes with the file's content. */
export function versionOf({ etag, lastModified }: Pick<ServerHeaders, 'etag' | 'lastModified'>): string | undefined {
  return withoutWeak(etag) ?? lastModified;
}

/** Servers that compress the body make their tags weak. */
export function withoutWeak(etag: string | undefined): string | undefined {
  return etag?.replace(/^W\//, '');
}

/** Compares tags, or else date and length. Without these, the file counts as changed. */
export function isSame(now: ServerHeaders, before: ServerHeaders): boolean {
  if (now.etag !== undefined || before.etag !== undefined) return withoutWeak(now.etag) === withoutWeak(before.etag);
  if (now.lastModified === undefined || now.lastModified !== before.lastModified) return false;
  // A length that is unknown, as that of another form, is not compared.
  return now.size === 0 || before.size === 0 || now.size === before.size;
}

export function readHeaders({ response, hidden, commit }: Fetched): ServerHeaders {
  const size = wholeLength(response);
  return {
    size,
    bytes: hidden ? 0 : size,
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
    commit,
  };
}

/** The range of an answer with status 206. `total` is undefined if the server does not know it. */
export function rangeOf(response: Response): { start: number; total: number | undefined } | undefined {
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  if (start === undefined) return undefined;
  return { start: Number(start), total: total === '*' ? undefined : Number(total) };
}

/** Whether a server says that it compressed the body, whose positions are then others. */
export function isEncoded({ headers }: Response): boolean {
  const encoding = headers.get('content-encoding');
  return encoding !== null && encoding !== '' && encoding !== 'identity';
}

/** Length of the whole file; 0 if the server does not send it or sends the compressed length. */
function wholeLength(response: Response): number {
  if (isEncoded(response)) return 0;
  const total = response.status === 206 ? rangeOf(response)?.total : undefined;
  const length = total ?? Number(response.headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}
