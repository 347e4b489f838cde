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
  /** Removes the entries with such URLs and returns the number of files among them. */
  removeWhere(goes: (url: URL) => boolean): Promise<number>;
  clear(): Promise<number>;
}
