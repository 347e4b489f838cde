/**
 * An async generator whose return() is heard while it waits: a native one would first finish the pending next(). `start` gets the signal that
 * fires then, on which the generator must end.
 */
export function untilReturned<T>(start: (returned: AbortSignal) => AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const returned = new AbortController();
  const inner = start(returned.signal);
  const end = async () => {
    returned.abort();
    return inner.return(undefined);
  };
  const outer = {
    next: () => inner.next(),
    return: end,
    throw(error: unknown) {
      returned.abort();
      return inner.throw(error);
    },
    [Symbol.asyncIterator]: () => outer,
    ...(Symbol.asyncDispose ? { [Symbol.asyncDispose]: async () => void (await end()) } : {}), // the symbol is missing in older browsers
  };
  return outer as AsyncGenerator<T, void, undefined>;
}
