import type { Worker } from 'node:worker_threads';
import { type InstalledFile, newNodeWorker } from '../engine/installed_node.js';
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
  private waiting_ = 0; // number of answers that are pending; without any, the worker does not keep the process alive

  constructor(file: InstalledFile, uses: readonly InstalledFile[]) {
    this.worker_ = newNodeWorker(file, uses);
    this.worker_.unref();
    this.worker_.on('message', (message: WorkerMessage) => {
      if (message.kind !== 'progress' && message.kind !== 'here' && --this.waiting_ === 0) this.worker_.unref();
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
    if (message.kind === 'call' && this.waiting_++ === 0) this.worker_.ref();
  }

  onMessage(listener: (message: WorkerMessage) => void): void {
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
    this.worker_.unref();
    setTimeout(() => super.terminate(), kFarewell).unref();
  }
}
