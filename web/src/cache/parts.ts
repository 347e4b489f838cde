// Large files are stored in parts, so that an interrupted download continues where it ended. The entry "begun" names the parts of a download
// that has not ended; the file's own entry, which is written last, names all parts.
import { BlockStream } from './block_stream.js';
import { beside, headersOf, kForm, type LockingCache, nameOf, readEntry, type Saving, type ServerHeaders } from './entry.js';

/** Files of this announced size and more are stored in parts. */
export const kLeastParted = 8 << 20;
const kPartBytes = 4 << 20;
const kParts = 'x-peruse-parts';
const kBytes = 'x-peruse-bytes';
export const kParted = 'parts';
const kBegun = 'begun';
const kPart = 'part';

/** Parts of a download, by which their entries are found. */
export interface PartList {
  /** Distinguishes the parts of several versions. */
  id: string;
  lengths: readonly number[];
}

/** A download that has not ended. */
export interface BegunFile extends ServerHeaders {
  parts: PartList;
  /** Number of bytes in the parts. */
  stored: number;
}

export function partsOf({ headers }: Response): PartList | undefined {
  const [, id, lengths] = /^(\w+):([\d,]*)$/.exec(headers.get(kParts) ?? '') ?? [];
  if (id === undefined || lengths === undefined) return undefined;
  return { id, lengths: lengths === '' ? [] : lengths.split(',').map(Number) };
}

/** Bytes of a file in parts. */
export function partedBytes({ headers }: Response): number {
  return Number(headers.get(kBytes)) || 0;
}

export function begunUrl(url: string): string {
  return beside(url, 'begun');
}

/** The URLs of the entries that belong to a file in parts, besides its own. */
export function urlsOfParts(url: string, { id, lengths }: PartList): string[] {
  return placesOf(lengths).map((place) => partUrl(url, id, place));
}

function partUrl(url: string, id: string, place: number): string {
  return beside(url, `part-${id}-${place}`);
}

/** Positions of the parts in the file. */
function placesOf(lengths: readonly number[]): number[] {
  let end = 0;
  return lengths.map((length) => {
    end += length;
    return end - length;
  });
}

/** Finds the parts of a download that has not ended. `match` asks the cache. */
export async function findBegun(url: string, match: (url: string) => Promise<Response | undefined>): Promise<BegunFile | undefined> {
  const begun = await match(begunUrl(url));
  const parts = begun?.headers.get(kForm) === kBegun ? partsOf(begun) : undefined;
  if (begun === undefined || parts === undefined) return undefined;
  const lengths: number[] = [];
  let stored = 0;
  // parts after those of the list have the usual length: the download was killed
  for (;;) {
    const length = parts.lengths[lengths.length] ?? kPartBytes;
    const part = await match(partUrl(url, parts.id, stored));
    void part?.body?.cancel().catch(() => {});
    if (part?.headers.get(kForm) !== kPart) break;
    lengths.push(length);
    stored += length;
  }
  const entry = readEntry(begun);
  if (stored === 0 || stored >= entry.size) return undefined;
  return { ...entry, bytes: 0, parts: { id: parts.id, lengths }, stored };
}

/** Yields the parts of a file. `read` yields the bytes of a part's entry. */
export async function* readParts(
  url: string,
  file: Pick<ServerHeaders, 'etag' | 'lastModified'>,
  { id, lengths }: PartList,
  match: (url: string) => Promise<Response | undefined>,
  read: (response: Response, name: string) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const places = placesOf(lengths);
  const ask = (index: number) => {
    const place = places[index];
    const found = place === undefined ? undefined : match(partUrl(url, id, place));
    found?.catch(() => {}); // awaited below
    return found;
  };
  let next = ask(0);
  for (const [index, place] of places.entries()) {
    const part = await next;
    if (part === undefined) throw new Error('a part is missing');
    next = ask(index + 1);
    let bytes = 0;
    for await (const chunk of read(part, partName(url, file, place))) {
      bytes += chunk.length;
      yield chunk;
    }
    if (bytes !== lengths[index]) throw new Error('a part has another length');
  }
}

