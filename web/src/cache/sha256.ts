// SHA-256 (FIPS 180-4). WebCrypto hashes only complete buffers, and only in secure contexts.

export interface Hasher {
  update(bytes: Uint8Array): void;
  hex(): string;
}

const kBlock = 64;

// First 32 fractional bits of the cube roots of the first 64 primes, and of the square roots of the first 8.
const kPrimes: number[] = [];
for (let n = 2; kPrimes.length < 64; ++n) if (kPrimes.every((prime) => n % prime !== 0)) kPrimes.push(n);
const fraction = (x: number) => (x * 2 ** 32) | 0; // '|' drops what is above 32 bits, which is the integer part
const kRound = Int32Array.from(kPrimes, (prime) => fraction(Math.cbrt(prime)));
const kStart = Int32Array.from(kPrimes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

export class Sha256 implements Hasher {
  private readonly state_ = kStart.slice();
  private readonly words_ = new Int32Array(64);
  private readonly block_ = new Uint8Array(kBlock);
  private length_ = 0;

  update(bytes: Uint8Array): void {
    let at = 0;
    const used = this.length_ % kBlock;
    this.length_ += bytes.length;
    if (used > 0) {
      at = Math.min(kBlock - used, bytes.length);
      this.block_.set(bytes.subarray(0, at), used);
      if (used + at < kBlock) return;
      this.compress(this.block_, 0);
    }
    for (; at + kBlock <= bytes.length; at += kBlock) this.compress(bytes, at);
    this.block_.set(bytes.subarray(at));
  }

  hex(): string {
    return Array.from(this.digest(), (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  digest(): Uint8Array {
    const bits = this.length_ * 8;
    const padding = new Uint8Array(kBlock - ((this.length_ + 8) % kBlock) + 8);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    const digest = new DataView(new ArrayBuffer(4 * this.state_.length));
    for (const [i, word] of this.state_.entries()) digest.setInt32(4 * i, word);
    return new Uint8Array(digest.buffer);
  }

  private compress(bytes: Uint8Array, at: number): void {
    const w = this.words_;
    for (let i = 0; i < 16; ++i, at += 4) w[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    for (let i = 16; i < 64; ++i) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    const state = this.state_;
    let a = state[0]!,
      b = state[1]!,
      c = state[2]!,
      d = state[3]!,
      e = state[4]!,
      f = state[5]!,
      g = state[6]!,
      h = state[7]!;
    for (let i = 0; i < 64; ++i) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + kRound[i]! + w[i]!) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}

/** SHA-256 of a complete buffer, by the platform's implementation if available. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  const subtle = (globalThis.crypto as Crypto | undefined)?.subtle as SubtleCrypto | undefined;
  if (subtle) return new Uint8Array(await subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>));
  const hasher = new Sha256();
  hasher.update(bytes);
  return hasher.digest();
}
