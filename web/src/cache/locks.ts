// One at a time by name: among all tabs and workers of a site where the platform has Web Locks, else within this thread.
import { throwIfAborted } from '../errors.js';

const held = new Map<string, Promise<void>>();

/** Waits for the lock; gives the function that lets go of it. */
export async function lock(name: string, signal: AbortSignal): Promise<() => void> {
  throwIfAborted(signal);
  return (await fromWebLocks(name, signal)) ?? lockHere(name, signal);
}

/** undefined where there are none, or none for this page (a sandboxed frame). */
async function fromWebLocks(name: string, signal: AbortSignal): Promise<(() => void) | undefined> {
  const locks = (globalThis.navigator as Navigator | undefined)?.locks;
  if (locks === undefined) return undefined;
  let release = () => {};
  const released = new Promise<void>((resolve) => { release = resolve; });
  const acquired = new Promise<void>((resolve, reject) => {
    locks.request(name, { signal }, () => {
      resolve();
      return released;
    }).catch(reject);
  });
  try {
    await acquired;
    return release;
  } catch (error) {
    throwIfAborted(signal);
    return undefined;
  }
}

async function lockHere(name: string, signal: AbortSignal): Promise<() => void> {
  for (let busy = held.get(name); busy !== undefined; busy = held.get(name)) {
    await Promise.race([busy, aborted(signal)]);
    throwIfAborted(signal);
  }
  let release = () => {};
  held.set(name, new Promise<void>((resolve) => {
    release = () => {
      held.delete(name);
      resolve();
    };
  }));
  return release;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => { signal.addEventListener('abort', () => resolve(), { once: true }); });
}
