// The caller's end of a worker: calls by name, with plain data.
import { describeError, fromSentError, onAbort, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import type { SourceSpec } from '../sources/source.js';
import type { Host, Verb, Verbs } from './host.js';
import type { WorkerMessage, WorkerPort, WorkerRequest } from './messages.js';

/** Receives the progress of a member, which has the type that its worker sends. */
type Report = (progress: never) => void;

interface Pending {
  member: number;
  resolve: (reply: unknown) => void;
  reject: (error: PeruseError) => void;
}

/** A worker and its members. The worker ends with the last of them. */
class Link {
  private static members_ = 0; // numbers of all links: an idle worker's next link must ignore answers to its last one
  private readonly pending_ = new Map<number, Pending>();
  private readonly members_ = new Map<number, Report>();
  private nextId_ = 1;
  over: PeruseError | undefined;

  constructor(private readonly port_: WorkerPort) {
    port_.onMessage((message) => this.receive(message));
    port_.onDeath((reason) => this.end(new PeruseError('worker_died', `The worker stopped: ${reason}`)));
  }

  join(report: Report): number {
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
    this.send({ kind: 'leave', member });
  }

  async call(member: number, verb: string, request: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.over) throw this.over;
    throwIfAborted(signal);
    const id = this.nextId_++;
    const cancel = () => this.send({ kind: 'cancel', id });
    const unfollow = signal && onAbort(signal, cancel);
    try {
      return await new Promise((resolve, reject) => {
        this.pending_.set(id, { member, resolve, reject });
        this.post({ kind: 'call', id, member, verb, request }, handedOver(request));
      });
    } finally {
      unfollow?.();
      this.pending_.delete(id);
    }
  }

  private post(call: WorkerRequest, transfer: (MessagePort | ArrayBuffer)[]): void {
    try {
      this.port_.post(call, transfer);
    } catch (error) {
      const why = describeError(error);
      // Without memory for a copy of a buffer, engines only report that it could not be cloned.
      const isTooLarge = error instanceof RangeError || (/ArrayBuffer.* could not be cloned/.test(why) && !/detached/.test(why));
      const code = isTooLarge ? 'out_of_memory' : 'invalid_argument';
      throw new PeruseError(code, `The request can't be sent to the worker: ${why}`, { cause: error });
    }
  }

  /** Sends a message whose loss is harmless: errors are ignored. */
  private send(wish: WorkerRequest): void {
    try {
      if (!this.over) this.port_.post(wish);
    } catch {}
  }

  private receive(message: WorkerMessage): void {
    if (message.kind === 'here' || message.kind === 'prepared') return;
    if (message.kind === 'progress') {
      if (!this.over) this.members_.get(message.member)?.(message.progress as never);
      return;
    }
    const pending = this.pending_.get(message.id);
    if (!pending) return; // the call has failed meanwhile
    if (message.kind === 'reply') {
      pending.resolve(message.reply);
      return;
    }
    pending.reject(fromSentError(message.error));
    if (message.error.code === 'worker_died') this.end(fromSentError(message.error));
  }

  private end(error: PeruseError, letGo = () => this.port_.terminate()): void {
    if (this.over) return;
    this.over = error;
    letGo();
    for (const { reject } of this.pending_.values()) reject(error);
    this.pending_.clear();
  }
}

/** A member of a worker: a new worker's first, or one more of another member's worker. */
export class Remote {
  private readonly member_: number;
  private left_: PeruseError | undefined;
  private readonly link_: Link;

  constructor(worker: WorkerPort | Remote, report: Report) {
    this.link_ = worker instanceof Remote ? worker.link_ : new Link(worker);
    this.member_ = this.link_.join(report);
  }

  usable(): boolean {
    return this.link_.over === undefined;
  }

  async call(verb: string, request: unknown, signal?: AbortSignal): Promise<unknown> {
    if (this.left_) throw this.left_;
    return this.link_.call(this.member_, verb, request, signal);
  }

  dispose(): void {
    if (this.left_) return;
    this.left_ = new PeruseError('aborted', 'The pipeline was disposed of.');
    this.link_.leave(this.member_, this.left_);
  }
}

/** A pipeline in a worker. */
export class RemoteHost extends Remote implements Host {
  fork(report: ProgressCallback): RemoteHost {
    return new RemoteHost(this, report);
  }

  override call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> {
    return super.call(verb, request, signal) as Promise<Verbs[V]['gives']>;
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
