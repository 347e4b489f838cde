// The C++ engine as TypeScript sees it: the Embind surface of bindings/, and a synchronous class over it.
// This file is TypeScript's only side of that contract.
import { describe, PeruseError, type ErrorCode } from './errors.js';
import { wellFormed } from './text.js';

/** What the module that Emscripten makes (web/wasm/peruse-<variant>.mjs) resolves to. */
export interface EngineModule {
  /** The engine's memory. Growing replaces it: read the property again after every call. */
  HEAPU8: Uint8Array;
  Session: new (threads: number) => Session;
  /** The thread variants' workers (Emscripten's own object). */
  PThread?: { terminateAllThreads(): void };
}

/** The module's default export. */
export type EngineModuleFactory = (options: {
  print: (line: string) => void;
  printErr: (line: string) => void;
  /** Workers to start before the module is ready (thread variants). */
  pthreadPoolSize: number;
}) => Promise<EngineModule>;

/**
 * One model with its tokenizer. Every method but reserve() and delete() returns JSON: `{"ok":true,...}` or
 * `{"ok":false,"code","message"}`. Methods that take `bytes` read that many from the start of the staging buffer.
 */
export interface Session {
  /** Makes room for that many bytes and says where; 0 if there is no memory. */
  reserve(bytes: number): number;
  addFile(name: string, bytes: number): string;
  open(bytes: number): string;
  feedWeights(bytes: number): string;
  finishWeights(): string;
  start(bytes: number): string;
  step(): string;
  finish(): string;
  delete(): void;
}

export interface OpenRequest {
  task: string;
  /** 'f32', 'f16' or 'q8'. */
  dtype: string;
}

/** What the engine says of the weights that it took. */
export interface WeightReport {
  /** The configuration's class, for example 'DebertaV2ForQuestionAnswering'. */
  architecture: string;
  /** How many tensors of the file are in use, and those of the task's head by name. */
  tensors: number;
  headTensors: string[];
  /** Tensors of the file that the task does not need. */
  extraTensors: string[];
  /** Bytes of the weights as held. */
  weightBytes: number;
}

/** One input of a task, as core/tasks describes it. */
export type EngineInput = Record<string, string | readonly string[]>;

export interface RunRequest {
  inputs: EngineInput[];
  options: Record<string, unknown>;
}

type Reply = { ok: true } & Record<string, unknown>;

/**
 * The engine's verbs, synchronous. Order: addFile (config.json, tokenizer files), open, feedWeights (in the file's order),
 * finishWeights; then, for each request, start, step until it says false, finish. Throws PeruseError; 'worker_died' says that
 * the engine itself broke and takes no more calls.
 */
export class Engine {
  protected readonly session_: Session;
  private broken_: string | undefined;

  constructor(
    protected readonly module_: EngineModule,
    threads: number,
    /** The engine's last words, which say more than the trap that follows them. */
    private readonly lastWords_: () => string = () => '',
  ) {
    this.session_ = this.guard(() => new module_.Session(threads));
  }

  addFile(name: string, content: Uint8Array): void {
    this.stage(content, name);
    this.call(() => this.session_.addFile(name, content.length));
  }

  open(request: OpenRequest): void {
    const bytes = this.stageJson(request);
    this.call(() => this.session_.open(bytes));
  }

  /** This and the other calls that compute give a promise on a GPU (gpu/gpu_engine.ts): wait for it. */
  feedWeights(chunk: Uint8Array): void | Promise<void> {
    this.stage(chunk, 'the weights');
    this.call(() => this.session_.feedWeights(chunk.length));
  }

  finishWeights(): WeightReport | Promise<WeightReport> {
    return this.call(() => this.session_.finishWeights()).report as WeightReport;
  }

  /** Begins a request, and forgets what is left of an earlier one. */
  start(request: RunRequest): void {
    const bytes = this.stageJson(request);
    this.call(() => this.session_.start(bytes));
  }

  /** Runs one batch; true while batches remain. */
  step(): boolean | Promise<boolean> {
    return this.call(() => this.session_.step()).more === true;
  }

  /** One result per input, in order; its shape depends on the task. */
  finish(): unknown[] {
    const reply = this.call(() => this.session_.finish());
    if (!Array.isArray(reply.result)) throw new PeruseError('internal', 'The engine returned no list of results.');
    return reply.result;
  }

  /** Bytes of the engine's whole memory. */
  heapBytes(): number {
    return this.guard(() => this.module_.HEAPU8.length);
  }

  dispose(): void {
    try {
      if (this.broken_ === undefined) this.guard(() => this.session_.delete());
    } finally {
      this.broken_ ??= 'It was disposed of.';
      this.module_.PThread?.terminateAllThreads();
    }
  }

  private stageJson(value: unknown): number {
    const json = JSON.stringify(value, (_, item: unknown) => (typeof item === 'string' ? wellFormed(item) : item));
    const bytes = new TextEncoder().encode(json);
    this.stage(bytes, 'the request');
    return bytes.length;
  }

  private stage(content: Uint8Array, what: string): void {
    const address = this.guard(() => this.session_.reserve(content.length)) >>> 0;
    if (address === 0) {
      throw new PeruseError('out_of_memory', `There is no memory for ${what}: ${content.length} bytes.`);
    }
    this.module_.HEAPU8.set(content, address);
  }

  protected call(method: () => string): Reply {
    const reply = JSON.parse(this.guard(method)) as Reply | { ok: false; code: ErrorCode; message: string };
    if (!reply.ok) throw new PeruseError(reply.code, reply.message);
    return reply;
  }

  /** Anything that the module throws is a trap: its memory can't be trusted afterwards. */
  protected guard<T>(method: () => T): T {
    if (this.broken_ !== undefined) throw new PeruseError('worker_died', `The engine has stopped: ${this.broken_}`);
    try {
      return method();
    } catch (error) {
      this.broken_ = this.lastWords_() || describe(error);
      throw new PeruseError('worker_died', `The engine stopped: ${this.broken_}`, { cause: error });
    }
  }
}
