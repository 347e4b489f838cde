import type { EngineDtype } from '../precisions.js';
import type { WeightsWish } from '../sources/onnx_files.js';
import type { SourceSpec } from '../sources/source.js';
import type { EngineTask } from '../tasks/definition.js';
import type { WasmModule } from '../web_types.js';
import type { DeviceWish, ProbeMemory } from './reports.js';
import type { VariantChoice } from './variant.js';

/** The engine's names of precisions. 'auto' means that of a q8 or q4 checkpoint, otherwise 'f16' on a GPU and 'f32' on the CPU. */
export type DtypeWish = 'auto' | EngineDtype;

export interface LoadRequest {
  task?: EngineTask;
  /** Without a task, the load takes that of the model's class among these. */
  tasks?: readonly EngineTask[];
  dtype: DtypeWish;
  source: SourceSpec;
  weights?: WeightsWish;
  /** Store weights only in the source's form, not quantised. */
  keepSource?: boolean;
  adapter?: SourceSpec;
  /** The caller named the adapter instead of its base model. Tokenizer and pooling then come from the adapter's folder, if it has them. */
  adapterLeads?: boolean;
  /** Folder with a GLiNER's encoder configuration and tokenizer, if its own folder lacks them. */
  encoder?: SourceSpec;
  /** Folder with a bi-encoder's label tokenizer, if its own folder lacks it. */
  labelsEncoder?: SourceSpec;
  choice: VariantChoice;
  /** Use the weights of an engine that has loaded the same checkpoint. */
  share?: boolean;
  id2label?: string[];
  enhancedMaskDecoder?: boolean;
  loraTask?: string;
  /** The route of a Router (sentence-transformers) whose modules to load. */
  route?: string;
  /** The model gives sparse vectors, although its folder does not say so. */
  pooling?: 'splade';
  device?: DeviceWish;
  probes?: ProbeMemory;
  /** A compiled build, or the URL of a folder with builds that replaces the package's own. */
  wasm?: string | WasmModule;
}
