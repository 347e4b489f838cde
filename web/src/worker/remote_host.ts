// The caller's end of a worker.
import { describeError, fromPlainError, onAbort, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressInfo } from '../progress.js';
import type { SourceSpec } from '../sources/source.js';
import type { HostOf, Verbs, VerbTable } from './host.js';
import type { WorkerCall, WorkerMessage, WorkerPort, WorkerRequest } from './messages.js';

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
