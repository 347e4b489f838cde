// The Embind classes of bindings/ as TypeScript interfaces, and a synchronous class around them.

import { PeruseError } from '../errors.js';
import type { EngineDtype } from '../precisions.js';
import type { LoadPooling } from '../sources/model_files.js';
import type { EngineInput } from '../tasks/call.js';
import type { InspectRequest } from '../tasks/inspection.js';
import { fillArrays, type ResultPart } from '../tasks/results.js';
import type { WasmInstance, WasmModule } from '../web_types.js';
import { EngineTokenizer, type TokenizerBinding } from './engine_tokenizer.js';
import type { DeviceChoice, GpuReport } from './load_request.js';
import { ModuleCalls, type Staged } from './module_calls.js';
import { type EngineVectorIndex, VectorIndex } from './vector_index.js';
import { type ToolModule, WeightsReader } from './weights_reader.js';

export interface EngineModule {
  HEAPU8: Uint8Array;
  /** Computes on the CPU if it gets only the first argument; with all arguments, in modules with GPU support, on a GPU. */
  Session: new (
    threads: number,
    gpuBindingBytes?: number,
    packedDot?: boolean,
    subgroups?: boolean,
    vendor?: string,
  ) => Session;
  VectorIndex: new (width: number) => EngineVectorIndex;
  WeightsReader: ToolModule['WeightsReader'];
  PThread?: { terminateAllThreads(): void };
}

export interface HelperWorker {
  postMessage(message: unknown): void;
  terminate(): void;
  onmessage: ((event: { data: unknown }) => void) | null;
  onerror: ((event: { message: string }) => void) | null;
  /** Reports failures before and during the start. Replaced by the loader's listeners afterwards. */
  onFailure?(listener: (reason: string) => void): void;
}

export type ModuleFactory<M> = (options: {
  print: (line: string) => void;
  printErr: (line: string) => void;
  /** Number of workers to start before the module is ready. */
  pthreadPoolSize: number;
  startHelper: () => HelperWorker;
  instantiateWasm: (
    imports: Record<string, Record<string, never>>,
    receive: (instance: WasmInstance, module: WasmModule) => void,
  ) => object;
}) => Promise<M>;
export type EngineModuleFactory = ModuleFactory<EngineModule>;

/**
 * A model with its tokenizer. Methods except reserve() and delete() return JSON: `{"ok":true,...}` or `{"ok":false,"code","message"}`.
 * Methods with a parameter `bytes` read that number of bytes from the start of the staging buffer.
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
  beside(): Session;
  needsWeights(): boolean;
  weightBytes(): number;
  headerRead(): boolean;
  program(): string;
  select(request: number): void;
  start(bytes: number): string;
  startInspection(bytes: number): string;
  step(): string;
  take(): string;
  /** Returns the address of array `index` of the last results, valid until the next step or request; 0 for an unknown index or an empty array. */
  array(index: number): number;
  /** The tokenizer; null before the weights are loaded. */
  tokenizer(): TokenizerBinding | null;
  tokensRead(): number;
  delete(): void;
}

export interface OpenRequest {
  task: string;
  /** 'auto' means that of a q8 or q4 checkpoint; for others 'f32' on the CPU and 'f16' on a GPU. */
  dtype: string;
  id2label?: string[];
  /** For fill-mask with DeBERTa: predict through the decoder of pre-training. */
  enhanced_mask_decoder?: boolean;
  lora_task?: string;
  /** For feature-extraction: sparse vectors or matrices, although the modules do not say so. */
  pooling?: LoadPooling;
}

/** The engine's report on loaded weights. */
export interface WeightReport {
  /** The class in config.json, for example 'DebertaV2ForQuestionAnswering'. */
  architecture: string;
  dtype: EngineDtype;
  /** Number of tensors in use; `headTensors` are the names of those that belong to the task's head. */
  tensors: number;
  headTensors: string[];
  /** Tensors in the file that the task does not use. */
  extraTensors: string[];
  /** Warnings about the weights. */
  notices?: string[];
  weightBytes: number;
}

export interface RunRequest {
  inputs: EngineInput[];
  options: Record<string, unknown>;
}

/**
 * The engine's calls. Order: addFile() for config.json and tokenizer files, open(), feedWeights() in file order, finishWeights(). For sharded
 * weights, setShardIndex() first and endShard() after each file. Then for each request: start() or startInspection(), step() until it returns
 * false, and take() after any step, at least after the last. Throws PeruseError; after 'worker_died' the engine is unusable.
 */
