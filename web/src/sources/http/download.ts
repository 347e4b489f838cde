// The body of a file on a server. If the connection breaks, the rest is requested, after growing delays.
import type { ServerHeaders } from '../../cache/file_store.js';
import type { Hasher } from '../../cache/sha256.js';
import { describeError, PeruseError, throwIfAborted } from '../../errors.js';
import { Late, patience, within } from '../../patience.js';
import { joined } from '../file_bytes.js';
import { isObject } from '../json.js';
import {
  type Answer,
  drop,
  isEncoded,
  isSame,
  mayPass,
  type Requests,
  rangeOf,
  readHeaders,
  retriesAfter,
  seconds,
  sleep,
  versionOf,
} from './requests.js';

/** Bytes after which a break counts as a new one, with all its retries. */
const kProgress = 256 << 10;

/** The body of one answer. Its start can be looked at before it is read. */
export class Body {
  private start_: Uint8Array[] = [];
  private ended_ = false;
  private failure_: { error: unknown } | undefined;
  private readonly reader_: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(readonly answer: Answer) {
    this.reader_ = answer.response.body?.getReader();
    this.ended_ = this.reader_ === undefined;
  }

  /** Reads the start. Returns what it is, if it is not a file. */
  async judge(): Promise<BadAnswer | undefined> {
    let bytes = 0;
    while (!this.ended_ && bytes < kLookedAt) {
      try {
        const value = await this.next();
        if (value === undefined) break;
        this.start_.push(value);
        bytes += value.length;
      } catch (error) {
        this.failure_ = { error }; // thrown when the body is read
        return undefined;
      }
    }
    return badAnswer(joined(this.start_), this.ended_);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* this.start_.splice(0);
      if (this.failure_) throw this.failure_.error;
      for (let value = await this.next(); value !== undefined; value = await this.next()) yield value;
    } finally {
      this.close();
    }
  }

  /** Stops the transfer, also if the body hangs. */
  close(): void {
    this.reader_?.cancel().catch(() => {});
    this.answer.stop();
    this.answer.done();
  }

  private async next(): Promise<Uint8Array | undefined> {
    if (this.ended_) return undefined;
    const { done, value } = await within(patience.server, this.reader_!.read());
    this.ended_ = done;
    return value;
  }
}

/** A file as the server announced it. */
export interface Announced extends ServerHeaders {
  /** SHA-256 of the file; undefined if the server does not send it. */
  hash: string | undefined;
  /** Whether headers are hidden, so that `size` may be another than that of the bytes. */
  hidden: boolean;
}

export class Download {
  private readonly hasher_: Hasher | undefined;
  private failures_ = 0;
  private sound_ = 0; // position of the last break
  private rangesFail_ = false;

