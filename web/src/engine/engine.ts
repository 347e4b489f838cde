// The TypeScript side of the C++ engine: the Embind classes of bindings/, and a synchronous class over them. No other file depends on that
// contract.

import { PeruseError } from '../errors.js';
import type { EngineInput } from '../tasks/call.js';
import type { InspectRequest } from '../tasks/inspection.js';
import { fillArrays, type ResultPart } from '../tasks/results.js';
import type { WasmInstance, WasmModule } from '../web_types.js';
import { EngineTokenizer, type TokenizerBinding } from './engine_tokenizer.js';
import { ModuleCalls, type Staged } from './module_calls.js';
import type { DeviceChoice, GpuReport } from './reports.js';
import { type EngineVectorIndex, VectorIndex } from './vector_index.js';

/** The module that Emscripten's loader (web/wasm/glue*.mjs) resolves to. */
export interface EngineModule {
  HEAPU8: Uint8Array;
  /** With one argument it computes on the CPU; with all, in modules with GPU support, on a GPU. */
  Session: new (
    threads: number,
    gpuBindingBytes?: number,
    shaderF16?: boolean,
    packedDot?: boolean,
  ) => Session;
  VectorIndex: new (width: number) => EngineVectorIndex;
  /** Emscripten's object for worker threads, in threaded variants. */
  PThread?: { terminateAllThreads(): void };
}

/** A platform's worker for the loader, which sets the listeners. */
export interface HelperWorker {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: { message: string }) => void) | null;
  /** Replaces the listeners until the worker has started; also reports earlier failures. */
  onFailure?(listener: (reason: string) => void): void;
}

/** The loader's default export. */
export type ModuleFactory<M> = (options: {
  print: (line: string) => void;
  printErr: (line: string) => void;
  /** Number of workers to start before the module is ready (threaded variants), and how to start them. */
  pthreadPoolSize: number;
  startHelper: () => HelperWorker;
  /** Provides the build's instance. */
  instantiateWasm: (
    imports: Record<string, Record<string, never>>,
    receive: (instance: WasmInstance, module: WasmModule) => void,
  ) => object;
}) => Promise<M>;
export type EngineModuleFactory = ModuleFactory<EngineModule>;

/**
 * A model with its tokenizer. Every method except reserve() and delete() returns JSON: `{"ok":true,...}` or
 * `{"ok":false,"code","message"}`. Methods with `bytes` read that many bytes from the start of the staging buffer.
 */
export interface Session extends Staged {
  addFile(name: string, bytes: number): string;
  open(bytes: number): string;
  feedAdapter(bytes: number): string;
  finishAdapter(): string;
  setShardIndex(bytes: number): string;
  endShard(): string;
  feedWeights(bytes: number): string;
  finishWeights(): string;
  probe(layers: number, dtype: string): string;
  /** Creates a session for another task that shares this session's weights. */
  beside(): Session;
  needsWeights(): boolean;
  /** Only in builds that compute on the CPU. */
  program(): string;
  start(bytes: number): string;
  startInspection(bytes: number): string;
  step(): string;
  take(): string;
  /** Address of array `index` of the last results, valid until the next step or request; 0 for an unknown index. */
  array(index: number): number;
  /** The model's tokenizer; null before the weights are loaded. */
  tokenizer(): TokenizerBinding | null;
  tokensRead(): number;
  delete(): void;
}

export interface OpenRequest {
  task: string;
  /** 'f32', 'f16', 'q8', or 'auto': 'q8' for a q8 checkpoint, for others 'f32' on the CPU and 'f16' on a GPU. */
  dtype: string;
  /** Label names that replace those of config.json. */
  id2label?: string[];
  /** Applies DeBERTa's masked-LM head to its pre-training decoder; only for fill-mask. */
  enhanced_mask_decoder?: boolean;
}

/** The engine's report on loaded weights. */
export interface WeightReport {
  /** The class in config.json, for example 'DebertaV2ForQuestionAnswering'. */
  architecture: string;
  /** Precision of the weights in memory. */
  dtype: 'f32' | 'f16' | 'q8';
  /** Number of used tensors, and the names of those of the task's head. */
  tensors: number;
  headTensors: string[];
  /** Tensors of the file that the task does not need. */
  extraTensors: string[];
  weightBytes: number;
}

export interface RunRequest {
  inputs: EngineInput[];
  options: Record<string, unknown>;
}

/**
 * Synchronous calls of the engine. Order: addFile (config.json, tokenizer files), open, feedWeights (in file order; for several files
 * setShardIndex first, and endShard after each), finishWeights; then, for each request, start (or startInspection), step until it returns
 * false, and take at any time, at the latest after the last step. Throws PeruseError; after 'worker_died' the engine is broken and
 * unusable.
 */
export class Engine extends ModuleCalls<EngineModule> {
  protected readonly session_: Session;

