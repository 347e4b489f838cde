// The two ends of a worker: RemoteHost in the caller's thread, serve() in the worker. Their messages are the verbs of host.ts.
import { describeError, fromPlainError, onAbort, PeruseError, type PlainError, throwIfAborted, toPlainError } from '../errors.js';
import type { ProgressInfo } from '../progress.js';
import type { SourceSpec } from '../sources/source.js';
import { buffersOf } from '../tasks/results.js';
import { type HostOf, LocalHost, type ServedHost, type Verbs, type VerbTable } from './host.js';
import type { Runtime } from './runtime.js';

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

interface Pending {
  member: number;
  resolve: (reply: never) => void;
  reject: (error: PeruseError) => void;
}

/** A worker and the pipelines in it. The worker ends with the last of them. */
class Link<S extends VerbTable<S>, Progress> {
  private static members_ = 0; // numbers of all links: an idle worker's next link must ignore answers to its last one
  private readonly pending_ = new Map<number, Pending>();
  private readonly members_ = new Map<number, (progress: Progress) => void>();
  private nextId_ = 1;
  over: PeruseError | undefined;

  constructor(private readonly port_: WorkerPort<S, Progress>) {
    port_.onMessage((message) => this.receive(message));
    port_.onDeath((reason) => this.end(new PeruseError('worker_died', `The worker stopped: ${reason}`)));
  }

  join(report: (progress: Progress) => void): number {
    const member = Link.members_++;
    this.members_.set(member, report);
    return member;
  }

  leave(member: number, error: PeruseError): void {
    this.members_.delete(member);
    if (this.members_.size === 0) {
      const isIdle = this.pending_.size === 0;
      this.end(error, this.port_.release && (() => this.port_.release!(isIdle)));
      return;
    }
    for (const [id, pending] of this.pending_) {
      if (pending.member !== member) continue;
      pending.reject(error);
      this.pending_.delete(id);
    }
    this.send({ id: 0, member, verb: 'leave' });
  }

  async call<V extends keyof S>(member: number, verb: V, request: S[V]['takes'], signal?: AbortSignal): Promise<S[V]['gives']> {
    if (this.over) throw this.over;
    throwIfAborted(signal);
    const id = this.nextId_++;
    const cancel = () => this.send({ id, verb: 'cancel' });
    const unfollow = signal && onAbort(signal, cancel);
    try {
      return await new Promise((resolve, reject) => {
        this.pending_.set(id, { member, resolve: resolve as Pending['resolve'], reject });
        this.post({ id, member, verb, request } as WorkerCall<S>);
      });
    } finally {
      unfollow?.();
      this.pending_.delete(id);
    }
  }

  private post(call: WorkerCall<S>): void {
    try {
      this.port_.post(call, handedOver(call.request));
    } catch (error) {
      const why = describeError(error);
      // Without memory for a copy of a buffer, engines only report that it could not be cloned.
      const isTooLarge = error instanceof RangeError || (/ArrayBuffer.* could not be cloned/.test(why) && !/detached/.test(why));
      const code = isTooLarge ? 'out_of_memory' : 'invalid_argument';
      throw new PeruseError(code, `The request can't be sent to the worker: ${why}`, { cause: error });
    }
  }

  /** Sends a message whose loss is harmless: errors are ignored. */
  private send(wish: WorkerRequest<S>): void {
    try {
      if (!this.over) this.port_.post(wish);
    } catch {}
  }

  private receive(message: WorkerMessage<Progress>): void {
    if (message.kind === 'here' || message.kind === 'prepared') return;
    if (message.kind === 'progress') {
      if (!this.over) this.members_.get(message.member)?.(message.progress);
      return;
    }
    const pending = this.pending_.get(message.id);
    if (!pending) return; // the call has failed meanwhile
    if (message.kind === 'reply') {
      pending.resolve(message.reply as never);
      return;
    }
    pending.reject(fromPlainError(message.error));
    if (message.error.code === 'worker_died') this.end(fromPlainError(message.error));
  }

  private end(error: PeruseError, letGo = () => this.port_.terminate()): void {
    if (this.over) return;
    this.over = error;
    letGo();
    for (const { reject } of this.pending_.values()) reject(error);
    this.pending_.clear();
  }
}

export class RemoteHost<S extends VerbTable<S> = Verbs, Progress = ProgressInfo> implements HostOf<S> {
  private readonly member_: number;
  private left_: PeruseError | undefined;
  private readonly link_: Link<S, Progress>;

