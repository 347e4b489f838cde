import type { Saving } from '../cache/file_store.js';
import { describeError, PeruseError } from '../errors.js';
import { Late, patience, within } from '../patience.js';

/** Stores a file in parallel with its use, until storing fails. */
export class Storing {
  private why_: string | undefined;
  private over_ = false;
  private ended_ = false;
  private readonly saved_: Promise<void>;

  constructor(private readonly saving_: Saving) {
    this.saved_ = saving_.saved.then(
      () => {
        if (!this.ended_) this.giveUp(new Error("the cache's put() did not read it to its end"));
        this.over_ = true;
      },
      (error: unknown) => this.giveUp(error),
    );
  }

  async add(chunk: Uint8Array): Promise<void> {
    if (this.over_) return;
    try {
      await Promise.race([this.saving_.stream.write(chunk), this.saved_]);
    } catch (error) {
      this.giveUp(error);
    }
  }

  /** Returns why the file was not stored, or undefined. */
  async finish(whole: boolean): Promise<string | undefined> {
    this.ended_ = true;
    try {
      if (!whole) this.saving_.stream.fail(new PeruseError('aborted', 'The download did not end.'));
      else if (!this.over_) await Promise.race([this.saving_.stream.end(), this.saved_]);
      await within(patience.cache, this.saved_);
    } catch (error) {
      this.giveUp(error instanceof Late && error.message === '' ? new Late('the cache does not answer') : error);
    }
    return this.why_;
  }

  private giveUp(error: unknown): void {
    this.over_ = true;
    this.why_ ??= describeError(error);
    this.saving_.stream.fail(error);
  }
}
