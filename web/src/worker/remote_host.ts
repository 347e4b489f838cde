// The caller's end of a worker: calls by name, with plain data.
import { describeError, fromSentError, onAbort, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import type { SourceSpec } from '../sources/source.js';
import type { Host, Verb, Verbs } from './host.js';
import type { WorkerMessage, WorkerPort, WorkerRequest } from './messages.js';
import type { Turn } from './turns.js';

/** Receives the progress of a member, which has the type that its worker sends. */
type Report = (progress: never) => void;

interface Pending {
  member: number;
  resolve: (reply: unknown) => void;
  reject: (error: PeruseError) => void;
}

/** A worker and its members. The worker ends with the last of them. */
class Link {
  static #nextMember = 0; // numbers of all links: an idle worker's next link must ignore answers to its last one
  readonly #port: WorkerPort;
  readonly #pending = new Map<number, Pending>();
  readonly #unanswered = new Set<number>(); // calls that the worker may still be running
  readonly #members = new Map<number, Report>();
  #nextId = 1;
  over: PeruseError | undefined;

  constructor(port: WorkerPort) {
    this.#port = port;
    port.onMessage((message) => this.#receive(message));
    port.onDeath((reason) => this.#end(new PeruseError('worker_died', `The worker stopped: ${reason}`)));
  }

  join(report: Report): number {
    const member = Link.#nextMember++;
    this.#members.set(member, report);
    return member;
  }

  leave(member: number, error: PeruseError): void {
    this.#members.delete(member);
    if (this.#members.size === 0) {
      const isIdle = this.#unanswered.size === 0;
      this.#end(error, this.#port.release && (() => this.#port.release!(isIdle)));
      return;
    }
    for (const [id, pending] of this.#pending) {
      if (pending.member !== member) continue;
      pending.reject(error);
      this.#pending.delete(id);
    }
    this.#send({ kind: 'leave', member });
  }

  async call(member: number, verb: string, request: unknown, signal?: AbortSignal, turn?: Turn): Promise<unknown> {
    if (this.over) throw this.over;
    throwIfAborted(signal);
    const id = this.#nextId++;
    const cancel = () => this.#send({ kind: 'cancel', id });
    const unfollow = signal && onAbort(signal, cancel);
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { member, resolve, reject });
        this.#unanswered.add(id);
        this.#post({ kind: 'call', id, member, verb, request, turn }, handedOver(request));
      });
    } finally {
      unfollow?.();
      this.#pending.delete(id);
    }
  }

  #post(call: WorkerRequest, transfer: (MessagePort | ArrayBuffer)[]): void {
    try {
      this.#port.post(call, transfer);
    } catch (error) {
      if (call.kind === 'call') this.#unanswered.delete(call.id);
      const why = describeError(error);
      // Without memory for a copy of a buffer, engines only report that it could not be cloned.
      const isTooLarge = error instanceof RangeError || (/ArrayBuffer.* could not be cloned/.test(why) && !/detached/.test(why));
      const code = isTooLarge ? 'out_of_memory' : 'invalid_argument';
      throw new PeruseError(code, `The request can't be sent to the worker: ${why}`, { cause: error });
    }
  }

  /** Sends a message whose loss is harmless: errors are ignored. */
  #send(wish: WorkerRequest): void {
    try {
      if (!this.over) this.#port.post(wish);
    } catch {}
  }

  #receive(message: WorkerMessage): void {
    if (message.kind === 'here' || message.kind === 'prepared' || message.kind === 'compiling') return;
    if (message.kind === 'progress') {
      if (!this.over) this.#members.get(message.member)?.(message.progress as never);
      return;
    }
    this.#unanswered.delete(message.id);
    const pending = this.#pending.get(message.id);
    if (!pending) return; // the call has failed meanwhile
    if (message.kind === 'reply') {
      pending.resolve(message.reply);
      return;
    }
    pending.reject(fromSentError(message.error));
    if (message.error.code === 'worker_died') this.#end(fromSentError(message.error));
  }

  #end(error: PeruseError, letGo = () => this.#port.terminate()): void {
    if (this.over) return;
    this.over = error;
    letGo();
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}

/** A member of a worker: a new worker's first, or one more of another member's worker. */
export class Remote {
  readonly #link: Link;
  readonly #member: number;
  #left: PeruseError | undefined;

  constructor(worker: WorkerPort | Remote, report: Report) {
    this.#link = worker instanceof Remote ? worker.#link : new Link(worker);
    this.#member = this.#link.join(report);
  }

  usable(): boolean {
    return this.#link.over === undefined;
  }

  async call(verb: string, request: unknown, signal?: AbortSignal, turn?: Turn): Promise<unknown> {
    if (this.#left) throw this.#left;
    return this.#link.call(this.#member, verb, request, signal, turn);
  }

  dispose(): void {
    if (this.#left) return;
    this.#left = new PeruseError('aborted', 'The pipeline was disposed of.');
    this.#link.leave(this.#member, this.#left);
  }
}

/** A task of a model in a worker. */
export class RemoteHost extends Remote implements Host {
  another(report: ProgressCallback): RemoteHost {
    return new RemoteHost(this, report);
  }

  override call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal, turn?: Turn): Promise<Verbs[V]['gives']> {
    return super.call(verb, request, signal, turn) as Promise<Verbs[V]['gives']>;
  }
}

type Sources = Partial<Record<'source' | 'adapter' | 'encoder' | 'labelsEncoder' | 'generator', SourceSpec> & { port: MessagePort }>;

function handedOver(request: unknown): (MessagePort | ArrayBuffer)[] {
  if (typeof request !== 'object' || request === null || !('source' in request)) return [];
  const { source, adapter, encoder, labelsEncoder, generator, port } = request as Sources;
  const memory = [source, adapter, encoder, labelsEncoder, generator].flatMap((spec) => (spec ? memoryOf(spec) : []));
  return port ? [...memory, port] : memory;
}

function memoryOf(source: SourceSpec): (MessagePort | ArrayBuffer)[] {
  if (source.kind === 'either') return [...memoryOf(source.first), ...memoryOf(source.second)];
  if (source.kind === 'url') return source.fetch ? [source.fetch] : [];
  return source.kind === 'port' ? [source.port] : source.kind === 'bytes' ? (source.own ?? []) : [];
}