  constructor(worker: WorkerPort<S, Progress> | RemoteHost<S, Progress>, report: (progress: Progress) => void) {
    this.link_ = worker instanceof RemoteHost ? worker.link_ : new Link(worker);
    this.member_ = this.link_.join(report);
  }

  fork(report: (progress: Progress) => void): RemoteHost<S, Progress> {
    return new RemoteHost(this, report);
  }

  usable(): boolean {
    return this.link_.over === undefined;
  }

  async call<V extends keyof S>(verb: V, request: S[V]['takes'], signal?: AbortSignal): Promise<S[V]['gives']> {
    if (this.left_) throw this.left_;
    return this.link_.call(this.member_, verb, request, signal);
  }

  dispose(): void {
    if (this.left_) return;
    this.left_ = new PeruseError('aborted', 'The pipeline was disposed of.');
    this.link_.leave(this.member_, this.left_);
  }
}

type Sources = Partial<Record<'source' | 'adapter' | 'encoder' | 'labelsEncoder', SourceSpec>>;

function handedOver(request: unknown): (MessagePort | ArrayBuffer)[] {
  if (typeof request !== 'object' || request === null || !('source' in request)) return [];
  const { source, adapter, encoder, labelsEncoder } = request as Sources;
  return [source, adapter, encoder, labelsEncoder].flatMap((spec) => (spec ? memoryOf(spec) : []));
}

function memoryOf(source: SourceSpec): (MessagePort | ArrayBuffer)[] {
  return source.kind === 'port' ? [source.port] : source.kind === 'bytes' ? (source.own ?? []) : [];
}

export function serve(
  post: (message: WorkerMessage, transfer?: ArrayBuffer[]) => void,
  onRequest: (listener: (request: WorkerRequest) => void) => void,
  runtime: Runtime,
  close?: (isClean: boolean) => void | Promise<void>,
): void {
  const makeHost = (report: (progress: ProgressInfo) => void, other?: LocalHost) => other?.fork(report) ?? new LocalHost(report, runtime);
  serveHosts<Verbs, ProgressInfo, LocalHost>(post, onRequest, makeHost, close);
}

/**
 * The worker's end: answers every call with one message. `post` sends it and transfers the memory in `transfer`. `makeHost` makes a host for
 * each pipeline; `other` is another pipeline's host, if any. `close` is called when the caller has ended all work; `isClean` means that all
 * memory was freed.
 */
export function serveHosts<S extends VerbTable<S>, Progress, H extends ServedHost<S> = ServedHost<S>>(
  post: (message: WorkerMessage<Progress>, transfer?: ArrayBuffer[]) => void,
  onRequest: (listener: (request: WorkerRequest<S>) => void) => void,
  makeHost: (report: (progress: Progress) => void, other: H | undefined) => H,
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
  const answer = async ({ id, member, verb, request }: WorkerCall<S>, controller: AbortController) => {
    try {
      const reply = await hostOf(member).call(verb, request, controller.signal);
      post({ kind: 'reply', id, reply }, buffersOf(reply));
    } catch (error) {
      post({ kind: 'error', id, error: toPlainError(error) });
    } finally {
      running.delete(id);
    }
  };
  const end = async () => {
    let isClean = false;
    try {
      for (const { controller } of running.values()) controller.abort();
      const ending = [...hosts.values()];
      hosts.clear();
      for (const host of ending) host.dispose(); // throws if an engine is broken
      await Promise.all([...running.values()].map(({ answered }) => answered));
      // An engine that is still starting would wait forever for threads that end before.
      await Promise.all([left, ...ending.map((host) => host.ended())]);
      isClean = true;
    } finally {
      await close(isClean);
    }
  };
  onRequest((message) => {
    // rejects if an engine is broken; `close` has then received isClean = false
    if (message.verb === 'end') return void end().catch(() => {});
    if (message.verb === 'cancel') return running.get(message.id)?.controller.abort();
    if (message.verb === 'leave') {
      const { member } = message as { member: number };
      const host = hosts.get(member);
      hosts.delete(member);
      host?.dispose();
      left = Promise.all([left, host?.ended()]);
      return;
    }
    const call = message as WorkerCall<S>;
    const controller = new AbortController();
    const entry = { controller, answered: Promise.resolve() };
    running.set(call.id, entry);
    entry.answered = answer(call, controller);
  });
}
