// The interface of a caller's own cache: env.cache.

/**
 * A store for model files: the part of the web's `Cache` that Peruse uses, so a `Cache` is one. Addresses are the keys. `match` must return
 * what `put` received, including headers; a body that fails must not be stored.
 */
export interface CustomCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  /** Like `keys`, only needed by {@link modelCache}. */
  delete?(url: string): Promise<boolean>;
  keys?(): Promise<readonly (string | { url: string })[]>;
}
