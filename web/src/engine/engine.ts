// The C++ engine as TypeScript sees it: the Embind surface of bindings/, and a synchronous class over it.
// This file is TypeScript's only side of that contract.

import { PeruseError } from '../errors.js';
import type { EngineInput } from '../tasks/call.js';
import type { InspectRequest } from '../tasks/inspection.js';
import { fillArrays, type ResultPart } from '../tasks/results.js';
import type { WasmInstance, WasmModule } from '../web_types.js';
import { EngineTokenizer, type TokenizerBinding } from './engine_tokenizer.js';
import { ModuleCalls, type Staged } from './module_calls.js';
import type { DeviceChoice, GpuReport } from './reports.js';
import { type EngineVectorIndex, VectorIndex } from './vector_index.js';

/** What the glue that Emscripten makes (web/wasm/glue*.mjs) resolves to. */
export interface EngineModule {
  HEAPU8: Uint8Array;
  /** With one argument it computes on the CPU; with all, in modules that can, on a GPU. */
  Session: new (
    threads: number,
    gpuBindingBytes?: number,
    shaderF16?: boolean,
    packedDot?: boolean,
  ) => Session;
  VectorIndex: new (width: number) => EngineVectorIndex;
  /** The thread variants' workers (Emscripten's own object). */
  PThread?: { terminateAllThreads(): void };
}

/** A worker as the glue knows it, whatever the platform: it sets the listeners. */
export interface HelperWorker {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: { message: string }) => void) | null;
  /** Told instead, as long as it was not started; also of a failure before. */
  onFailure?(listener: (reason: string) => void): void;
}

/** The glue's default export. */
export type ModuleFactory<M> = (options: {
  print: (line: string) => void;
  printErr: (line: string) => void;
  /** Workers to start before the module is ready (thread variants), and how. */
  pthreadPoolSize: number;
  startHelper: () => HelperWorker;
  /** Gives the build's instance as soon as there is one. */
  instantiateWasm: (
    imports: Record<string, Record<string, never>>,
    receive: (instance: WasmInstance, module: WasmModule) => void,
  ) => object;
}) => Promise<M>;
export type EngineModuleFactory = ModuleFactory<EngineModule>;

/**
 * One model with its tokenizer. Every method but reserve() and delete() returns JSON: `{"ok":true,...}` or
 * `{"ok":false,"code","message"}`. Methods that take `bytes` read that many from the start of the staging buffer.
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
  /** For another task of what this session has loaded. */
  beside(): Session;
  needsWeights(): boolean;
  /** Only of builds that compute on the CPU. */
  program(): string;
  start(bytes: number): string;
  startInspection(bytes: number): string;
  step(): string;
  take(): string;
  /** Where the floats of an array of what was last taken lie, until the next step or request; 0: there is no such array. */
  array(index: number): number;
  /** The tokenizer's calls; null before the weights are there. */
  tokenizer(): TokenizerBinding | null;
  tokensRead(): number;
  delete(): void;
}

export interface OpenRequest {
  task: string;
  /** 'f32', 'f16', 'q8', or 'auto': 'q8' for a q8 checkpoint, for others 'f32' on the CPU and 'f16' on a GPU. */
  dtype: string;
  /** The names of the labels, in place of those of config.json. */
  id2label?: string[];
  /** DeBERTa's masked-LM head after its decoder of pre-training; only for fill-mask. */
  enhanced_mask_decoder?: boolean;
}

/** What the engine says of the weights that it took. */
export interface WeightReport {
  /** The configuration's class, for example 'DebertaV2ForQuestionAnswering'. */
  architecture: string;
  /** Precision of the weights in memory. */
  dtype: 'f32' | 'f16' | 'q8';
  /** How many tensors of the file are in use, and those of the task's head by name. */
  tensors: number;
  headTensors: string[];
  /** Tensors of the file that the task does not need. */
  extraTensors: string[];
  /** Bytes of the weights in memory. */
  weightBytes: number;
}

export interface RunRequest {
  inputs: EngineInput[];
  options: Record<string, unknown>;
}

