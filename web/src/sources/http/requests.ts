// Requests to a server, repeated while it is too busy or the connection breaks, and what the headers of its answers say about a file.

import type { ServerHeaders } from '../../cache/file_store.js';
import { describeError, onAbort, PeruseError, throwIfAborted } from '../../errors.js';
import { Late, patience, within } from '../../patience.js';
import { type Fetched, FetchFailure, type FetchFile } from './fetching.js';

export interface Answer extends Fetched {
  /** Ends the transfer. */
  stop(): void;
  /** Must be called when the answer is not used any more. */
  done(): void;
}

export class Requests {
  constructor(
    private readonly fetchFile_: FetchFile,
    private readonly token_: string | undefined,
    /** Whether a cache of this library stores the files. */
    private readonly kept_: boolean,
  ) {}

  /** Sends one request. Without an answer throws 'network', for which retriesAfter() returns the number of times to try again. */
  async ask(
    method: 'GET' | 'HEAD',
    url: string,
    signal: AbortSignal,
    more: Record<string, string> = {},
    limit: number = patience.server,
  ): Promise<Answer> {
    const headers = { ...more };
    if (this.token_ !== undefined) headers.Authorization = `Bearer ${this.token_}`;
    const stop = new AbortController();
    const unfollow = onAbort(signal, () => stop.abort(signal.reason));
    const cache = this.kept_ || method === 'HEAD' ? 'no-store' : 'default';
    try {
      const fetched = await within(limit, this.fetchFile_(url, { method, headers, signal: stop.signal, cache }));
      return { ...fetched, stop: () => stop.abort(), done: unfollow };
    } catch (error) {
      stop.abort();
      unfollow();
      throwIfAborted(signal);
      if (error instanceof Late) throw new PeruseError('network', `${url}: the server did not answer within ${seconds(limit)}.`);
      const { retries, cause } = error instanceof FetchFailure ? error : { retries: 0, cause: error };
      const thrown = new PeruseError('network', `${url} could not be reached: ${describeError(error)}.`, { cause: cause ?? error });
      kRetries.set(thrown, retries);
      throw thrown;
    }
  }

  /** Repeats a GET while the server is too busy or the connection breaks, after its Retry-After or growing delays. */
  async askPatiently(url: string, signal: AbortSignal, more: Record<string, string> = {}): Promise<Answer> {
    for (let attempt = 0; ; ++attempt) {
      const wait = patience.retries[attempt];
      let pause = wait;
      try {
        const answer = await this.ask('GET', url, signal, more);
        const asked = retryAfter(answer.response);
        if (!mayPass(answer.response) || wait === undefined || (asked ?? 0) > patience.retryAfter) return answer;
        await drop(answer);
        pause = asked ?? wait;
      } catch (error) {
        if (wait === undefined || attempt >= retriesAfter(error)) throw error;
      }
      await sleep(pause!, signal);
    }
  }
}

export async function drop(answer: Answer): Promise<void> {
  await answer.response.body?.cancel().catch(() => {});
  answer.done();
}

const kRetries = new WeakMap<object, number>();

/** How often to repeat a request that failed with this error. */
export function retriesAfter(error: unknown): number {
  return kRetries.get(error as object) ?? 0;
}

/** Whether the status is one that a later request may not get. */
export function mayPass({ status }: Response): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** The wait in milliseconds that a server requests. */
export function retryAfter({ headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const wait = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

export function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}

export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      unfollow();
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    const unfollow = onAbort(signal, wake);
  });
  throwIfAborted(signal);
}

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
