// A model next to the page, whose files are requested together. The library asks for the weights only after it has read the configuration,
// which costs a round trip.
import type { CustomCache } from '../peruse/peruse.js';
import { type Requested, request } from './bundled.js';

/**
 * The files of the folder, as a cache for the library, which may read a file twice. Undefined if one cannot be fetched; the library then
 * finds out why.
 *
 * @throws what `signal` is aborted with.
 */
export async function earlyFiles(folder: string, signal: AbortSignal): Promise<CustomCache | undefined> {
  const requested = takeOpening(folder) ?? request(folder, signal);
  const whole = Promise.all([...requested].map(async ([address, response]) => [address, await response] as const));
  const responses = await untilAborted(whole, signal).catch(() => undefined);
  signal.throwIfAborted();
  if (!responses?.every(([, { ok }]) => ok)) return undefined;
  const files = new Map(responses);
  return {
    async match(address) {
      const found = files.get(address);
      return found && readable(found.clone(), signal);
    },
    async put() {},
  };
}

/** What opening.ts has requested, for the first load only. */
function takeOpening(folder: string): Requested | undefined {
  const opening = globalThis.peruseOpening;
  globalThis.peruseOpening = undefined;
  return opening?.folder === folder ? opening.requested : undefined;
}

/** The response without the length of a compressed body, which is another than the file's. */
function readable({ body, headers }: Response, signal: AbortSignal): Response {
  signal.addEventListener('abort', () => void body?.cancel().catch(() => {}));
  const length = headers.has('content-encoding') ? null : headers.get('content-length');
  return new Response(body, { headers: length === null ? {} : { 'content-length': length } });
}

async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  return Promise.race([promise, aborted]);
}
