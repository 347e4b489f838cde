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
interface Session {
  /** Makes room for that many bytes and says where; 0 if there is no memory. */
  reserve(bytes: number): number;
  addFile(name: string, bytes: number): string;
  open(bytes: number): string;
  feedWeights(bytes: number): string;
  finishWeights(): string;
  run(bytes: number): string;
  memory(): string;
  delete(): void;
}

export interface OpenRequest {
  task: string;
  dtype: string;
}

/** What the engine says of the weights that it took. */
export type WeightReport = Record<string, unknown>;

export interface EngineInput {
  text: string;
  pair?: string;
}

export interface RunRequest {
  inputs: EngineInput[];
  options: Record<string, unknown>;
}

export interface MemoryReport {
  /** Size of the engine's memory. */
  heapBytes: number;
  /** Of these, held by weights. */
  weightBytes: number;
}

type Reply = { ok: true } & Record<string, unknown>;

/**
 * The engine's verbs, synchronous. Order: addFile (config.json, tokenizer files), open, feedWeights (in the file's order),
 * finishWeights, then run. Throws PeruseError; 'worker_died' says that the engine itself broke and takes no more calls.
 */
export class Engine {
  private readonly session_: Session;
  private broken_: string | undefined;

  constructor(
    private readonly module_: EngineModule,
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

  feedWeights(chunk: Uint8Array): void {
    this.stage(chunk, 'the weights');
    this.call(() => this.session_.feedWeights(chunk.length));
  }

  finishWeights(): WeightReport {
    const reply = this.call(() => this.session_.finishWeights());
    return (reply.report ?? {}) as WeightReport;
  }

  /** One result per input, in order; its shape depends on the task. */
  run(request: RunRequest): unknown[] {
    const bytes = this.stageJson(request);
    const reply = this.call(() => this.session_.run(bytes));
    if (!Array.isArray(reply.result) || reply.result.length !== request.inputs.length) {
      throw new PeruseError('internal', `The engine returned no list of ${request.inputs.length} results.`);
    }
    return reply.result;
  }

  memory(): MemoryReport {
    const { heapBytes, weightBytes } = this.call(() => this.session_.memory()) as unknown as MemoryReport;
    return { heapBytes, weightBytes };
  }

  dispose(): void {
    if (this.broken_ !== undefined) return;
    try {
      this.session_.delete();
    } finally {
      this.broken_ = 'It was disposed of.';
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

  private call(method: () => string): Reply {
    const reply = JSON.parse(this.guard(method)) as Reply | { ok: false; code: ErrorCode; message: string };
    if (!reply.ok) throw new PeruseError(reply.code, reply.message);
    return reply;
  }

  /** Anything that the module throws is a trap: its memory can't be trusted afterwards. */
  private guard<T>(method: () => T): T {
    if (this.broken_ !== undefined) throw new PeruseError('worker_died', `The engine has stopped: ${this.broken_}`);
    try {
      return method();
    } catch (error) {
      this.broken_ = this.lastWords_() || describe(error);
      throw new PeruseError('worker_died', `The engine stopped: ${this.broken_}`, { cause: error });
    }
  }
}
