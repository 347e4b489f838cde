// How files are fetched, where platforms differ.

/** A response, and what redirects on the way to it said. */
export interface Fetched {
  response: Response;
  /** The hub names a large file's hash on the first redirect, which only Node can see. */
  linkedEtag?: string | undefined;
}

export type FetchFile = (url: string, init: {
  method: 'GET' | 'HEAD';
  headers: Record<string, string>;
  signal: AbortSignal;
  /** 'no-store': what Peruse keeps itself need not lie in the browser's own cache as well. */
  cache: 'default' | 'no-store';
}) => Promise<Fetched>;

/**
 * A browser follows redirects by itself; by the Fetch standard it drops Authorization when one leads to another origin.
 */
export const fetchInBrowser: FetchFile = async (url, init) => {
  const response = await fetch(url, init);
  return { response, linkedEtag: response.headers.get('x-linked-etag') ?? undefined };
};

/** Hashes bytes as they come. */
export interface Hasher {
  update(bytes: Uint8Array): void;
  hex(): string;
}
