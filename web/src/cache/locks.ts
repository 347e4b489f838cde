// Named locks: for all tabs and workers of a site by Web Locks, or otherwise for this thread.
import { onAbort, throwIfAborted } from '../errors.js';
import { patience } from '../patience.js';

const held = new Map<string, Promise<void>>();

/** Waits for the lock. Returns a function that releases it. After a time limit, continues without the lock. */
export async function lock(name: string, signal: AbortSignal): Promise<() => void> {
  throwIfAborted(signal);
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  const timer = setTimeout(stop, patience.lock);
  const unfollow = onAbort(signal, stop);
  try {
    return (await fromWebLocks(name, waiting.signal)) ?? (await lockHere(name, waiting.signal));
  } catch {
    throwIfAborted(signal);
    return () => {};
  } finally {
    clearTimeout(timer);
    unfollow();
  }
}

/** Returns undefined if Web Locks are unavailable or forbidden (in a sandboxed frame). */
async function fromWebLocks(name: string, signal: AbortSignal): Promise<(() => void) | undefined> {
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  if (locks === undefined) return undefined;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const acquired = new Promise<void>((resolve, reject) => {
    locks
      .request(name, { signal }, () => {
        resolve();
        return released;
      })
      .catch(reject);
  });
  try {
    await acquired;
    return release;
  } catch {
    throwIfAborted(signal);
    return undefined;
  }
}

async function lockHere(name: string, signal: AbortSignal): Promise<() => void> {
  for (let busy = held.get(name); busy !== undefined; busy = held.get(name)) {
    await Promise.race([busy, aborted(signal)]);
    throwIfAborted(signal);
  }
  let resolve = () => {};
  const mine = new Promise<void>((done) => {
    resolve = done;
  });
  held.set(name, mine);
  return () => {
    if (held.get(name) === mine) held.delete(name); // calling this twice must not release the lock of a later holder
    resolve();
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
