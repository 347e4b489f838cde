// The form in which a file is stored: blocks of 1 MiB, each followed by its SHA-256, the last of them shorter than 1 MiB (and
// empty, if need be). So damage is seen before anybody is given a damaged byte, and a file that was cut is known wherever it was.
import { Sha256 } from './sha256.js';

const kBlockBytes = 1 << 20;
const kDigestBytes = 32;
const kSealedBytes = kBlockBytes + kDigestBytes;

/** Bytes of the file, given those of its stored form. */
export function contentBytes(stored: number): number {
  return Math.max(0, stored - kDigestBytes * Math.ceil(stored / kSealedBytes));
}

/** Bytes of a file's stored form. */
export function sealedBytes(content: number): number {
  return content + kDigestBytes * (Math.floor(content / kBlockBytes) + 1);
}

/** Collects a file's bytes and gives its stored form. */
export class Sealer {
  private block_ = new Uint8Array(kSealedBytes);
  private filled_ = 0;

  /** The blocks that these bytes complete. The bytes are copied before this returns its promise. */
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
    return Promise.all(full.map((block) => seal(block, kBlockBytes)));
  }

  /** The last block. */
  async end(): Promise<Uint8Array> {
    return seal(this.block_, this.filled_);
  }
}

async function seal(block: Uint8Array, length: number): Promise<Uint8Array> {
  block.set(await digest(block.subarray(0, length)), length);
  return block.subarray(0, length + kDigestBytes);
}

/**
 * The file in a stored form, block by block: each is checked while the one before it is at work. Throws a sentence's part that says
 * what is wrong with what is stored.
 */
export async function* unseal(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let checked: Promise<Uint8Array> | undefined;
  let last = false;
  for await (const block of regroup(pieces)) {
    const next = check(block);
    next.catch(() => {}); // It is waited for below, or of no interest any more.
    if (checked) yield await checked;
    checked = next;
    last = block.length < kSealedBytes;
  }
  if (!checked || !last) throw new Error('its end is missing');
  const rest = await checked;
  if (rest.length > 0) yield rest;
}

/** The same bytes in pieces of one sealed block; the last may be shorter. */
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

async function check(block: Uint8Array): Promise<Uint8Array> {
  const length = block.length - kDigestBytes;
  if (length < 0) throw new Error('its end is missing');
  const content = block.subarray(0, length);
  const found = await digest(content);
  if (!found.every((byte, i) => byte === block[length + i])) throw new Error('its bytes are not those that were stored');
  return content;
}

/** By the platform, beside this thread, where it can. */
async function digest(bytes: Uint8Array): Promise<Uint8Array> {
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (subtle) return new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  const hasher = new Sha256();
  hasher.update(bytes);
  return hasher.digest();
}