export class Engine extends ModuleCalls<EngineModule> {
  protected readonly session_: Session;
  #selected = 0;

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
          ? new module.Session(threads, gpu.maxBindingBytes, gpu.packedDot, gpu.subgroups, gpu.vendor)
          : new module.Session(threads),
    );
  }

  newIndex(width: number): VectorIndex {
    return new VectorIndex(this.module_, width);
  }

  /** Creates a reader of a weights file in this engine's memory; the caller disposes of it. */
  newReader(where: string): WeightsReader {
    return new WeightsReader(this.module_, where);
  }

  /** Creates an engine for another task with the same config.json, which shares the loaded weights. Dispose of them in any order. */
  fork(): Engine {
    return new Engine(this.module_, this.threads, this.lastWords_, undefined, this.deviceChoice, this);
  }

  /** Whether weights must be fed after open(). False if the engine shares all of them. */
  needsWeights(): boolean {
    return this.guard(() => this.session_.needsWeights());
  }

  /** After open(): returns the bytes that the weights will take, if the checkpoint stores float32. */
  weightBytes(): number {
    return this.guard(() => this.session_.weightBytes());
  }

  /** Whether enough of the weights has arrived to know that all tensors are there. */
  headerRead(): boolean {
    return this.guard(() => this.session_.headerRead());
  }

  addFile(name: string, content: Uint8Array): void {
    this.stage(this.session_, content, name);
    this.call(() => this.session_.addFile(name, content.length));
  }

  /** On a GPU, this and other computing calls return a promise, which must be awaited before the next call. */
  open(request: OpenRequest): void | Promise<void> {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.open(bytes));
  }

  /** Feeds a LoRA adapter's weights. Required before the checkpoint's if adapter_config.json was added. */
  feedAdapter(chunk: Uint8Array): void {
    this.stage(this.session_, chunk, 'the adapter');
    this.call(() => this.session_.feedAdapter(chunk.length));
  }

  finishAdapter(): void {
    this.call(() => this.session_.finishAdapter());
  }

  /** Sets the index of sharded weights. Returns the files in the order in which to feed them. */
  setShardIndex(index: Uint8Array): string[] {
    this.stage(this.session_, index, 'the index of the weights');
    return this.call(() => this.session_.setShardIndex(index.length)).files as string[];
  }

  endShard(): void {
    this.call(() => this.session_.endShard());
  }

  /** Runs `layers` typical layers of the model in config.json, for timing; 0 means all. Returns their number. Makes the engine unusable. */
  probe(layers: number, dtype: string): number | Promise<number> {
    return this.call(() => this.session_.probe(layers, dtype)).layers as number;
  }

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

  /**
   * Several requests can be under way: start(), startInspection(), step() and take() act on the request with this number from now on; at first
   * on number 0.
   */
  select(request: number): void {
    if (request === this.#selected) return;
    this.guard(() => this.session_.select(request));
    this.#selected = request;
  }

  /** Begins a request; drops the remaining batches of an earlier one with the same number. */
  start(request: RunRequest): void {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.start(bytes));
  }

  startInspection(request: InspectRequest): void {
    const bytes = this.stageJson(this.session_, request);
    this.call(() => this.session_.startInspection(bytes));
  }

  step(): boolean | Promise<boolean> {
    return this.call(() => this.session_.step()).more === true;
  }

  take(): ResultPart[] {
    const { parts } = this.call(() => this.session_.take());
    if (!Array.isArray(parts)) throw new PeruseError('internal', 'The engine returned no list of results.');
    return fillArrays(parts as ResultPart[], (array, count) => {
      if (count === 0) return new Float32Array();
      const start = this.guard(() => this.session_.array(array)) >>> 0;
      if (start === 0) throw new PeruseError('internal', `The engine has no array ${array}.`);
      return new Float32Array(this.module_.HEAPU8.slice(start, start + 4 * count).buffer);
    });
  }

  tokenizer(): EngineTokenizer {
    const tokenizer = this.guard(() => this.session_.tokenizer());
    if (tokenizer === null) throw new PeruseError('out_of_memory', 'There is no memory for the tokenizer.');
    return new EngineTokenizer(this.module_, tokenizer, this.lastWords_, this);
  }

  tokensRead(): number {
    return this.guard(() => this.session_.tokensRead());
  }

  heapBytes(): number {
    return this.guard(() => this.module_.HEAPU8.length);
  }

  dispose(): void {
    if (this.release()) this.module_.PThread?.terminateAllThreads();
  }

  release(): boolean {
    return this.leave(() => this.session_.delete());
  }
}
