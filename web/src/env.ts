// Settings for the whole library.

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

/** Settings for the whole library; a pipeline takes what holds when it is called. */
export interface Env {
  /** The hub that ids like 'user/model' are looked up in. */
  remoteHost: string;
  /** A folder (in Node a path, in a page a URL) in which a hub id is looked for first, as `<folder>/user/model/`. */
  localModelPath: string | undefined;
  /** For models that their owners share with some people only. Sent to `remoteHost` and to nobody else. */
  token: string | undefined;
  /** Ask no server for anything: what is not stored fails with 'offline'. */
  offline: boolean;
  /** Keep fetched model files (true), or not (false), or in a place of your own. */
  cache: boolean | CustomCache;
  /** In Node: the folder for them. Default: `peruse/models` in $XDG_CACHE_HOME or ~/.cache. */
  cacheFolder: string | undefined;
  /** URL of a folder that holds the engine's builds, instead of the package's own. */
  wasmPath: string | URL | undefined;
  /** Threads to work with, 1 to 16. */
  threads: number | 'auto';
  /**
   * Told in sentences what loading decided: the build and why, the head and its tensors, tensors of the checkpoint that nothing
   * needs. For example `console.debug`. Default: nobody is told; `info` of a pipeline has the same as data.
   */
  debug: ((message: string) => void) | undefined;
}

/** Settings for the whole library: set them before you load. */
export const env: Env = {
  remoteHost: 'https://huggingface.co/',
  localModelPath: undefined,
  token: undefined,
  offline: false,
  cache: true,
  cacheFolder: undefined,
  wasmPath: undefined,
  threads: 'auto',
  debug: undefined,
};