  /** `at_` is the position of the first answer in the file. `onChange_` is called if the server has another file after a break. */
  constructor(
    private readonly requests_: Requests,
    private readonly where_: string,
    private body_: Body,
    private readonly file_: Announced,
    private readonly signal_: AbortSignal,
    sha256: () => Hasher,
    private readonly onChange_: () => void,
    private at_ = 0,
  ) {
    this.hasher_ = file_.hash === undefined || at_ > 0 ? undefined : sha256();
    this.sound_ = at_;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let known = 0; ; ) {
        let why: unknown;
        try {
          for await (const piece of this.body_.chunks()) {
            const skipped = Math.min(known, piece.length);
            known -= skipped;
            if (skipped === piece.length) continue;
            const chunk = piece.subarray(skipped);
            this.at_ += chunk.length;
            this.hasher_?.update(chunk);
            yield chunk;
          }
          if (known === 0 && (this.file_.hidden || this.at_ >= this.file_.size)) break;
        } catch (error) {
          throwIfAborted(this.signal_);
          why = error;
        }
        known = await this.resume(why);
        if (known < 0) break;
      }
    } finally {
      this.body_.close();
    }
    const found = this.hasher_?.hex();
    if (this.hasher_ && found !== this.file_.hash) {
      const text = `${this.where_} arrived damaged: its SHA-256 is ${found}, and the server announced ${this.file_.hash}.`;
      throw new PeruseError('malformed_file', text);
    }
  }

  /** Requests the rest. Returns the number of bytes of the new body that have arrived before, or -1 if nothing is missing. */
  private async resume(broken: unknown): Promise<number> {
    if (this.at_ - this.sound_ >= kProgress) this.failures_ = 0;
    this.sound_ = this.at_;
    for (let why = broken; ; ) {
      const wait = patience.retries[this.failures_];
      if (wait === undefined) throw this.broken(why);
      this.failures_ += why instanceof Late ? 2 : 1; // a stall has taken a minute already
      await sleep(wait, this.signal_);
      try {
        const known = await this.askForRest();
        if (known !== undefined) return known;
      } catch (error) {
        throwIfAborted(this.signal_);
        if (error instanceof Changed) throw this.changed(why);
        if (retriesAfter(error) === 0) throw error;
        why = (error as Error).cause ?? error;
        this.rangesFail_ = !this.rangesFail_; // another origin may forbid the header
      }
    }
  }

  /** Returns undefined if the server does not answer with the file now. */
  private async askForRest(): Promise<number | undefined> {
    const { etag, lastModified } = this.file_;
    const range: Record<string, string> = {};
    if (this.at_ > 0 && !isEncoded(this.body_.answer.response) && !this.rangesFail_) {
      range.Range = `bytes=${this.at_}-`;
      const tag = etag?.startsWith('W/') ? undefined : (etag ?? lastModified);
      // In a page another origin would have to allow the header; the answer's own tag is compared in any case.
      if (tag !== undefined && !this.file_.hidden) range['If-Range'] = tag;
    }
    const answer = await this.requests_.ask('GET', this.where_, this.signal_, range);
    const { response } = answer;
    if (response.status === 416 && this.file_.size === 0 && response.headers.get('content-range') === `bytes */${this.at_}`) {
      await drop(answer);
      return -1;
    }
    if (response.status !== 206 && response.status !== 200) {
      await drop(answer);
      if (mayPass(response)) return undefined;
      throw new PeruseError('network', `${this.where_}: the server answered ${response.status} to a request for the rest of the file.`);
    }
    const body = new Body(answer);
    const bad = response.status === 200 ? await body.judge() : undefined;
    const isRest = response.status === 206 && this.isRest(response);
    if (bad || (response.status === 206 && !isRest)) {
      body.close();
      if (!bad) this.rangesFail_ = true;
      return undefined;
    }
    if (!this.isSameFile(answer)) {
      body.close();
      throw new Changed();
    }
    this.body_ = body;
    return isRest ? 0 : this.at_;
  }

  private isRest(response: Response): boolean {
    const range = rangeOf(response);
    if (range) return range.start === this.at_ && (this.file_.size === 0 || (range.total ?? this.file_.size) === this.file_.size);
    // the header may be hidden; the length of the rest is not
    return this.file_.hidden && this.file_.size > 0 && Number(response.headers.get('content-length')) === this.file_.size - this.at_;
  }

  /** Whether the answer is of the same file. If only its hash is known, that is checked at the end. */
  private isSameFile(answer: Answer): boolean {
    const now = readHeaders(answer);
    const { commit, hash, etag, lastModified } = this.file_;
    if (commit !== undefined && now.commit !== undefined && commit !== now.commit) return false;
    const isNamed = etag !== undefined || lastModified !== undefined;
    if (isNamed) return isSame({ ...now, size: now.size || this.file_.size }, this.file_);
    return (this.hasher_ !== undefined && hash !== undefined) || this.at_ === 0;
  }

  private changed(why: unknown): PeruseError {
    this.onChange_();
    if (versionOf(this.file_) === undefined) return this.broken(why); // it may be the same file, which its headers do not say
    return new PeruseError('network', `${this.where_} changed on the server while it was downloaded: load the model again.`);
  }

  private broken(error: unknown): PeruseError {
    const { at_: at, where_: where } = this;
    const { size } = this.file_;
    if (error === undefined) return new PeruseError('truncated_file', `${where} ended after ${at} bytes; the server announced ${size}.`);
    const bytes = size > 0 ? `${at} of ${size}` : `${at}`;
    if (error instanceof Late) {
      const message = `${where}: after ${bytes} bytes nothing came for ${seconds(patience.server)}: the server stalls, or sends a damaged file.`;
      return new PeruseError('network', message);
    }
    return new PeruseError('network', `${where}: the connection broke after ${bytes} bytes: ${describeError(error)}.`, { cause: error });
  }
}

/** The server has another file than before the break. */
class Changed extends Error {}

// Answers with status 200 that are not the requested file: what proxies, portals and overloaded servers send in its place.

/** Bytes of a file that are looked at. A longer one is no short message of a server. */
const kLookedAt = 4096;

/** What a server may send instead of a file. */
interface BadAnswer {
  /** Whether it is a web page, which many servers send for unknown addresses. */
  isPage: boolean;
  /** What it is, for messages. */
  what: string;
}

const kPage = /^<(!doctype html|html|head|body|meta|title|script|!--)/i;
const kXml = /^<(\?xml|error\b|errorresponse\b|listbucketresult\b)/i;
const kPointer = /^version https:\/\/git-lfs\.github\.com\/spec\//;
/** Members of an object that only reports a failure, and those that may accompany them. */
const kFailures = ['error', 'errors', 'message', 'detail', 'reason', 'description', 'error_description', 'error_message'];
const kCompanions = ['status', 'statusCode', 'status_code', 'code', 'type', 'title', 'path', 'success', 'ok', 'timestamp', 'requestId'];
const kMoreCompanions = [
  'request_id',
  'documentation_url',
  'hint',
  'help',
  'url',
  'instance',
  'traceId',
  'error_code',
  'errorCode',
  'name',
];
const kOfFailures = new Set([...kFailures, ...kCompanions, ...kMoreCompanions]);

/** Judges a file by its first bytes. `isWhole` means that they are all of it. Returns undefined for a possible file. */
export function badAnswer(start: Uint8Array, isWhole: boolean): BadAnswer | undefined {
  if (start.length === 0) return isWhole ? { isPage: false, what: 'an empty file' } : undefined;
  const text = new TextDecoder('utf-8').decode(start.subarray(0, kLookedAt)).trimStart();
  if (kPage.test(text)) return { isPage: true, what: 'an HTML page' };
  if (kXml.test(text)) return { isPage: false, what: 'an XML document' };
  if (kPointer.test(text)) return { isPage: false, what: 'a pointer of Git LFS' };
  return isWhole && reportsFailure(text) ? { isPage: false, what: 'an error message' } : undefined;
}

/** Whether a text is a JSON object such as {"error": "Rate limit reached"}. */
function reportsFailure(text: string): boolean {
  if (!text.startsWith('{')) return false;
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return false;
  }
  if (!isObject(said)) return false;
  const names = Object.keys(said);
  const reports = names.some((name) => kFailures.includes(name) && typeof said[name] !== 'number'); // a vocabulary may have such a token
  return reports && names.every((name) => kOfFailures.has(name));
}