function partName(url: string, file: Pick<ServerHeaders, 'etag' | 'lastModified'>, place: number): string {
  return `${nameOf(url, file)} ${place}`;
}

interface Part {
  stream: BlockStream;
  bytes: number;
  put: Promise<void>;
}

/** Stores a file in parts. Its stream has the members of a BlockStream. */
export class PartedSaving implements Saving {
  readonly saved: Promise<void>;
  readonly stream = {
    write: (bytes: Uint8Array) => this.write(bytes),
    end: () => this.end(),
    fail: (error: unknown) => this.fail(error),
  };
  private settle_!: { resolve: () => void; reject: (error: unknown) => void };
  private readonly id_: string;
  private readonly lengths_: number[];
  private place_: number; // position of the current part
  private part_: Part | undefined;
  private ready_: Promise<void>;
  private over_ = false;

  constructor(
    private readonly cache_: LockingCache,
    private readonly url_: string,
    private readonly file_: ServerHeaders,
    begun: BegunFile | undefined,
    private readonly onWhole_: (parts: PartList) => Promise<void>,
  ) {
    this.saved = new Promise((resolve, reject) => {
      this.settle_ = { resolve, reject };
    });
    this.saved.catch(() => {});
    this.id_ = begun?.parts.id ?? Math.random().toString(36).slice(2, 10);
    this.lengths_ = [...(begun?.parts.lengths ?? [])];
    this.place_ = begun?.stored ?? 0;
    this.ready_ = this.putList(kBegun, begunUrl(url_));
    this.ready_.catch((error: unknown) => this.stop(error));
  }

  private async write(bytes: Uint8Array): Promise<void> {
    await this.ready_;
    for (let at = 0; at < bytes.length && !this.over_; ) {
      this.part_ ??= this.begin();
      const piece = bytes.subarray(at, at + kPartBytes - this.part_.bytes);
      await Promise.race([this.part_.stream.write(piece), this.part_.put.then(refuseEarly)]);
      this.part_.bytes += piece.length;
      at += piece.length;
      if (this.part_.bytes === kPartBytes) await this.endPart();
    }
  }

  private async end(): Promise<void> {
    await this.ready_;
    if (this.part_) await this.endPart();
    await this.putList(kParted, this.url_);
    await this.onWhole_({ id: this.id_, lengths: this.lengths_ });
    this.over_ = true;
    this.settle_.resolve();
  }

  /** Keeps the whole blocks of the part that was being stored. */
  private fail(error: unknown): void {
    if (this.over_) return;
    const part = this.part_;
    this.over_ = true;
    const kept = part ? this.keepBlocks(part, error) : Promise.resolve();
    void kept.catch(() => {}).finally(() => this.settle_.reject(error));
  }

  private async keepBlocks({ stream, put }: Part, error: unknown): Promise<void> {
    const bytes = await stream.cut();
    if (bytes === 0) {
      stream.fail(error);
      return;
    }
    await put;
    this.lengths_.push(bytes);
    await this.putList(kBegun, begunUrl(this.url_));
  }

  private stop(error: unknown): void {
    this.over_ = true;
    this.settle_.reject(error);
  }

  private begin(): Part {
    const stream = new BlockStream(partName(this.url_, this.file_, this.place_));
    const put = this.cache_.put(
      partUrl(this.url_, this.id_, this.place_),
      new Response(stream.readable, { headers: headersOf(kPart, { size: 0 }) }),
    );
    put.catch((error: unknown) => this.stop(error));
    return { stream, bytes: 0, put };
  }

  private async endPart(): Promise<void> {
    const { stream, bytes, put } = this.part_!;
    await stream.end();
    await put;
    this.part_ = undefined;
    this.lengths_.push(bytes);
    this.place_ += bytes;
  }

  private async putList(form: string, url: string): Promise<void> {
    const headers = headersOf(form, this.file_);
    headers.set(kParts, `${this.id_}:${this.lengths_.join(',')}`);
    if (form === kParted) headers.set(kBytes, String(this.place_));
    await this.cache_.put(url, new Response('', { headers }));
  }
}

function refuseEarly(): never {
  throw new Error("the cache's put() did not read it to its end");
}
