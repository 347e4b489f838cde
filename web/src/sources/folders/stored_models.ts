/** A file in the cache. */
export interface CachedFile {
  url: string;
  /** Size in bytes; 0 if the server did not report it. */
  bytes: number;
  storedAt: Date;
}

/** Whether a stored model is what its server has now. */
export interface CheckedModel {
  /** The commit of which files are stored; undefined if none are, or if the server does not name commits. */
  stored: string | undefined;
  /** The commit that the server has. */
  latest: string | undefined;
  /** Whether the stored files are those of the server. */
  isCurrent: boolean;
  /** Number of files that were downloaded (`update`). */
  updated: number;
}

/** What `modelCache.verify()` found. */
export interface VerifiedCache {
  /** Number of files that were read. */
  files: number;
  /** Their size. */
  bytes: number;
  /** Files whose bytes are not those that were stored. */
  damaged: { url: string; reason: string }[];
  /** Number of damaged files that were removed (`repair`). */
  removed: number;
}

/** An open cache, for modelCache. */
export interface StoredModels {
  list(): Promise<CachedFile[]>;
  /** Removes the files of a folder and returns their number. `base` may be the folder of all revisions of a hub id. */
  remove(base: URL): Promise<number>;
  clear(): Promise<number>;
  verify(repair: boolean): Promise<VerifiedCache>;
}
