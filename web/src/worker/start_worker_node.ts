// Workers of Node: those that end with their work, and one that rests for the next load.
import type { Worker } from 'node:worker_threads';
import { type InstalledFile, newNodeWorker } from '../engine/installed_node.js';
import { patience, within } from '../patience.js';
import type { WorkerMessage, WorkerPort, WorkerRequest } from './messages.js';

/** Time in milliseconds for an idle worker to remove its locks (cache/lock_node.ts) from disk. */
export const kFarewell = 500;

/** `file` is the worker's script. `uses` lists files of the package that it may need. */
export function startNodeWorker(file: InstalledFile, uses: readonly InstalledFile[]): WorkerPort {
  return new LeavingWorker(file, uses);
}

export class NodeWorker implements WorkerPort {
  protected readonly worker_: Worker;
  private hear_: (message: WorkerMessage) => void = () => {};
  private die_: (reason: string) => void = () => {};
  private ended_ = false;
  private waiting_ = 0; // number of answers that are pending
  private compiling_: ReturnType<typeof setTimeout> | undefined; // the limit of compilations that run

  constructor(file: InstalledFile, uses: readonly InstalledFile[]) {
    this.worker_ = newNodeWorker(file, uses);
    this.worker_.unref();
    this.worker_.on('message', (message: WorkerMessage) => {
      if (message.kind === 'compiling') {
        this.compile(message.compiling);
        return;
      }
      if (message.kind !== 'progress' && message.kind !== 'here' && this.waiting_ > 0) this.waiting_--;
      this.keepProcess();
      this.hear_(message);
    });
    this.worker_.on('error', (error) => this.die_(error instanceof Error ? error.message : String(error)));
    this.worker_.on('messageerror', (error) => this.die_(error.message));
    this.worker_.on('exit', (code) => {
      if (!this.ended_) this.die_(`it exited with code ${code}.`);
    });
  }

  post(message: WorkerRequest, transfer: (MessagePort | ArrayBuffer)[] = []): void {
    this.worker_.postMessage(message, transfer as never[]);
    if (message.kind === 'call') this.waiting_++;
    this.keepProcess();
  }

  onMessage(listener: (message: WorkerMessage) => void): void {
    this.hear_ = listener;
  }

  onDeath(listener: (reason: string) => void): void {
    this.die_ = listener;
  }

  terminate(): void {
    this.ended_ = true;
    if (!this.isCompiling()) void this.worker_.terminate();
  }

  /** Keeps the process alive while an answer is pending or a GPU compiles. */
  private keepProcess(): void {
    if (this.waiting_ > 0 || this.isCompiling()) this.worker_.ref();
    else this.worker_.unref();
  }

  /** Stops to wait for answers. */
  protected letGo(): void {
    this.waiting_ = 0;
    this.keepProcess();
  }

  protected isCompiling(): boolean {
    return this.compiling_ !== undefined;
  }

  private compile(compiling: boolean): void {
    clearTimeout(this.compiling_);
    this.compiling_ = compiling ? setTimeout(() => this.compile(false), patience.compiling).unref() : undefined;
    this.keepProcess();
    if (this.ended_ && !compiling) void this.worker_.terminate();
  }

  /** Requests that the worker frees everything. Returns false if the message cannot be sent. */
  protected tellEnd(): boolean {
    try {
      this.post({ kind: 'end' });
      return true;
    } catch {
      return false;
    }
  }
}

/** A worker that, before it ends, releases locks that other processes wait for. */
class LeavingWorker extends NodeWorker {
  override terminate(): void {
    this.tellEnd();
    this.letGo();
    setTimeout(() => super.terminate(), kFarewell).unref();
  }
}

/**
 * Returns an idle worker, or a new one. A worker without work waits for the next load: a new one would compile the engine again, and the C
 * library's allocator keeps some memory of ended threads.
 */
export async function takeNodeWorker(file: InstalledFile, uses: readonly InstalledFile[]): Promise<NodeWorker> {
  return (await ReusableWorker.take(file)) ?? new ReusableWorker(file, uses);
}

/** A worker that can become idle. At most one idle worker exists. */
class ReusableWorker extends NodeWorker {
  private static idle_: ReusableWorker | undefined;
  private readonly kind_: string;
  private hasLetGo_ = Promise.resolve(false);
  private timer_: ReturnType<typeof setTimeout> | undefined;

  constructor(file: InstalledFile, uses: readonly InstalledFile[]) {
    super(file, uses);
    this.kind_ = kindOf(file);
  }

  static async take(file: InstalledFile): Promise<ReusableWorker | undefined> {
    const worker = ReusableWorker.idle_;
    if (worker?.kind_ !== kindOf(file)) return undefined;
    worker.wake();
    worker.worker_.ref();
    const hasLetGo = await within(patience.lettingGo, worker.hasLetGo_).catch(() => false);
    worker.worker_.unref();
    if (hasLetGo) return worker;
    worker.terminate();
    return undefined;
  }

  release(isIdle: boolean): void {
    if (!this.tellEnd()) {
      this.terminate();
      return;
    }
    this.letGo();
    const staysIdle = isIdle && !this.isCompiling() && ReusableWorker.idle_ === undefined && patience.worker > 0;
    if (staysIdle) ReusableWorker.idle_ = this;
    this.endIn(staysIdle ? patience.worker : patience.lettingGo);
    this.hasLetGo_ = new Promise((resolve) => {
      this.onMessage(({ kind }) => {
        if (kind !== 'here') return;
        if (!staysIdle) this.endIn(kFarewell);
        resolve(true);
      });
      this.onDeath(() => {
        this.end();
        resolve(false);
      });
    });
  }

  private endIn(milliseconds: number): void {
    clearTimeout(this.timer_);
    this.timer_ = setTimeout(() => this.end(), milliseconds).unref();
  }

  private end(): void {
    this.wake();
    this.terminate();
  }

  private wake(): void {
    clearTimeout(this.timer_);
    if (ReusableWorker.idle_ === this) ReusableWorker.idle_ = undefined;
  }
}

/** Key of workers that are interchangeable: a worker keeps the environment of its start. */
function kindOf({ path }: InstalledFile): string {
  return JSON.stringify([path, process.env]);
}
