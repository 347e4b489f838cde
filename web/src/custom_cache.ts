// A cache of the caller's own: env.cache.

/**
 * Where model files are kept: the part of the web's `Cache` that Peruse uses, so a `Cache` is one. Addresses are the keys. What
 * `put` is given must come out of `match` whole, headers included; a body that fails must not be kept.
 */
export interface CustomCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  /** Needed by {@link modelCache} only, like `keys`. */
  delete?(url: string): Promise<boolean>;
  keys?(): Promise<readonly (string | { url: string })[]>;
}
