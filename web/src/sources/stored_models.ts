/** A file in the cache. */
export interface CachedFile {
  url: string;
  /** Size in bytes; 0 if the server did not report it. */
  bytes: number;
  storedAt: Date;
}

/** An open cache, for modelCache. */
export interface StoredModels {
  list(): Promise<CachedFile[]>;
  /** Removes the files of a folder and returns their number. `base` may be the folder of all revisions of a hub id. */
  remove(base: URL): Promise<number>;
  clear(): Promise<number>;
}
