// What loading is asked for, from pipeline() through the worker to the engine: one type, plain data.

import type { SourceSpec } from '../sources/source.js';
import type { WasmModule } from '../web_types.js';
import type { DeviceWish, ProbeMemory } from './reports.js';
import type { VariantChoice } from './variant.js';

/** Precision of the weights in memory, by the engine's names. 'auto': 'q8' for a q8 checkpoint; else 'f16' on a GPU, 'f32' on the CPU. */
export type DtypeWish = 'auto' | 'f32' | 'f16' | 'q8';

export interface LoadRequest {
  task: string;
  dtype: DtypeWish;
  source: SourceSpec;
  /** A LoRA adapter, merged into the weights as they are read. */
  adapter?: SourceSpec;
  /** The caller named the adapter, whose files name the source: what the adapter's folder has counts (tokenizer, pooling). */
  adapterLeads?: boolean;
  /** Where the configuration and the tokenizer of a GLiNER's encoder are, when its own folder has none. */
  encoder?: SourceSpec;
  /** The same of the encoder for labels of a bi-encoder. */
  labelsEncoder?: SourceSpec;
  choice: VariantChoice;
  /** Work with the weights of another task's engine in this thread, where it has loaded the same checkpoint. */
  share?: boolean;
  /** The names of the labels, in place of those of config.json. */
  id2label?: string[];
  /** fill-mask through DeBERTa's decoder of pre-training. */
  enhancedMaskDecoder?: boolean;
  /** Default 'cpu'. */
  device?: DeviceWish;
  /** What a call does that finds its GPU lost: load the model again from its source, or fail with 'gpu_lost'. */
  onDeviceLost?: 'recover' | 'refuse';
  /** Multiply float16 weights in half precision, where the adapter can. */
  shaderF16?: boolean;
  /** What earlier loads found out about this machine's speed. */
  probes?: ProbeMemory;
  /** Where the builds of the engine are: URL of a folder, instead of the package's own; or the build itself, compiled. */
  wasm?: string | WasmModule;
}
