// The two ends of a worker: RemoteHost on the caller's side, serve() on the worker's. Both speak the verbs of host.ts.
import { describe, fromPlainError, onAbort, PeruseError, throwIfAborted, toPlainError, type PlainError } from '../errors.js';
import { LocalHost, type Host, type HostParts, type Verb, type Verbs } from './host.js';
import { buffersOf } from '../tasks/results.js';
import type { ProgressCallback, ProgressInfo } from '../progress.js';
import type { SourceSpec } from '../sources/source.js';

/** To the worker: a verb, or the wish to stop an earlier one. */
export type WorkerCall = { [V in Verb]: { id: number; verb: V; request: Verbs[V]['takes'] } }[Verb];
export type WorkerRequest = WorkerCall | { id: number; verb: 'cancel' };

/** From the worker. */
export type WorkerMessage =
  | { kind: 'reply'; id: number; reply: unknown }
  | { kind: 'error'; id: number; error: PlainError }
  | { kind: 'progress'; progress: ProgressInfo }
  /** The first: the worker runs. */
  | { kind: 'here' };

/** A started worker, whatever the platform. */
export interface WorkerPort {
  /** `transfer`: what the worker is to own from now on. */
  post(message: WorkerRequest, transfer?: (MessagePort | ArrayBuffer)[]): void;
  onMessage(listener: (message: WorkerMessage) => void): void;
  /** Called at most once, with the reason, if the worker stops by itself. */
  onDeath(listener: (reason: string) => void): void;
  terminate(): void;
}

interface Pending {
  resolve: (reply: never) => void;
  reject: (error: PeruseError) => void;
}

export class RemoteHost implements Host {
  private readonly pending_ = new Map<number, Pending>();
  private nextId_ = 1;
  private over_: PeruseError | undefined;

  constructor(
    private readonly port_: WorkerPort,
    private readonly report_: ProgressCallback,
  ) {
    port_.onMessage((message) => this.receive(message));
    port_.onDeath((reason) => this.end(new PeruseError('worker_died', `The worker stopped: ${reason}`)));
  }

  async call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> {
    if (this.over_) throw this.over_;
    throwIfAborted(signal);
    const id = this.nextId_++;
    const cancel = () => {
      try {
        if (!this.over_) this.port_.post({ id, verb: 'cancel' });
      } catch {
        // The caller is told all the same; the worker goes on in vain.
      }
    };
    const unfollow = signal && onAbort(signal, cancel);
    try {
      return await new Promise((resolve, reject) => {
        this.pending_.set(id, { resolve: resolve as Pending['resolve'], reject });
        this.post({ id, verb, request } as WorkerCall);
      });
    } finally {
      unfollow?.();
      this.pending_.delete(id);
    }
  }

  dispose(): void {
    this.end(new PeruseError('aborted', 'The pipeline was disposed of.'));
  }

  private post(call: WorkerCall): void {
    try {
      this.port_.post(call, handedOver(call));
    } catch (error) {
      throw new PeruseError('invalid_argument', `The request can't be sent to the worker: ${describe(error)}`, { cause: error });
    }
  }

  private receive(message: WorkerMessage): void {
    if (message.kind === 'here') return;
    if (message.kind === 'progress') {
      if (!this.over_) this.report_(message.progress);
      return;
    }
    const pending = this.pending_.get(message.id);
    if (!pending) return; // Its caller has been told already.
    if (message.kind === 'reply') {
      pending.resolve(message.reply as never);
      return;
    }
    pending.reject(fromPlainError(message.error));
    if (message.error.code === 'worker_died') this.end(fromPlainError(message.error));
  }

  /** Ends the worker and tells everybody who waits. */
  private end(error: PeruseError): void {
    if (this.over_) return;
    this.over_ = error;
    this.port_.terminate();
    for (const { reject } of this.pending_.values()) reject(error);
    this.pending_.clear();
  }
}

function handedOver(call: WorkerCall): (MessagePort | ArrayBuffer)[] {
  if (call.verb !== 'load') return [];
  const { source, adapter, encoder, labelsEncoder } = call.request;
  return [source, adapter, encoder, labelsEncoder].flatMap((spec) => (spec ? memoryOf(spec) : []));
}

function memoryOf(source: SourceSpec): (MessagePort | ArrayBuffer)[] {
  return source.kind === 'port' ? [source.port] : source.kind === 'bytes' ? (source.own ?? []) : [];
}

/** The worker's end: answers every call with one message. `post` hands over the memory that `transfer` names. */
export function serve(
  post: (message: WorkerMessage, transfer?: ArrayBuffer[]) => void,
  onRequest: (listener: (request: WorkerRequest) => void) => void,
  parts: HostParts,
): void {
  const report: ProgressCallback = (progress) => post({ kind: 'progress', progress });
  const host = new LocalHost(report, parts);
  const running = new Map<number, AbortController>();
  onRequest(async (message) => {
    if (message.verb === 'cancel') {
      running.get(message.id)?.abort();
      return;
    }
    const { id, verb, request } = message;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const reply = await host.call(verb, request, controller.signal);
      post({ kind: 'reply', id, reply }, buffersOf(reply));
    } catch (error) {
      post({ kind: 'error', id, error: toPlainError(error) });
    } finally {
      running.delete(id);
    }
  });
}
