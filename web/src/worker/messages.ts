// The messages between a Remote and its worker (serve.ts).
import type { SentError } from '../errors.js';
import type { Port } from '../web_types.js';
import type { Turn } from './turns.js';

/** A message to the worker: a call of one of its members, the cancellation of a call, or the end of a member or of the worker. */
export type WorkerRequest =
  | { kind: 'call'; id: number; member: number; verb: string; request: unknown; turn?: Turn | undefined }
  | { kind: 'cancel'; id: number }
  | { kind: 'leave'; member: number }
  | { kind: 'end' };

export type WorkerMessage =
  | { kind: 'reply'; id: number; reply: unknown }
  | { kind: 'error'; id: number; error: SentError }
  | { kind: 'progress'; member: number; progress: unknown }
  /** A browser's worker sends it when it has started; Node's when it has freed everything and is idle. */
  | { kind: 'here' }
  /** In a browser: the requested threads have started. */
  | { kind: 'prepared' }
  /** In Node: a GPU compiles pipelines, or has compiled all (gpu_node.ts). */
  | { kind: 'compiling'; compiling: boolean };

export interface WorkerPort {
  post(message: WorkerRequest, transfer?: (Port | ArrayBuffer)[]): void;
  onMessage(listener: (message: WorkerMessage) => void): void;
  /** Calls the listener at most once, with the reason, if the worker stops by itself. */
  onDeath(listener: (reason: string) => void): void;
  terminate(): void;
  /** Replaces terminate() if the worker can be reused. `isIdle` means that no call is running. */
  release?(isIdle: boolean): void;
}
