import type { ServerHeaders } from '../../cache/file_store.js';
import type { BegunFile } from '../../cache/parts.js';
import { type Hasher, Sha256 } from '../../cache/sha256.js';
import { PeruseError } from '../../errors.js';
import { patience } from '../../patience.js';
import type { FileAccess } from '../file_access.js';
import { type Announced, Body, Download } from '../http/download.js';
import { type Fetched, fetchInBrowser } from '../http/fetching.js';
import { type Answer, drop, Requests, rangeOf, readHeaders, retryAfter, seconds, versionOf } from '../http/requests.js';
import type { FileFacts, MissingFile, ModelFile, ModelFolder, UrlSpec } from '../source.js';
import type { Recovery } from './healing.js';

export interface RemoteFile extends ModelFile, ServerHeaders {
  /** The part that an earlier download has stored. */
  begun?: BegunFile;
}

export interface MissingRemoteFile extends MissingFile {
  /** Whether the server itself returned 404 or 410; otherwise it returned an HTML page, or another server answered. */
  certain: boolean;
  commit?: string | undefined;
}

/** What a server says of a file without sending it. `refusal` says why it said nothing. */
export type Heading = ServerHeaders | MissingRemoteFile | { refusal: string };

const kMostRestarts = 3;

export class UrlFolder implements ModelFolder {
  readonly recovery: Recovery = { doubt: () => this.doubt(), giveUp: async () => undefined, settle: async () => {} };
  private readonly requests_: Requests;
  private readonly sha256_: () => Hasher;
  private restarts_ = 0;
  private changed_ = false;

  /** `kept`: a cache stores the files. */
  constructor(
    private readonly spec_: Omit<UrlSpec, 'kind'>,
    access: Pick<FileAccess, 'fetchFile' | 'sha256'> = {},
    kept = false,
  ) {
    this.requests_ = new Requests(access.fetchFile ?? fetchInBrowser, spec_.token, kept);
    this.sha256_ = access.sha256 ?? (() => new Sha256());
  }

  address(file: string): string {
    const url = new URL(this.spec_.base);
    url.pathname += file;
    return url.href;
  }

  /** `firstBytes` is the number of bytes to request; a server may send more. `hasCopy` means that no other answer is worth a wait. */
  async open(file: string, signal: AbortSignal, firstBytes?: number, hasCopy = false): Promise<RemoteFile | MissingRemoteFile> {
    const where = this.address(file);
    const range: Record<string, string> = firstBytes === undefined ? {} : { Range: `bytes=0-${firstBytes - 1}` };
    const asking = hasCopy
      ? this.requests_.ask('GET', where, signal, range, patience.check)
      : this.requests_.askPatiently(where, signal, range);
    const answer = await asking.catch((error: unknown) => {
      // Requests for missing files of an extension fail instead of returning 404.
      if (!/^[a-z]+-extension:/.test(where) || signal.aborted) throw error;
      return undefined;
    });
    if (answer === undefined) return { found: false, where, why: 'the extension has no such file', certain: true };
    return this.opened(answer, where, signal, firstBytes !== undefined);
  }

  /** Requests the rest of a file. Returns undefined if the server does not send it, or has another file now. */
  async openRest(file: string, begun: BegunFile, signal: AbortSignal): Promise<RemoteFile | undefined> {
    const where = this.address(file);
    const range: Record<string, string> = { Range: `bytes=${begun.stored}-` };
    const answer = await this.requests_.askPatiently(where, signal, range);
    const headers = readHeaders(answer);
    const version = versionOf(begun);
    const isRest = answer.response.status === 206 && rangeOf(answer.response)?.start === begun.stored;
    if (!isRest || version === undefined || versionOf(headers) !== version || headers.size !== begun.size) {
      new Body(answer).close();
      return undefined;
    }
    return this.file(new Body(answer), where, signal, headers, begun.stored);
  }

  /** A server that answers no HEAD requests is asked for the file's first byte. */
  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingRemoteFile> {
    const where = this.address(file);
    const head = await this.requests_.ask('HEAD', where, signal);
    head.done();
    const { response } = head;
    if (response.status === 404 || response.status === 410) await this.refuseUnlessMissing(where, head);
    const missing = this.whyMissing(where, head);
    if (missing === undefined) {
      const headers = readHeaders(head);
      return { found: true, size: headers.size, version: versionOf(headers), cached: false };
    }
    if (response.ok || response.status === 404 || response.status === 410) return missing;
    const opened = await this.open(file, signal, 1);
    if (!opened.found) return opened;
    await opened.close();
    return { found: true, size: opened.size, version: opened.version, cached: false };
  }

  /** Asks for a file's headers, for `patience.check` at most. */
  async headers(file: string, signal: AbortSignal): Promise<Heading> {
    const where = this.address(file);
    let answer: Answer;
    try {
      answer = await this.requests_.ask('HEAD', where, signal, {}, patience.check);
      answer.done();
      // a hub that hides or does not know the model says nothing about the file
      if (answer.response.status === 404 || answer.response.status === 410) await this.refuseUnlessMissing(where, answer);
    } catch (error) {
      if (signal.aborted || !(error instanceof PeruseError)) throw error;
      return { refusal: error.message.replace(/\.$/, '') };
    }
    const missing = this.whyMissing(where, answer);
    if (missing === undefined) return readHeaders(answer);
    return missing.certain ? missing : { refusal: `${where}: ${missing.why}` };
  }

