/**
 * A store for model files, keyed by address: the part of the web's `Cache` that Peruse uses, so a `Cache` is one. `match` must return what
 * `put` received, including headers. `put` must not store a body that fails.
 */
export interface CustomCache {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  /** Like `keys`, required only by {@link modelCache}. */
  delete?(url: string): Promise<boolean>;
  keys?(): Promise<readonly (string | { url: string })[]>;
}
