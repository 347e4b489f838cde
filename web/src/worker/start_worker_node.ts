import type { Worker } from 'node:worker_threads';
import { type InstalledFile, newNodeWorker } from '../engine/installed_node.js';
import type { ProgressInfo } from '../progress.js';
import type { Verbs, VerbTable } from './host.js';
import { isAnswered, type WorkerMessage, type WorkerPort, type WorkerRequest } from './messages.js';

/** Time in milliseconds for an idle worker to remove its locks (cache/lock_node.ts) from disk. */
export const kFarewell = 500;

/** `file` is the worker's script. `uses` lists files of the package that it may need. */
export function startNodeWorker<S extends VerbTable<S> = Verbs, Progress = ProgressInfo>(
  file: InstalledFile,
  uses: readonly InstalledFile[],
): WorkerPort<S, Progress> {
  return new LeavingWorker<S, Progress>(file, uses);
}

export class NodeWorker<S extends VerbTable<S> = Verbs, Progress = ProgressInfo> implements WorkerPort<S, Progress> {
  protected readonly worker_: Worker;
  private hear_: (message: WorkerMessage<Progress>) => void = () => {};
  private die_: (reason: string) => void = () => {};
  private ended_ = false;
  private waiting_ = 0; // number of answers that are pending; without any, the worker does not keep the process alive

  constructor(file: InstalledFile, uses: readonly InstalledFile[]) {
    this.worker_ = newNodeWorker(file, uses);
    this.worker_.unref();
    this.worker_.on('message', (message: WorkerMessage<Progress>) => {
      if (message.kind !== 'progress' && message.kind !== 'here' && --this.waiting_ === 0) this.worker_.unref();
      this.hear_(message);
    });
    this.worker_.on('error', (error) => this.die_(error instanceof Error ? error.message : String(error)));
    this.worker_.on('messageerror', (error) => this.die_(error.message));
    this.worker_.on('exit', (code) => {
      if (!this.ended_) this.die_(`it exited with code ${code}.`);
    });
  }

  post(message: WorkerRequest<S>, transfer: (MessagePort | ArrayBuffer)[] = []): void {
    this.worker_.postMessage(message, transfer as never[]);
    if (isAnswered(message) && this.waiting_++ === 0) this.worker_.ref();
  }

  onMessage(listener: (message: WorkerMessage<Progress>) => void): void {
    this.hear_ = listener;
  }

  onDeath(listener: (reason: string) => void): void {
    this.die_ = listener;
  }

  terminate(): void {
    this.ended_ = true;
    void this.worker_.terminate();
  }

  /** Requests that the worker frees everything. Returns false if the message cannot be sent. */
  protected tellEnd(): boolean {
    try {
      this.post({ id: 0, verb: 'end' });
      return true;
    } catch {
      return false;
    }
  }
}

/** A worker that, before it ends, releases locks that other processes wait for. */
class LeavingWorker<S extends VerbTable<S>, Progress> extends NodeWorker<S, Progress> {
  override terminate(): void {
    this.tellEnd();
    this.worker_.unref();
    setTimeout(() => super.terminate(), kFarewell).unref();
  }
}
