// Reuses idle workers in Node: a worker without work waits for the next load. A new worker would compile the engine again, and the C
// library's allocator keeps some memory of ended threads.
import type { InstalledFile } from '../engine/installed_node.js';
import { patience, within } from '../patience.js';
import { kFarewell, NodeWorker } from './start_worker_node.js';

/** Returns an idle worker, or a new one (startNodeWorker). */
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
    this.worker_.unref();
    const staysIdle = isIdle && ReusableWorker.idle_ === undefined && patience.worker > 0;
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
