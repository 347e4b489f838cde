import { describeError, onAbort } from '../errors.js';

export interface Fetched {
  response: Response;
  /** The hub's hash of a large file, which it sends with its first redirect. Only Node sees it. */
  linkedEtag?: string | undefined;
  /** Some headers are hidden (CORS): if one says that the body was compressed, its length is another. */
  hidden?: boolean;
}

export type FetchFile = (
  url: string,
  init: {
    method: 'GET' | 'HEAD';
    headers: Record<string, string>;
    signal: AbortSignal;
    /** 'no-store' avoids a second copy in the browser's HTTP cache. */
    cache: 'default' | 'no-store';
  },
) => Promise<Fetched>;

/** Browsers follow redirects, and drop Authorization if one leads to another origin. */
export const fetchInBrowser: FetchFile = async (url, init) => {
  const { cache, ...rest } = init;
  // 'default' must be omitted, because Cloudflare's workers reject the option.
  const response = await fetchAnywhere(url, cache === 'default' ? rest : init).catch((error: unknown) => {
    throw init.signal.aborted ? error : new Error(`${describeError(error)}${whatItMayBe(url)}`);
  });
  return { response, linkedEtag: response.headers.get('x-linked-etag') ?? undefined, hidden: response.type === 'cors' };
};

function whatItMayBe(url: string): string {
  const here = globalThis.location as Location | undefined;
  if (here === undefined || new URL(url).origin === here.origin) return '';
  return (
    `. A browser does not say why. Either ${new URL(url).origin} is down or does not exist, or it does not allow this page by CORS ` +
    "(its Access-Control-Allow-Origin), or this page's content security policy does not name it in connect-src"
  );
}

/** Calls fetch(), or XMLHttpRequest for schemes that fetch() cannot read (file: and those of web views). Its failures become status 404. */
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
