import type { ServerHeaders } from '../cache/file_store.js';
import { type Hasher, Sha256 } from '../cache/sha256.js';
import { describeError, onAbort, PeruseError, throwIfAborted } from '../errors.js';
import { Late, patience, within } from '../patience.js';
import { type Fetched, type FetchFile, fetchInBrowser } from './fetching.js';
import type { FileAccess } from './file_access.js';
import type { FileFacts, MissingFile, ModelFile, ModelFolder, UrlSpec } from './source.js';

export interface RemoteFile extends ModelFile, ServerHeaders {
  /** Length of the whole file, if only a part was requested and the server reports it. */
  total?: number | undefined;
}

export interface MissingRemoteFile extends MissingFile {
  /** Whether the server returned 404; otherwise it returned an HTML page for an unknown address. */
  certain: boolean;
}

interface Answer extends Fetched {
  stop(): void;
  done(): void;
}

export class UrlFolder implements ModelFolder {
  private readonly fetchFile_: FetchFile;
  private readonly sha256_: () => Hasher;

  /** `kept`: a cache stores the files. */
  constructor(
    private readonly spec_: Omit<UrlSpec, 'kind'>,
    access: Pick<FileAccess, 'fetchFile' | 'sha256'> = {},
    private readonly kept_ = false,
  ) {
    this.fetchFile_ = access.fetchFile ?? fetchInBrowser;
    this.sha256_ = access.sha256 ?? (() => new Sha256());
  }

  address(file: string): string {
    const url = new URL(this.spec_.base);
    url.pathname += file;
    return url.href;
  }

  /** `firstBytes` is the number of bytes to request; a server may send more. */
  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<RemoteFile | MissingRemoteFile> {
    const where = this.address(file);
    const range: Record<string, string> = firstBytes === undefined ? {} : { Range: `bytes=0-${firstBytes - 1}` };
    const answer = await this.askPatiently(where, signal, range).catch((error: unknown) => {
      // Requests for missing files of an extension fail instead of returning 404.
      if (!/^[a-z]+-extension:/.test(where) || signal.aborted) throw error;
      return undefined;
    });
    if (answer === undefined) return { found: false, where, why: 'the extension has no such file', certain: true };
    const { response } = answer;
    if (!response.ok) await this.refuseUnlessMissing(where, response);
    const missing = whyMissing(response);
    if (missing !== undefined) {
      await response.body?.cancel();
      return { found: false, where, why: missing, certain: !response.ok };
    }
    const headers = readHeaders(answer);
    const hash = response.status === 206 ? undefined : this.knownHash(where, answer);
    return {
      found: true,
      where,
      ...headers,
      total: totalLength(response),
      version: versionOf(headers),
      transfers: true,
      chunks: () => this.readBody(answer, where, headers.size, hash, signal),
      close: async () => {
        await response.body?.cancel();
        answer.done();
      },
    };
  }

  /** A server that answers no HEAD requests is asked for the file's first byte. */
  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingRemoteFile> {
    const where = this.address(file);
    const head = await this.ask('HEAD', where, signal);
    head.done();
    const { response } = head;
    if (response.status === 404 || response.status === 410) await this.refuseUnlessMissing(where, response);
    const missing = whyMissing(response);
    if (missing === undefined) {
      const headers = readHeaders(head);
      return { found: true, size: headers.size, version: versionOf(headers), cached: false };
    }
    if (response.ok || response.status === 404 || response.status === 410)
      return { found: false, where, why: missing, certain: !response.ok };
    const opened = await this.open(file, signal, 1);
    if (!opened.found) return opened;
    await opened.close();
    return { found: true, size: opened.total ?? opened.size, version: opened.version, cached: false };
  }

  async headers(file: string, signal: AbortSignal): Promise<ServerHeaders | 'unreachable' | undefined> {
    let answer: Answer;
    try {
      answer = await this.ask('HEAD', this.address(file), signal);
      answer.done();
    } catch {
      throwIfAborted(signal);
      return 'unreachable';
    }
    const { response } = answer;
    if (isTooBusy(response)) return 'unreachable';
    return response.ok && whyMissing(response) === undefined ? readHeaders(answer) : undefined;
  }

  /** Repeats the request while the server is too busy, after its Retry-After or growing delays. */
  private async askPatiently(url: string, signal: AbortSignal, more: Record<string, string>): Promise<Answer> {
    for (let attempt = 0; ; ++attempt) {
      const answer = await this.ask('GET', url, signal, more);
      const wait = patience.retries[attempt];
      const asked = retryAfter(answer.response);
      if (!isTooBusy(answer.response) || wait === undefined || (asked ?? 0) > patience.retryAfter) return answer;
      await answer.response.body?.cancel().catch(() => {});
      await sleep(asked ?? wait, signal);
    }
  }

  private async ask(method: 'GET' | 'HEAD', url: string, signal: AbortSignal, more: Record<string, string> = {}): Promise<Answer> {
    const headers = { ...more };
    if (this.spec_.token !== undefined) headers.Authorization = `Bearer ${this.spec_.token}`;
    const stop = new AbortController();
    const follow = () => stop.abort(signal.reason);
    const unfollow = onAbort(signal, follow);
    const cache = this.kept_ || method === 'HEAD' ? 'no-store' : 'default';
    try {
      const fetched = await within(patience.server, this.fetchFile_(url, { method, headers, signal: stop.signal, cache }));
      return { ...fetched, stop: () => stop.abort(), done: unfollow };
    } catch (error) {
      stop.abort();
      unfollow();
      throwIfAborted(signal);
      if (error instanceof Late) throw new PeruseError('network', `${url}: the server did not answer within ${seconds(patience.server)}.`);
      throw new PeruseError('network', `${url} could not be reached: ${describeError(error)}.`, { cause: error });
    }
  }

