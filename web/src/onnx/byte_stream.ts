// Reads a file forward, with one chunk in memory.
import { PeruseError } from '../errors.js';
import { joined } from '../sources/file_bytes.js';

export class ByteStream {
  position = 0;
  private readonly chunks_: AsyncIterator<Uint8Array>;
  private chunk_: Uint8Array = new Uint8Array(0);
  private at_ = 0;

  constructor(
    chunks: AsyncIterable<Uint8Array>,
    private readonly where_: string,
  ) {
    this.chunks_ = chunks[Symbol.asyncIterator]();
  }

  async ended(): Promise<boolean> {
    while (this.at_ === this.chunk_.length) {
      const { done, value } = await this.chunks_.next();
      if (done) return true;
      this.chunk_ = value;
      this.at_ = 0;
    }
    return false;
  }

  /** Yields the next `count` bytes in parts. A part is valid until the next is requested. */
  async *pass(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      if (await this.ended()) throw new PeruseError('truncated_file', `${this.where_} ends after ${this.position} bytes, within a tensor.`);
      const part = this.chunk_.subarray(this.at_, this.at_ + left);
      this.at_ += part.length;
      this.position += part.length;
      left -= part.length;
      yield part;
    }
  }

  async skip(count: number): Promise<void> {
    if (count > this.chunk_.length - this.at_) for await (const _ of this.pass(count));
    else this.advance(count);
  }

  /** Returns a copy of the next `count` bytes. Allocates as bytes arrive, because the count may be false. */
  async take(count: number): Promise<Uint8Array<ArrayBuffer>> {
    const parts = [this.chunk_.slice(this.at_, this.at_ + count)];
    const left = count - parts[0]!.length;
    this.advance(count - left);
    if (left === 0) return new Uint8Array(parts[0]!);
    for await (const part of this.pass(left)) parts.push(part.slice());
    return joined(parts);
  }

  async byte(): Promise<number> {
    const byte = await this.peek();
    if (byte === undefined) throw new PeruseError('truncated_file', `${this.where_} ends after ${this.position} bytes.`);
    this.advance(1);
    return byte;
  }

  private advance(count: number): void {
    this.position += count;
    this.at_ += count;
  }

  async peek(): Promise<number | undefined> {
    return (await this.ended()) ? undefined : this.chunk_[this.at_];
  }

  async close(): Promise<void> {
    await this.chunks_.return?.();
  }
}
