// The stored form of a file: blocks of 1 MiB, the last one shorter or empty, each followed by a seal. A seal is the SHA-256 of the block's
// SHA-256, the file's name and version, and the block's number. It detects damaged, swapped, foreign and missing blocks.
import { sha256 } from './sha256.js';

const kBlockBytes = 1 << 20;
const kDigestBytes = 32;
const kSealedBytes = kBlockBytes + kDigestBytes;

export function contentBytes(stored: number): number {
  return Math.max(0, stored - kDigestBytes * Math.ceil(stored / kSealedBytes));
}

export function sealedBytes(content: number): number {
  return content + kDigestBytes * (Math.floor(content / kBlockBytes) + 1);
}

export class Sealer {
  private sealed_ = 0;

  /** `file_` is the file's name and version. */
  constructor(private readonly file_: string) {}

  private block_ = new Uint8Array(kSealedBytes);
  private filled_ = 0;

  /** Returns the blocks that these bytes complete. Copies the bytes before its first await. */
  async add(bytes: Uint8Array): Promise<Uint8Array[]> {
    const full: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + kBlockBytes - this.filled_);
      this.block_.set(part, this.filled_);
      this.filled_ += part.length;
      at += part.length;
      if (this.filled_ < kBlockBytes) break;
      full.push(this.block_);
      this.block_ = new Uint8Array(kSealedBytes);
      this.filled_ = 0;
    }
    return Promise.all(full.map((block) => this.seal(block, kBlockBytes)));
  }

  async end(): Promise<Uint8Array> {
    return this.seal(this.block_, this.filled_);
  }

  /** Drops the block that is not whole. Returns the number of bytes before it, and the seal that ends them. */
  async cut(): Promise<{ bytes: number; last: Uint8Array }> {
    this.filled_ = 0;
    const bytes = this.sealed_ * kBlockBytes;
    return { bytes, last: await this.seal(this.block_, 0) };
  }

  private async seal(block: Uint8Array, length: number): Promise<Uint8Array> {
    block.set(await sealOf(block.subarray(0, length), this.file_, this.sealed_++), length);
    return block.subarray(0, length + kDigestBytes);
  }
}

/** Yields the blocks of a stored file, and checks the next one meanwhile. Throws a string that describes damage. */
export async function* unseal(pieces: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  let checked: Promise<Uint8Array> | undefined;
  let last = false;
  let index = 0;
  for await (const block of regroup(pieces)) {
    const next = check(block, file, index++);
    next.catch(() => {}); // the loop awaits it, unless the caller stops before
    if (checked) yield await checked;
    checked = next;
    last = block.length < kSealedBytes;
  }
  if (!checked || !last) throw new Error('its end is missing');
  const rest = await checked;
  if (rest.length > 0) yield rest;
}

/** Yields the same bytes in pieces of one sealed block; the last may be shorter. */
async function* regroup(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = new Uint8Array(kSealedBytes);
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + kSealedBytes - filled);
      block.set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled < kSealedBytes) break;
      yield block;
      block = new Uint8Array(kSealedBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield block.subarray(0, filled);
}

async function check(block: Uint8Array, file: string, index: number): Promise<Uint8Array> {
  const length = block.length - kDigestBytes;
  if (length < 0) throw new Error('its end is missing');
  const content = block.subarray(0, length);
  const found = await sealOf(content, file, index);
  if (!found.every((byte, i) => byte === block[length + i])) throw new Error('its bytes are not those that were stored');
  return content;
}

async function sealOf(content: Uint8Array, file: string, index: number): Promise<Uint8Array> {
  const place = new TextEncoder().encode(`${file}\n${index}`);
  const sealed = new Uint8Array(kDigestBytes + place.length);
  sealed.set(await sha256(content));
  sealed.set(place, kDigestBytes);
  return sha256(sealed);
}
