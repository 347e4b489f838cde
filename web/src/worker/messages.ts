// The messages between a RemoteHost and its worker (serve.ts).
import type { PlainError } from '../errors.js';
import type { ProgressInfo } from '../progress.js';
import type { Verbs, VerbTable } from './host.js';

/** A message to the worker: a verb for one of its pipelines, the cancellation of an earlier one, or the end of a pipeline or the worker. */
export type WorkerCall<S extends VerbTable<S> = Verbs> = {
  [V in keyof S]: { id: number; member: number; verb: V; request: S[V]['takes'] };
}[keyof S];
export type WorkerRequest<S extends VerbTable<S> = Verbs> =
  | WorkerCall<S>
  | { id: number; verb: 'cancel' }
  | { id: number; member: number; verb: 'leave' }
  | { id: number; verb: 'end' };

export function isAnswered({ verb }: { verb: PropertyKey }): boolean {
  return verb !== 'cancel' && verb !== 'leave' && verb !== 'end';
}

export type WorkerMessage<Progress = ProgressInfo> =
  | { kind: 'reply'; id: number; reply: unknown }
  | { kind: 'error'; id: number; error: PlainError }
  | { kind: 'progress'; member: number; progress: Progress }
  /** A browser's worker sends it when it has started; Node's when it has freed everything and is idle. */
  | { kind: 'here' }
  /** In a browser: the requested threads have started. */
  | { kind: 'prepared' };

export interface WorkerPort<S extends VerbTable<S> = Verbs, Progress = ProgressInfo> {
  post(message: WorkerRequest<S>, transfer?: (MessagePort | ArrayBuffer)[]): void;
  onMessage(listener: (message: WorkerMessage<Progress>) => void): void;
  /** Calls the listener at most once, with the reason, if the worker stops by itself. */
  onDeath(listener: (reason: string) => void): void;
  terminate(): void;
  /** Replaces terminate() if the worker can be reused. `isIdle` means that no call is running. */
  release?(isIdle: boolean): void;
}
