// A queue of a file's blocks for a cache, limited to a few MB. Every wait has a time limit.
import { Late, patience, within } from '../patience.js';
import { Sealer } from './blocks.js';

const kBytesAhead = 4 << 20; // maximum lead of the download over the cache

export class BlockStream {
  readonly readable: ReadableStream<Uint8Array>;
  private readonly sealer_: Sealer;
  private controller_!: ReadableStreamDefaultController<Uint8Array>;
  private left_ = false; // the reader cancelled
  private wanted_: () => void = () => {};

  constructor(file: string) {
    this.sealer_ = new Sealer(file);
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.controller_ = controller;
        },
        pull: () => this.wanted_(),
        cancel: () => {
          this.left_ = true;
          this.wanted_();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: kBytesAhead }),
    );
  }

  /** Queues bytes; waits while the queue is full. Throws Late if the cache stops reading. */
  async write(bytes: Uint8Array): Promise<void> {
    for (const block of await this.sealer_.add(bytes)) await this.enqueue(block);
  }

  async end(): Promise<void> {
    await this.enqueue(await this.sealer_.end());
    if (!this.left_) this.controller_.close();
  }

  /** Ends after the last whole block. Returns the number of bytes up to there; 0 means that nothing was whole, and the stream goes on. */
  async cut(): Promise<number> {
    const { bytes, last } = await this.sealer_.cut();
    if (bytes === 0 || this.left_) return 0;
    this.controller_.enqueue(last);
    this.controller_.close();
    this.left_ = true;
    return bytes;
  }

  fail(error: unknown): void {
    if (!this.left_) this.controller_.error(error);
    this.left_ = true;
  }

  private async enqueue(block: Uint8Array): Promise<void> {
    if (this.left_) return;
    this.controller_.enqueue(block);
    if (this.controller_.desiredSize! > 0) return;
    const wanted = new Promise<void>((resolve) => {
      this.wanted_ = resolve;
    });
    try {
      await within(patience.cache, wanted);
    } catch (error) {
      if (error instanceof Late) throw new Late('the cache takes no bytes');
      throw error;
    }
  }
}
