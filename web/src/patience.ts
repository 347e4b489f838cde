// How long Peruse waits for others. No wait on a server, a cache or a lock is without end.

/** All in milliseconds. Tests shorten them. */
export const patience = {
  /** For a server's first byte, or its next. */
  server: 60_000,
  /** For a cache to answer, and to take or give its next bytes. */
  cache: 10_000,
  /** For another load of the same file, which holds its lock. */
  lock: 300_000,
  /** Before each further attempt at a server that is too busy. */
  retries: [500, 2000, 8000],
  /** A server that wants to be left alone for longer than this (Retry-After) is not waited for. */
  retryAfter: 60_000,
  /** For a browser to start the threads of a worker. */
  threads: 5000,
  /** For a worker in a browser to end by itself. */
  ending: 30_000,
  /** In Node, how long an idle worker waits for the next load. */
  worker: 10_000,
  /** In Node, how long a worker may take to end its last work. An idle one takes about ten. */
  lettingGo: 5000,
};

/** Says that something took longer than it may. */
export class Late extends Error {}

/** Returns the promise's result, or throws Late after the time limit; a later result is dropped. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    // In two parts: where this thread itself was busy, what came meanwhile is heard between them.
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
