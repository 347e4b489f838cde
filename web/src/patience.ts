// Time limits: no wait for a server, a cache or a lock is endless.

/** Limits in milliseconds. Tests shorten them. */
export const patience = {
  /** Limit for the first or next byte from a server. */
  server: 60_000,
  /** Limit for a server to answer whether a file that is stored here has changed. */
  check: 10_000,
  /** Limit for a cache to say whether it has a file. A cache that does not answer is not used for a minute. */
  cacheAnswer: 2000,
  /** Limit for a cache to read or write its next bytes. */
  cache: 10_000,
  /** Limit for another load of the same file to release its lock. */
  lock: 300_000,
  /** Delays before repeated requests to a server that is too busy, or if the connection broke. */
  retries: [500, 2000, 8000],
  /** Longest accepted Retry-After of a server; a longer one fails. */
  retryAfter: 60_000,
  /** Limit for a GPU device that the caller requires, and for one that `device: 'auto'` would compare with the CPU. */
  gpu: 20_000,
  gpuOfChoice: 2000,
  /** Time between two looks whether a worker that does not answer still exists. */
  signOfLife: 1000,
  /** Limit for a browser to start a worker's threads. */
  threads: 5000,
  /** Limit for a worker in a browser to end by itself. */
  ending: 30_000,
  /** Time for which an idle worker in Node waits for the next load before it ends. */
  worker: 10_000,
  /** Limit for a worker in Node to end its last work; usually ten milliseconds. */
  lettingGo: 5000,
  /** Limit for a GPU's driver in Node to compile pipelines that no call waits for. The process stays that long. */
  compiling: 300_000,
};

/** Thrown by `within` after the time limit. */
export class Late extends Error {}

/** Returns the promise's result, or throws Late after the time limit. A result that arrives later is dropped. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    // Two timeouts: if this thread was busy, messages that arrived meanwhile are handled between them.
    timer = setTimeout(() => {
      timer = setTimeout(() => reject(new Late()), milliseconds / 10);
    }, milliseconds * 0.9);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    promise.catch(() => {});
  }
}

/** Returns the promise's result, or undefined after the time limit. */
export async function resultWithin<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  return within(milliseconds, promise).catch((error: unknown) => {
    if (error instanceof Late) return undefined;
    throw error;
  });
}