  private async refuseUnlessMissing(where: string, response: Response): Promise<void> {
    const { status } = response;
    const reason = response.headers.get('x-error-code'); // the hub's own error code
    if ((status === 404 || status === 410) && reason !== 'RevisionNotFound' && reason !== 'RepoNotFound') return;
    await response.body?.cancel();
    if (reason === 'RevisionNotFound') {
      throw new PeruseError('not_found', `${where}: the model has no such revision (branch, tag or commit).`);
    }
    if (status === 401 || status === 403 || reason === 'RepoNotFound') throw this.notAllowed(where, status);
    const asked = retryAfter(response);
    const later = asked === undefined ? '' : `, and requests a pause of ${seconds(asked)}`;
    throw new PeruseError('network', `${`${where}: the server answered ${status} ${response.statusText}`.trimEnd()}${later}.`);
  }

  private notAllowed(where: string, status: number): PeruseError {
    const { hub, token, name, base } = this.spec_;
    const page = base.replace(/\/resolve\/.*$/, '');
    const what = !hub
      ? 'this address requires a permission'
      : token === undefined
        ? `the model is gated or private, or does not exist; if it is gated, accept its terms at ${page} and pass an access token of yours as 'token'`
        : `the token given does not open ${name}; accept its terms at ${page} with the token's account, or check that the token may read it`;
    const hint = this.spec_.hint === undefined ? '' : `. ${this.spec_.hint}`;
    return new PeruseError('unauthorized', `${where}: the server answered ${status}: ${what}${hint}.`);
  }

  /** The SHA-256 of the file, which is the hub's ETag of large files. Other servers' ETags are not hashes. */
  private knownHash(where: string, { response, linkedEtag }: Fetched): string | undefined {
    if (!this.spec_.hub) return undefined;
    const atHub = response.url === '' || new URL(response.url).origin === new URL(where).origin;
    const etag = linkedEtag ?? (atHub ? (response.headers.get('etag') ?? '') : '');
    return /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(etag)?.[1];
  }

  private async *readBody(
    { response, hidden, stop, done: forget }: Answer,
    where: string,
    size: number,
    hash: string | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    if (!response.body) return;
    const hasher = hash === undefined ? undefined : this.sha256_();
    const reader = response.body.getReader();
    let loaded = 0;
    try {
      for (;;) {
        const { done, value } = await within(patience.server, reader.read());
        if (done) break;
        loaded += value.length;
        hasher?.update(value);
        yield value;
      }
    } catch (error) {
      throwIfAborted(signal);
      throw brokenBody(where, loaded, size, error);
    } finally {
      // Stops the transfer if the caller left early or the body hangs.
      reader.cancel().catch(() => {});
      stop();
      forget();
    }
    if (loaded < size && !hidden) {
      throw new PeruseError('truncated_file', `${where} ended after ${loaded} bytes; the server announced ${size}.`);
    }
    const found = hasher?.hex();
    if (found !== hash) {
      throw new PeruseError('malformed_file', `${where} arrived damaged: its SHA-256 is ${found}, and the server announced ${hash}.`);
    }
  }
}

function brokenBody(where: string, loaded: number, size: number, error: unknown): PeruseError {
  const bytes = size > 0 ? `${loaded} of ${size}` : `${loaded}`;
  if (error instanceof Late) {
    const message = `${where}: after ${bytes} bytes nothing came for ${seconds(patience.server)}: the server stalls, or sends a damaged file.`;
    return new PeruseError('network', message);
  }
  return new PeruseError('network', `${where}: the connection broke after ${bytes} bytes: ${describeError(error)}.`, { cause: error });
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1000)} s`;
}

function isTooBusy({ status }: Response): boolean {
  return status === 429 || (status >= 502 && status <= 504);
}

function retryAfter({ headers }: Response): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const wait = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      unfollow();
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    const unfollow = onAbort(signal, wake);
  });
  throwIfAborted(signal);
}

/** Why the file counts as missing: many servers return an HTML page with status 200 for every unknown address. */
function whyMissing(response: Response): string | undefined {
  if (!response.ok) return `the server answered ${response.status}`;
  const type = response.headers.get('content-type') ?? '';
  return /^text\/html\b/i.test(type) ? 'the server answered with an HTML page' : undefined;
}

/** A value that changes with the file's content. */
export function versionOf({ etag, lastModified }: ServerHeaders): string | undefined {
  return etag?.replace(/^W\//, '') ?? lastModified; // servers that compress the body make their tags weak
}

function readHeaders({ response, hidden }: Fetched): ServerHeaders {
  const size = announcedLength(response);
  return {
    size,
    bytes: hidden ? 0 : size,
    etag: response.headers.get('etag') ?? undefined,
    lastModified: response.headers.get('last-modified') ?? undefined,
  };
}

function totalLength(response: Response): number | undefined {
  const [, total] = /^bytes \d+-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '') ?? [];
  return total === undefined ? undefined : Number(total);
}

/** Length of the body; 0 if the server does not send it or sends the compressed length. */
function announcedLength(response: Response): number {
  const encoding = response.headers.get('content-encoding');
  if (encoding && encoding !== 'identity') return 0;
  const length = Number(response.headers.get('content-length'));
  return Number.isSafeInteger(length) && length > 0 ? length : 0;
}
