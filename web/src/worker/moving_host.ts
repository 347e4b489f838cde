// A host for Node (`worker: 'auto'`) that starts in the calling thread, and moves to a worker after a call that blocked for too long. The
// worker loads the same files in parallel; until it is ready, calls run in the calling thread.
import type { ProgressCallback } from '../progress.js';
import type { Host, Verb, Verbs } from './host.js';
import type { RemoteHost } from './remote_host.js';

/** Minimum duration, in milliseconds, of a call that counts as too long. */
export const kLongCall = 50;

/** Loads the same model in a worker. */
export type LoadInWorker = (signal: AbortSignal) => Promise<RemoteHost>;

export class MovingHost implements Host {
  private remote_: RemoteHost | undefined;
  private load_: LoadInWorker | undefined;
  private readonly stop_ = new AbortController();
  private underWay_ = 0; // number of calls that are running in this thread
  private shared_ = false;
  private called_ = false;
  /** Work done in this thread, which usage() includes. */
  private before_ = { calls: 0, tokens: 0, milliseconds: 0 };

  constructor(private readonly local_: Host) {}

  get inWorker(): boolean {
    return this.remote_ !== undefined;
  }

  allow(load: LoadInWorker): void {
    this.load_ = load;
  }

  /** Pipelines that share an engine do not move. */
  fork(report: ProgressCallback): Host {
    this.shared_ = true;
    return (this.remote_ ?? this.local_).fork(report);
  }

  usable(): boolean {
    return (this.remote_ ?? this.local_).usable();
  }

  async call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> {
    if (this.remote_ !== undefined) return this.answer(this.remote_, verb, request, signal);
    this.underWay_ += 1;
    try {
      // only measures calls that run alone, because others wait for each other
      const start = this.underWay_ === 1 ? performance.now() : undefined;
      const reply = await this.local_.call(verb, request, signal);
      if (verb === 'run' && start !== undefined && this.isLong(performance.now() - start)) void this.move();
      return reply;
    } finally {
      this.underWay_ -= 1;
      if (this.underWay_ === 0 && this.remote_ !== undefined) this.local_.dispose();
    }
  }

  dispose(): void {
    this.stop_.abort();
    this.local_.dispose();
    this.remote_?.dispose();
  }

  /** Whether a call took too long. The first call does not count, because it also compiles code and plans memory. */
  private isLong(milliseconds: number): boolean {
    const isFirst = !this.called_;
    this.called_ = true;
    return milliseconds > (isFirst ? 5 * kLongCall : kLongCall);
  }

  private async answer<V extends Verb>(
    remote: RemoteHost,
    verb: V,
    request: Verbs[V]['takes'],
    signal: AbortSignal | undefined,
  ): Promise<Verbs[V]['gives']> {
    const reply = await remote.call(verb, request, signal);
    if (verb !== 'usage') return reply;
    const { calls, tokens, milliseconds } = reply as Verbs['usage']['gives'];
    const before = this.before_;
    return {
      calls: calls + before.calls,
      tokens: tokens + before.tokens,
      milliseconds: milliseconds + before.milliseconds,
    } as Verbs[V]['gives'];
  }

  private async move(): Promise<void> {
    const load = this.load_;
    if (load === undefined || this.shared_) return;
    this.load_ = undefined; // the host tries to move only once
    let remote: RemoteHost | undefined;
    try {
      remote = await load(this.stop_.signal);
      if (this.stop_.signal.aborted || this.shared_) throw new Error('it is not needed any more');
      this.before_ = await this.local_.call('usage', null);
      this.remote_ = remote;
      if (this.underWay_ === 0) this.local_.dispose();
    } catch {
      remote?.dispose(); // the move failed: calls stay in this thread
    }
  }
}
