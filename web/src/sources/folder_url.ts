// A model's folder behind a URL.
import { describe, PeruseError, throwIfAborted } from '../errors.js';
import { fetchInBrowser, type FetchFile, type Fetched, type Hasher } from './fetching.js';
import { Sha256 } from './sha256.js';
import type { MissingFile, ModelFile, ModelFolder, UrlSpec } from './source.js';

/** How to fetch and hash; tests and Node put their own in. */
export interface UrlParts {
  fetchFile?: FetchFile;
  sha256?: () => Hasher;
}

/** What a server says of a file without sending it. */
export interface Headers {
  etag?: string;
  lastModified?: string;
  /** 0 if unknown. */
  size: number;
}

export interface RemoteFile extends ModelFile, Headers {}

/** A file that a server does not have. */
export interface MissingRemoteFile extends MissingFile {
  /** It said so itself (404), rather than by sending a page. */
  certain: boolean;
}

export class UrlFolder implements ModelFolder {
  private readonly fetchFile_: FetchFile;
  private readonly sha256_: () => Hasher;

  /** `kept`: somebody keeps the files. */
  constructor(private readonly spec_: Omit<UrlSpec, 'kind'>, parts: UrlParts = {}, private readonly kept_ = false) {
    this.fetchFile_ = parts.fetchFile ?? fetchInBrowser;
    this.sha256_ = parts.sha256 ?? (() => new Sha256());
  }

  address(file: string): string {
    const url = new URL(this.spec_.base);
    url.pathname += file;
    return url.href;
  }

  /** `firstBytes`: no more than so many are wanted; a server may send more. */
  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<RemoteFile | MissingRemoteFile> {
    const where = this.address(file);
    const range: Record<string, string> = firstBytes === undefined ? {} : { Range: `bytes=0-${firstBytes - 1}` };
    const fetched = await this.ask('GET', where, signal, range).catch((error: unknown) => {
      // An extension's own files have no server that could answer 404: what is not there fails.
      if (!/^[a-z]+-extension:/.test(where) || signal.aborted) throw error;
      return undefined;
    });
    if (fetched === undefined) return { found: false, where, why: 'the extension has no such file', certain: true };
    const { response } = fetched;
    if (!response.ok) await this.refuseUnlessMissing(where, response);
    const missing = whyMissing(response);
    if (missing !== undefined) {
      await response.body?.cancel();
      return { found: false, where, why: missing, certain: !response.ok };
    }
    const headers = readHeaders(response);
    const hash = response.status === 206 ? undefined : this.knownHash(where, fetched);
    return {
      found: true, where, ...headers,
      chunks: () => this.readBody(response, where, headers.size, hash, signal),
      close: async () => { await response.body?.cancel(); },
    };
  }

  /** What the server says of the file now; undefined if it does not say or can't be reached. */
  async look(file: string, signal: AbortSignal): Promise<Headers | 'unreachable' | undefined> {
    let response: Response;
    try {
      ({ response } = await this.ask('HEAD', this.address(file), signal));
    } catch (error) {
      throwIfAborted(signal);
      return 'unreachable';
    }
    return response.ok && whyMissing(response) === undefined ? readHeaders(response) : undefined;
  }

  private async ask(method: 'GET' | 'HEAD', url: string, signal: AbortSignal, more: Record<string, string> = {}): Promise<Fetched> {
    const headers = { ...more };
    if (this.spec_.token !== undefined) headers['Authorization'] = `Bearer ${this.spec_.token}`;
    try {
      return await this.fetchFile_(url, { method, headers, signal, cache: this.kept_ || method === 'HEAD' ? 'no-store' : 'default' });
    } catch (error) {
      throwIfAborted(signal);
      throw new PeruseError('network', `${url} could not be reached: ${describe(error)}.`, { cause: error });
    }
  }

  private async refuseUnlessMissing(where: string, response: Response): Promise<void> {
    const { status } = response;
    const reason = response.headers.get('x-error-code');  // The hub's own word for it.
    if ((status === 404 || status === 410) && reason !== 'RevisionNotFound' && reason !== 'RepoNotFound') return;
    await response.body?.cancel();
    if (reason === 'RevisionNotFound') {
      throw new PeruseError('not_found', `${where}: the model has no such revision (branch, tag or commit).`);
    }
    if (status === 401 || status === 403 || reason === 'RepoNotFound') throw this.notAllowed(where, status);
    throw new PeruseError('network', `${where}: the server answered ${status} ${response.statusText}`.trimEnd() + '.');
  }

  private notAllowed(where: string, status: number): PeruseError {
    const { hub, token, name, base } = this.spec_;
    const page = base.replace(/\/resolve\/.*$/, '');
    const what = !hub
      ? 'this address needs a permission that Peruse was not given'
      : token === undefined
        ? `the model is gated or private, or does not exist; if it is gated, accept its terms at ${page} and pass an access token of yours as 'token'`
        : `the token given does not open ${name}; accept its terms at ${page} with the token's account, or check that the token may read it`;
    return new PeruseError('unauthorized', `${where}: the server answered ${status}: ${what}.`);
  }

  /** The hub's ETag of a large file is its SHA-256; other servers' may be anything, and so may that of wherever a hub redirects to. */
  private knownHash(where: string, { response, linkedEtag }: Fetched): string | undefined {
    if (!this.spec_.hub) return undefined;
    const atHub = response.url === '' || new URL(response.url).origin === new URL(where).origin;
    const etag = linkedEtag ?? (atHub ? response.headers.get('etag') ?? '' : '');
    return /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(etag)?.[1];
  }

  private async *readBody(
    response: Response, where: string, size: number, hash: string | undefined, signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    if (!response.body) return;
    const hasher = hash === undefined ? undefined : this.sha256_();
    const reader = response.body.getReader();
    let loaded = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        loaded += value.length;
        hasher?.update(value);
        yield value;
      }
    } catch (error) {
      throwIfAborted(signal);
      const of = size > 0 ? ` of ${size}` : '';
      throw new PeruseError('network', `${where}: the connection broke after ${loaded}${of} bytes: ${describe(error)}.`, { cause: error });
    } finally {
      await reader.cancel().catch(() => {});  // Nothing to do if the body has ended; stops the transfer if the caller left early.
    }
    if (loaded < size) {
      throw new PeruseError('truncated_file', `${where} ended after ${loaded} bytes; the server announced ${size}.`);
    }
    const found = hasher?.hex();
    if (found !== hash) {
      throw new PeruseError('malformed_file', `${where} arrived damaged: its SHA-256 is ${found}, and the server announced ${hash}.`);
    }
  }
}

/** Many servers answer every address that they do not know with the page of an app: status 200, but HTML. */
function whyMissing(response: Response): string | undefined {
  if (!response.ok) return `the server answered ${response.status}`;
  const type = response.headers.get('content-type') ?? '';
  return /^text\/html\b/i.test(type) ? 'the server answered with an HTML page' : undefined;
}

function readHeaders(response: Response): Headers {
  return {
    size: announcedLength(response),
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
  };
}

/** The body's length, or 0 if the server does not say or speaks of the compressed length. */
function announcedLength(response: Response): number {
  const encoding = response.headers.get('content-encoding');
  if (encoding && encoding !== 'identity') return 0;
  const length = Number(response.headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}
