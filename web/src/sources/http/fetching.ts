import { describeError, onAbort } from '../../errors.js';
import { ownFetch } from '../../own_fetch.js';

export interface Fetched {
  response: Response;
  /** The address that answered, after redirects. */
  url: string;
  /** The hub's hash of a large file, which it sends with its first redirect. Only Node sees it. */
  linkedEtag?: string | undefined;
  /** The commit of the hub's repository. Browsers do not see it if the hub redirects. */
  commit?: string | undefined;
  /** Some headers are hidden (CORS): if one says that the body was compressed, its length is another. */
  hidden?: boolean;
}

export interface FetchInit {
  method: 'GET' | 'HEAD';
  headers: Record<string, string>;
  signal: AbortSignal;
  /** 'no-store' avoids a second copy in the browser's HTTP cache. */
  cache: 'default' | 'no-store';
}

/** Rejects with FetchFailure if there is no answer. */
export type FetchFile = (url: string, init: FetchInit) => Promise<Fetched>;

/** A request without an answer. */
export class FetchFailure extends Error {
  constructor(
    message: string,
    /** How often to try again: a broken connection may pass, an unknown server does not. */
    readonly retries: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Browsers hide why a request failed, so that a server that forbids this page by CORS is asked again, too. */
const kRetriesInBrowser = 2;

export function commitOf({ headers }: Response): string | undefined {
  const commit = headers.get('x-repo-commit') ?? '';
  return /^[0-9a-f]{40}$/.test(commit) ? commit : undefined;
}

/** Browsers follow redirects, and drop Authorization if one leads to another origin. */
export const fetchInBrowser: FetchFile = async (url, init) => {
  const { cache, ...rest } = init;
  // 'default' must be omitted, because Cloudflare's workers reject the option.
  const response = await fetchAnywhere(url, cache === 'default' ? rest : init).catch((error: unknown) => {
    if (init.signal.aborted) throw error;
    const isRefused = (error as Partial<Error> | undefined)?.name === 'TypeError';
    throw new FetchFailure(`${describeError(error)}${whatItMayBe(url)}`, isRefused ? kRetriesInBrowser : 0, { cause: error });
  });
  return {
    response,
    url: response.url || url,
    linkedEtag: response.headers.get('x-linked-etag') ?? undefined,
    commit: commitOf(response),
    hidden: response.type === 'cors',
  };
};

function whatItMayBe(url: string): string {
  const here = globalThis.location as Location | undefined;
  if (here === undefined || new URL(url).origin === here.origin) return '';
  return (
    `. A browser does not say why. Either ${new URL(url).origin} is down or does not exist, or it does not allow this page by CORS ` +
    "(its Access-Control-Allow-Origin), or this page's content security policy does not name it in connect-src"
  );
}

/**
 * Calls env.fetch or fetch(), or XMLHttpRequest for schemes that fetch() cannot read (file: and those of web views). Failures of the latter
 * become status 404.
 */
export async function fetchAnywhere(url: string, init: RequestInit): Promise<Response> {
  const own = ownFetch();
  if (own) return own(url, init);
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

/**
 * The address that relative addresses refer to: of the page, or of the worker. A worker whose script is a blob, as in Next 15 (Turbopack), has no
 * path, so addresses refer to its origin.
 */
export function baseAddress(): string | undefined {
  if (typeof document !== 'undefined') return document.baseURI;
  const { location } = globalThis;
  return location?.protocol === 'blob:' ? location.origin : location?.href;
}
