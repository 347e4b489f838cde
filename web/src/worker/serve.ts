// The worker's end: runs the calls that a Remote sends.
import { toSentError } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { buffersOf } from '../tasks/results.js';
import { LocalHost } from './local_host.js';
import type { WorkerMessage, WorkerRequest } from './messages.js';
import type { EngineRuntime } from './runtime.js';
import type { Turn } from './turns.js';

type WorkerCall = WorkerRequest & { kind: 'call' };

/** What the worker does for a member: calls by name. */
export interface Served {
  call(verb: string, request: unknown, signal?: AbortSignal, turn?: Turn): Promise<unknown>;
  dispose(): void;
  /** Resolves when engines that were still starting at dispose() have ended. */
  ended(): Promise<void>;
}

export function serve(
  post: (message: WorkerMessage, transfer?: ArrayBuffer[]) => void,
  onRequest: (listener: (request: WorkerRequest) => void) => void,
  runtime: EngineRuntime,
  close?: (isClean: boolean) => void | Promise<void>,
): void {
  serveMembers(post, onRequest, hostsWith(runtime), close);
}

/** Makes the host of a member; `other` is that of another member, if there is one. */
export type MakeHost<H> = (report: (progress: unknown) => void, other: H | undefined) => H;

export function hostsWith(runtime: EngineRuntime): MakeHost<LocalHost> {
  return (report: ProgressCallback, other) => other?.another(report) ?? new LocalHost(report, runtime);
}

/**
 * The worker's end: answers every call with one message. `post` sends it and transfers the memory in `transfer`. `makeHost` makes a host for
 * each member; `other` is another member's host, if any. `close` is called when the caller has ended all work; `isClean` means that all
 * memory was freed.
 */
export function serveMembers<H extends Served>(
  post: (message: WorkerMessage, transfer?: ArrayBuffer[]) => void,
  onRequest: (listener: (request: WorkerRequest) => void) => void,
  makeHost: MakeHost<H>,
  close: (isClean: boolean) => void | Promise<void> = () => {},
): void {
  const hosts = new Map<number, H>();
  let left: Promise<unknown> = Promise.resolve(); // the ends of hosts that have left
  const hostOf = (member: number): H => {
    const known = hosts.get(member);
    if (known) return known;
    const [other] = hosts.values();
    const made = makeHost((progress) => post({ kind: 'progress', member, progress }), other);
    hosts.set(member, made);
    return made;
  };
  const running = new Map<number, { controller: AbortController; answered: Promise<void> }>();
  const answer = async ({ id, member, verb, request, turn }: WorkerCall, controller: AbortController) => {
    try {
      const reply = await hostOf(member).call(verb, request, controller.signal, turn);
      post({ kind: 'reply', id, reply }, buffersOf(reply));
    } catch (error) {
      post({ kind: 'error', id, error: toSentError(error) });
    } finally {
      running.delete(id);
    }
  };
  /** Ends all work. Returns whether all memory was freed: false if an engine is broken. */
  const end = async (): Promise<boolean> => {
    try {
      for (const { controller } of running.values()) controller.abort();
      const ending = [...hosts.values()];
      hosts.clear();
      for (const host of ending) host.dispose();
      await Promise.all([...running.values()].map(({ answered }) => answered));
      // An engine that is still starting would wait forever for threads that end before.
      await Promise.all([left, ...ending.map((host) => host.ended())]);
      return true;
    } catch {
      return false;
    }
  };
  onRequest((message) => {
    if (message.kind === 'end') return void end().then(close); // an error of `close` stays visible: nothing catches it
    if (message.kind === 'cancel') return running.get(message.id)?.controller.abort();
    if (message.kind === 'leave') {
      const { member } = message;
      const host = hosts.get(member);
      hosts.delete(member);
      host?.dispose();
      left = Promise.all([left, host?.ended()]);
      return;
    }
    const controller = new AbortController();
    const entry = { controller, answered: Promise.resolve() };
    running.set(message.id, entry);
    entry.answered = answer(message, controller);
  });
}
