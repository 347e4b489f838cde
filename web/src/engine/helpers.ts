// The engine's threads. A worker of the package becomes one if its first message is the loader's 'load' with build and shared memory.
import type { HelperWorker, ModuleFactory } from './engine.js';

export function isForHelper(message: unknown): boolean {
  return (message as { cmd?: unknown } | null)?.cmd === 'load';
}

/** Makes this worker a thread of the engine: the loader recognises a thread by the worker's name. */
export function becomeHelper(glue: ModuleFactory<never>, first: { data: unknown }): void {
  const scope = globalThis as unknown as { name: string; onmessage: (event: { data: unknown }) => void };
  Object.defineProperty(scope, 'name', { value: 'em-pthread', configurable: true, writable: true });
  void glue({} as Parameters<typeof glue>[0]);
  scope.onmessage(first);
}

export class Helper implements HelperWorker {
  onmessage: HelperWorker['onmessage'] = null;
  onerror: HelperWorker['onerror'] = null;
  private isLoaded_ = false;
  private failure_: string | undefined;
  private onFailure_: ((reason: string) => void) | undefined;
  private start_: () => void = () => {};
  /** Resolves when the worker has sent its first message, or has failed. */
  readonly started = new Promise<void>((resolve) => {
    this.start_ = resolve;
  });

  constructor(
    readonly postMessage: (message: unknown) => void,
    readonly terminate: () => void,
    private readonly onLoaded_: () => void = () => {},
  ) {}

  onFailure(listener: (reason: string) => void): void {
    this.onFailure_ = listener;
    if (this.failure_ !== undefined) listener(this.failure_);
  }

  receive(data: unknown): void {
    this.start_();
    if ((data as { cmd?: unknown }).cmd === 'loaded') {
      this.isLoaded_ = true;
      this.onLoaded_();
    }
    this.onmessage?.({ data });
  }

  /** Reports a failure, because the loader would otherwise wait for the thread forever. */
  fail(error: { message: string }): void {
    this.start_();
    if (this.isLoaded_) {
      this.onerror?.(error);
      return;
    }
    this.failure_ = error.message || 'its script could not be loaded';
    this.onFailure_?.(this.failure_);
  }
}