/**
 * The engine's verbs, synchronous. Order: addFile (config.json, tokenizer files), open, feedWeights (in the file's order; for
 * several files setShardIndex first, and endShard after each), finishWeights; then, for each request, start (or
 * startInspection), step until it says false, and take whenever results are wanted, at the latest after the last step.
 * Throws PeruseError; 'worker_died' says that the engine itself broke and takes no more calls.
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

  /** For vectors of so many numbers, in this engine's memory. */
  newIndex(width: number): VectorIndex {
    return new VectorIndex(this.module_, width);
  }

  /**
   * For another task of the checkpoint that this engine has loaded: an engine in the same module, which uses its weights. It is to be given
   * the same config.json; either may be disposed of first.
   */
  beside(): Engine {
    return new Engine(this.module_, this.threads, this.lastWords_, undefined, this.deviceChoice, this);
  }

  /** After open(): whether weights are to be fed. An engine beside another may have them all. */
  needsWeights(): boolean {
    return this.guard(() => this.session_.needsWeights());
  }

  addFile(name: string, content: Uint8Array): void {
    this.stage(this.session_, content, name);
    this.call(() => this.session_.addFile(name, content.length));
  }

  /** This and the other calls that compute give a promise on a GPU (gpu/gpu_engine.ts): wait for it. */
  open(request: OpenRequest): void | Promise<void> {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.open(bytes));
  }

  /** Of a LoRA adapter, whose adapter_config.json was among the files: its weights, before the checkpoint's. */
  feedAdapter(chunk: Uint8Array): void {
    this.stage(this.session_, chunk, 'the adapter');
    this.call(() => this.session_.feedAdapter(chunk.length));
  }

  finishAdapter(): void {
    this.call(() => this.session_.finishAdapter());
  }

  /** For weights in several files: their index. Gives the files, to be fed in this order. */
  setShardIndex(index: Uint8Array): string[] {
    this.stage(this.session_, index, 'the index of the weights');
    return this.call(() => this.session_.setShardIndex(index.length)).files as string[];
  }

  /** After each of those files. */
  endShard(): void {
    this.call(() => this.session_.endShard());
  }

  /**
   * To be timed: as many typical layers of the size that config.json says, 0 for the model's own number. After
   * addFile('config.json'), on an engine that is then of no other use. Gives the model's number of layers.
   */
  probe(layers: number, dtype: string): number | Promise<number> {
    return this.call(() => this.session_.probe(layers, dtype)).layers as number;
  }

  /** What the model that was opened computes, a line for each operation. Not on a GPU. */
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

  /** Begins a request, and forgets what is left of an earlier one. */
  start(request: RunRequest): void {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.start(bytes));
  }

  /** Begins an inspection, instead of a request. */
  startInspection({ input, options }: InspectRequest): void {
    const bytes = this.stageJson(this.session_, { inputs: [input], options });
    this.call(() => this.session_.startInspection(bytes));
  }

  /** Runs one batch; true while batches remain. */
  step(): boolean | Promise<boolean> {
    return this.call(() => this.session_.step()).more === true;
  }

  /** The parts of results that have come since the last call; the type of a value depends on the task. */
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

  /** The model's tokenizer, once the weights are there: to be disposed of after use. */
  tokenizer(): EngineTokenizer {
    const tokenizer = this.guard(() => this.session_.tokenizer());
    if (tokenizer === null) throw new PeruseError('out_of_memory', 'There is no memory for the tokenizer.');
    return new EngineTokenizer(this.module_, tokenizer, this.lastWords_, this);
  }

  /** Tokens that the model has read in all requests so far. */
  tokensRead(): number {
    return this.guard(() => this.session_.tokensRead());
  }

  /** Bytes of the engine's whole memory. */
  heapBytes(): number {
    return this.guard(() => this.module_.HEAPU8.length);
  }

  dispose(): void {
    if (this.release()) this.module_.PThread?.terminateAllThreads();
  }

  /** Gives up the session; the module can make another. Gives whether it has none now. */
  release(): boolean {
    return this.leave(() => this.session_.delete());
  }
}
