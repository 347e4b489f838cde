// How files are fetched, where platforms differ.
import { describe, onAbort } from '../errors.js';

/** A response, and what redirects on the way to it said. */
export interface Fetched {
  response: Response;
  /** The hub names a large file's hash on the first redirect, which only Node can see. */
  linkedEtag?: string | undefined;
  /** Not all headers are shown (CORS): that the body was compressed on the way may be hidden, and then its length is another. */
  hidden?: boolean;
}

export type FetchFile = (
  url: string,
  init: {
    method: 'GET' | 'HEAD';
    headers: Record<string, string>;
    signal: AbortSignal;
    /** 'no-store' avoids a second copy in the browser's own cache. */
    cache: 'default' | 'no-store';
  },
) => Promise<Fetched>;

/**
 * A browser follows redirects by itself; by the Fetch standard it drops Authorization when one leads to another origin.
 */
export const fetchInBrowser: FetchFile = async (url, init) => {
  const { cache, ...rest } = init;
  // 'default' goes without saying, and Cloudflare's workers refuse the word.
  const response = await fetchAnywhere(url, cache === 'default' ? rest : init).catch((error: unknown) => {
    throw init.signal.aborted ? error : new Error(`${describe(error)}${whatItMayBe(url)}`);
  });
  return { response, linkedEtag: response.headers.get('x-linked-etag') ?? undefined, hidden: response.type === 'cors' };
};

/** A browser tells a page nothing of why it fetched nothing. */
function whatItMayBe(url: string): string {
  const here = globalThis.location as Location | undefined;
  if (here === undefined || new URL(url).origin === here.origin) return '';
  return (
    `. A browser does not say why. Either ${new URL(url).origin} is down or does not exist, or it does not allow this page by CORS ` +
    "(its Access-Control-Allow-Origin), or this page's content security policy does not name it in connect-src"
  );
}

/**
 * fetch(), and for schemes that are not the web's XMLHttpRequest, which may read what fetch may not (file:, those of apps in a web
 * view). It does not tell a file that is not there from one that may not be read.
 */
export async function fetchAnywhere(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (/^https?:/.test(url) || init.signal?.aborted || typeof XMLHttpRequest !== 'function') throw error;
    return new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.responseType = 'arraybuffer';
      request.onload = () => resolve(new Response(request.response as ArrayBuffer));
      request.onerror = () => resolve(new Response(null, { status: 404, statusText: 'it is not there, or may not be read' }));
      if (init.signal) onAbort(init.signal, () => request.abort());
      request.onabort = request.onerror;
      request.open(init.method ?? 'GET', url);
      request.send();
    });
  }
}
