// A caller's progress callback. If it throws or returns a rejected promise, the load fails with that error.
import { describeError, PeruseError } from './errors.js';
import type { ProgressInfo } from './progress.js';

export class Listener<Progress = ProgressInfo> {
  private failure_: PeruseError | undefined;
  private fail_: (error: PeruseError) => void = () => {};
  private readonly failed_: Promise<never>;

  constructor(private readonly callback_: ((progress: Progress) => void) | undefined) {
    this.failed_ = new Promise((_, reject) => {
      this.fail_ = reject;
    });
    this.failed_.catch(() => {});
  }

  tell(progress: Progress): void {
    if (this.callback_ === undefined || this.failure_) return;
    try {
      const given: unknown = this.callback_(progress);
      if (given instanceof Promise) given.catch((error: unknown) => this.fail(error));
    } catch (error) {
      this.fail(error);
    }
  }

  check(): void {
    if (this.failure_) throw this.failure_;
  }

  async unlessFailed<T>(promise: Promise<T>): Promise<T> {
    promise.catch(() => {});
    return Promise.race([promise, this.failed_]);
  }

  private fail(error: unknown): void {
    this.failure_ ??= new PeruseError('invalid_argument', `progress_callback failed: ${describeError(error)}`, { cause: error });
    this.fail_(this.failure_);
  }
}
