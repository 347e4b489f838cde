// Requests to a server, repeated while it is too busy or the connection breaks.
import { describeError, onAbort, PeruseError, throwIfAborted } from '../errors.js';
import { Late, patience, within } from '../patience.js';
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
