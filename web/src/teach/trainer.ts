// Synchronous calls of the C++ trainer (bindings/teach_binding.cc, core/train/session/teach_session.h), for one training run.

import { ModuleCalls, type Staged, type WasmModule } from '../engine/module_calls.js';
import { PeruseError } from '../errors.js';
import type { GradientRequest, GradientResult } from '../tasks/explanations.js';
import type { PlainExample } from './examples.js';
import type { TeachMetrics } from './options.js';
import type { AccuracyReport, MethodScore } from './report.js';

/** Methods except reserve(), fileAddress() and delete() return JSON: `{"ok":true,...}` or `{"ok":false,"code","message"}`. */
interface Teacher extends Staged {
  addFile(name: string, bytes: number): string;
  open(bytes: number): string;
  setShardIndex(bytes: number): string;
  endShard(): string;
  feedWeights(bytes: number): string;
  finishWeights(): string;
  addExamples(bytes: number): string;
  begin(): string;
  explain(bytes: number): string;
  step(): string;
  report(): string;
  files(): string;
  readFile(name: string, first: number, count: number): string;
  fileAddress(): number;
  delete(): void;
}

export interface TeachModule extends WasmModule {
  /** Emscripten's worker threads; only in the build with threads. */
  PThread?: { terminateAllThreads(): void };
  Teacher: new () => Teacher;
}

export interface WeightsTaken {
  tensors: number;
  parameters: number;
  /** Tensors with random initial values, because the checkpoint lacks the name or has another shape. */
  fresh: string[];
}

export interface Plan {
  steps: number;
  epochs: number;
  examples: number;
  validation_examples: number;
  trained_parameters: number;
  memory_bytes: number;
}

export interface StepMade {
  more: boolean;
  phase: 'features' | 'training' | 'validation';
  step: number;
  steps: number;
  epoch: number;
  loss: number | null;
  learning_rate: number;
  generator_loss?: number;
  validation?: TeachMetrics;
}

export interface EngineReport {
  method: 'head' | 'contrast' | 'layers' | 'lora' | 'full';
  learning_rate: number;
  steps: number;
  tokens: number;
  trained_parameters: number;
  memory_bytes: number;
  best_epoch: number | null;
  l2?: number;
  temperature?: number;
  accuracy?: AccuracyReport;
  compared?: MethodScore[];
  notices: string[];
  losses: number[];
  epochs: { loss: number; generator_loss?: number; validation?: TeachMetrics }[];
  labels: string[];
}

/** Maximum number of bytes in one call of the engine. */
const kPartBytes = 1 << 22;
const kExamplesAtOnce = 256;

export class Trainer extends ModuleCalls<TeachModule> {
  private readonly teacher_: Teacher;

  constructor(module: TeachModule, lastWords: () => string) {
    super(module, lastWords);
    this.teacher_ = this.guard(() => new module.Teacher());
  }

  dispose(): void {
    if (this.leave(() => this.teacher_.delete())) this.module_.PThread?.terminateAllThreads();
  }

  addFile(name: string, content: Uint8Array): void {
    this.stage(this.teacher_, content, name);
    this.call(() => this.teacher_.addFile(name, content.length));
  }

  open(request: Record<string, unknown>): void {
    const bytes = this.stageJson(this.teacher_, request);
    this.call(() => this.teacher_.open(bytes));
  }

  setShardIndex(index: Uint8Array): string[] {
    this.stage(this.teacher_, index, 'the index of the weights');
    return this.call(() => this.teacher_.setShardIndex(index.length)).files as string[];
  }

  endShard(): void {
    this.call(() => this.teacher_.endShard());
  }

  feedWeights(chunk: Uint8Array): void {
    this.stage(this.teacher_, chunk, 'the weights');
    this.call(() => this.teacher_.feedWeights(chunk.length));
  }

  finishWeights(): WeightsTaken {
    return this.call(() => this.teacher_.finishWeights()).weights as WeightsTaken;
  }

  addExamples(set: 'training' | 'validation', examples: readonly PlainExample[]): void {
    for (let at = 0; at < examples.length; at += kExamplesAtOnce) {
      const bytes = this.stageJson(this.teacher_, { set, examples: examples.slice(at, at + kExamplesAtOnce) });
      this.call(() => this.teacher_.addExamples(bytes));
    }
  }

  begin(): Plan {
    return this.call(() => this.teacher_.begin()).plan as Plan;
  }

  /** Computes gradients. Requires a trainer that was opened for explanations. */
  explain(request: GradientRequest): GradientResult {
    const bytes = this.stageJson(this.teacher_, request);
    return this.call(() => this.teacher_.explain(bytes)).explanation as GradientResult;
  }

  step(): StepMade {
    return this.call(() => this.teacher_.step()).progress as StepMade;
  }

  report(): EngineReport {
    return this.call(() => this.teacher_.report()).report as EngineReport;
  }

  files(): { name: string; bytes: number }[] {
    return this.call(() => this.teacher_.files()).files as { name: string; bytes: number }[];
  }

  readFile({ name, bytes }: { name: string; bytes: number }): Uint8Array<ArrayBuffer> {
    const content = allocated(name, bytes);
    for (let at = 0; at < bytes; ) {
      const read = this.call(() => this.teacher_.readFile(name, at, kPartBytes)).bytes as number;
      if (read === 0) throw new PeruseError('internal', `The engine has fewer bytes of ${name} than it announced.`);
      const address = this.guard(() => this.teacher_.fileAddress()) >>> 0;
      content.set(this.module_.HEAPU8.subarray(address, address + read), at);
      at += read;
    }
    return content;
  }

  heapBytes(): number {
    return this.guard(() => this.module_.HEAPU8.length);
  }
}

function allocated(name: string, bytes: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(bytes);
  } catch (error) {
    throw new PeruseError('out_of_memory', `There is no memory for ${name}: ${bytes} bytes.`, { cause: error });
  }
}