  /** Whether another load may succeed, because a file changed while it was downloaded. */
  async doubt(): Promise<boolean> {
    const changed = this.changed_;
    this.changed_ = false;
    return changed && ++this.restarts_ <= kMostRestarts;
  }

  private async opened(answer: Answer, where: string, signal: AbortSignal, isPart: boolean): Promise<RemoteFile | MissingRemoteFile> {
    const { response } = answer;
    if (!response.ok) await this.refuseUnlessMissing(where, answer);
    const missing = this.whyMissing(where, answer);
    if (missing !== undefined) {
      await drop(answer);
      if (response.ok && this.spec_.hub) throw notTheFile(where, answer, 'an HTML page');
      return missing;
    }
    const body = new Body(answer);
    const bad = await body.judge();
    if (bad?.isPage && !this.spec_.hub && response.headers.get('content-type') === null) {
      body.close();
      return { found: false, where, why: kPage, certain: false };
    }
    if (bad) {
      body.close();
      throw notTheFile(where, answer, bad.what);
    }
    return this.file(body, where, signal, readHeaders(answer), isPart ? undefined : 0);
  }

  /** `at` is the position of the body in the file; undefined for a part whose end is not known. */
  private file(body: Body, where: string, signal: AbortSignal, headers: ServerHeaders, at: number | undefined): RemoteFile {
    const { answer } = body;
    const hash = at === undefined ? undefined : this.knownHash(where, answer);
    const announced: Announced = { ...headers, hash, hidden: answer.hidden === true };
    const onChange = () => {
      this.changed_ = true;
    };
    return {
      found: true,
      where,
      ...headers,
      version: versionOf(headers),
      transfers: true,
      chunks: () =>
        at === undefined
          ? body.chunks()
          : new Download(this.requests_, where, body, announced, signal, this.sha256_, onChange, at).chunks(),
      close: async () => body.close(),
    };
  }

  private async refuseUnlessMissing(where: string, answer: Answer): Promise<void> {
    const { response } = answer;
    const { status } = response;
    const reason = response.headers.get('x-error-code'); // the hub's own error code
    if ((status === 404 || status === 410) && reason !== 'RevisionNotFound' && reason !== 'RepoNotFound') return;
    await drop(answer);
    if (reason === 'RevisionNotFound') {
      throw new PeruseError('not_found', `${where}: the model has no such revision (branch, tag or commit).`);
    }
    if (status === 401 || status === 403 || reason === 'RepoNotFound') throw this.notAllowed(where, answer);
    const asked = retryAfter(response);
    const later = asked === undefined ? '' : `, and requests a pause of ${seconds(asked)}`;
    const said = `${where}: the server answered ${status} ${response.statusText}`.trimEnd();
    throw new PeruseError('network', `${said}${from(where, answer)}${later}.`);
  }

  private notAllowed(where: string, answer: Answer): PeruseError {
    const { hub, token, name, base } = this.spec_;
    const page = base.replace(/\/resolve\/.*$/, '');
    const what = !hub
      ? 'this address requires a permission'
      : token === undefined
        ? `the model is gated or private, or does not exist; if it is gated, accept its terms at ${page} and pass an access token of yours as 'token'`
        : `the token given does not open ${name}; accept its terms at ${page} with the token's account, or check that the token may read it`;
    const hint = this.spec_.hint === undefined ? '' : `. ${this.spec_.hint}`;
    return new PeruseError(
      'unauthorized',
      `${where}: the server answered ${answer.response.status}${from(where, answer)}: ${what}${hint}.`,
    );
  }

  /** Why the file counts as missing: many servers return an HTML page with status 200 for every unknown address. */
  private whyMissing(where: string, answer: Answer): MissingRemoteFile | undefined {
    const { response, url, commit } = answer;
    const { status } = response;
    const missing = { found: false, where, commit } as const;
    if (!response.ok) {
      const isPlain = (status === 404 || status === 410) && new URL(url).origin === new URL(where).origin;
      return { ...missing, why: `the server answered ${status}`, certain: isPlain };
    }
    const type = response.headers.get('content-type') ?? '';
    return /^text\/html\b/i.test(type) ? { ...missing, why: kPage, certain: false } : undefined;
  }

  /** The SHA-256 of the file, which is the hub's ETag of large files. Other servers' ETags are not hashes. */
  private knownHash(where: string, { response, url, linkedEtag }: Fetched): string | undefined {
    if (!this.spec_.hub) return undefined;
    const atHub = new URL(url).origin === new URL(where).origin;
    const etag = linkedEtag ?? (atHub ? (response.headers.get('etag') ?? '') : '');
    return /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(etag)?.[1];
  }
}

const kPage = 'the server answered with an HTML page';

function notTheFile(where: string, answer: Fetched, what: string): PeruseError {
  return new PeruseError('malformed_file', `${where} is ${what}, not the file that was requested${from(where, answer)}.`);
}

/** Names the server that answered, if it is not the one that was asked. Its query may be a signature. */
function from(where: string, { url }: Fetched): string {
  const { origin, pathname } = new URL(url);
  return origin === new URL(where).origin ? '' : ` (after a redirect to ${origin}${pathname})`;
}
