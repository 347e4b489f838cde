// A load request, passed from pipeline() through the worker to the engine as plain data.

import type { WeightsWish } from '../sources/onnx_files.js';
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
  /** The file of weights to load. Default: safetensors or a PyTorch file, else ONNX. */
  weights?: WeightsWish;
  /** A LoRA adapter to merge into the weights while loading. */
  adapter?: SourceSpec;
  /** The caller named the adapter, whose files name the base model: the adapter's folder has priority (tokenizer, pooling). */
  adapterLeads?: boolean;
  /** Location of a GLiNER's encoder's configuration and tokenizer, if its own folder lacks them. */
  encoder?: SourceSpec;
  /** The same for a bi-encoder's label encoder. */
  labelsEncoder?: SourceSpec;
  choice: VariantChoice;
  /** Share the weights of another task's engine in this thread, if it has loaded the same checkpoint. */
  share?: boolean;
  /** Label names that replace those of config.json. */
  id2label?: string[];
  /** fill-mask with DeBERTa's pre-training decoder. */
  enhancedMaskDecoder?: boolean;
  /** Default 'cpu'. */
  device?: DeviceWish;
  /** After GPU loss: load the model again from its source, or fail with 'gpu_lost'. */
  onDeviceLost?: 'recover' | 'refuse';
  /** Multiply float16 weights in half precision, if the adapter supports it. */
  shaderF16?: boolean;
  /** Results of earlier speed probes on this machine. */
  probes?: ProbeMemory;
  /** The engine's builds: URL of a folder that replaces the package's own, or a compiled build. */
  wasm?: string | WasmModule;
}