  constructor(
    module: EngineModule,
    readonly threads: number,
    lastWords?: () => string,
    gpu?: GpuReport,
    readonly deviceChoice: DeviceChoice = { device: 'cpu' },
    other?: Engine,
  ) {
    super(module, lastWords, other);
    this.session_ = this.guard(() =>
      other
        ? other.session_.beside()
        : gpu
          ? new module.Session(threads, gpu.maxBindingBytes, gpu.features.includes('shader-f16'), gpu.packedDot)
          : new module.Session(threads),
    );
  }

  /** Creates an index of vectors of `width` numbers, in this engine's memory. */
  newIndex(width: number): VectorIndex {
    return new VectorIndex(this.module_, width);
  }

  /**
   * Creates an engine in the same module for another task of the loaded checkpoint, which shares the weights. It must be given the same
   * config.json; the two may be disposed of in any order.
   */
  beside(): Engine {
    return new Engine(this.module_, this.threads, this.lastWords_, undefined, this.deviceChoice, this);
  }

  /** After open(): whether weights must be fed. An engine that shares another's weights may have them all. */
  needsWeights(): boolean {
    return this.guard(() => this.session_.needsWeights());
  }

  addFile(name: string, content: Uint8Array): void {
    this.stage(this.session_, content, name);
    this.call(() => this.session_.addFile(name, content.length));
  }

  /** On a GPU this and the other computing calls return a promise (gpu/gpu_engine.ts), which must be awaited. */
  open(request: OpenRequest): void | Promise<void> {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.open(bytes));
  }

  /** Feeds a LoRA adapter's weights, before the checkpoint's, if adapter_config.json was among the files. */
  feedAdapter(chunk: Uint8Array): void {
    this.stage(this.session_, chunk, 'the adapter');
    this.call(() => this.session_.feedAdapter(chunk.length));
  }

  finishAdapter(): void {
    this.call(() => this.session_.finishAdapter());
  }

  /** For weights in several files: sets their index. Returns the files in the order in which to feed them. */
  setShardIndex(index: Uint8Array): string[] {
    this.stage(this.session_, index, 'the index of the weights');
    return this.call(() => this.session_.setShardIndex(index.length)).files as string[];
  }

  /** Ends one of those files. */
  endShard(): void {
    this.call(() => this.session_.endShard());
  }

  /**
   * Runs typical layers of the size in config.json, for the caller to time; 0 means the model's number of layers. Requires
   * addFile('config.json'); afterwards the engine is unusable. Returns the model's number of layers.
   */
  probe(layers: number, dtype: string): number | Promise<number> {
    return this.call(() => this.session_.probe(layers, dtype)).layers as number;
  }

  /** Prints the opened model's program, a line per operation. Not on a GPU. */
  program(): string {
    return this.call(() => this.session_.program()).program as string;
  }

  feedWeights(chunk: Uint8Array): void | Promise<void> {
    this.stage(this.session_, chunk, 'the weights');
    this.call(() => this.session_.feedWeights(chunk.length));
  }

  finishWeights(): WeightReport | Promise<WeightReport> {
    return this.call(() => this.session_.finishWeights()).report as WeightReport;
  }

  /** Begins a request, and drops the rest of an earlier one. */
  start(request: RunRequest): void {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.start(bytes));
  }

  /** Begins an inspection instead of a request. */
  startInspection({ input, options }: InspectRequest): void {
    const bytes = this.stageJson(this.session_, { inputs: [input], options });
    this.call(() => this.session_.startInspection(bytes));
  }

  /** Runs one batch; returns true while batches remain. */
  step(): boolean | Promise<boolean> {
    return this.call(() => this.session_.step()).more === true;
  }

  /** Returns the parts of results since the last call; the type of a value depends on the task. */
  take(): ResultPart[] {
    const { parts } = this.call(() => this.session_.take());
    if (!Array.isArray(parts)) throw new PeruseError('internal', 'The engine returned no list of results.');
    const address = (array: number) => this.guard(() => this.session_.array(array)) >>> 0;
    if (address(0) === 0) return parts as ResultPart[];
    return fillArrays(parts as ResultPart[], (array, count) => {
      const start = address(array);
      if (start === 0) throw new PeruseError('internal', `The engine has no array ${array}.`);
      return new Float32Array(this.module_.HEAPU8.slice(start, start + 4 * count).buffer);
    });
  }

  /** Returns the model's tokenizer, after the weights are loaded; the caller disposes of it. */
  tokenizer(): EngineTokenizer {
    const tokenizer = this.guard(() => this.session_.tokenizer());
    if (tokenizer === null) throw new PeruseError('out_of_memory', 'There is no memory for the tokenizer.');
    return new EngineTokenizer(this.module_, tokenizer, this.lastWords_, this);
  }

  /** Number of tokens that the model has read in all requests. */
  tokensRead(): number {
    return this.guard(() => this.session_.tokensRead());
  }

  heapBytes(): number {
    return this.guard(() => this.module_.HEAPU8.length);
  }

  dispose(): void {
    if (this.release()) this.module_.PThread?.terminateAllThreads();
  }

  /** Deletes the session; the module can create another. Returns whether it is now without sessions. */
  release(): boolean {
    return this.leave(() => this.session_.delete());
  }
}
