// The request of a load, and the reports on device, memory and work. All are plain data: the types of the package must not require those of WebGPU.
import type { EngineDtype } from '../precisions.js';
import type { LoadPooling } from '../sources/model_files.js';
import type { WeightsWish } from '../sources/onnx_files.js';
import type { SourceSpec } from '../sources/source.js';
import type { EngineTask } from '../tasks/definition.js';
import type { WasmModule } from '../web_types.js';
import type { VariantChoice } from './variant.js';

/** The opened GPU device. */
export interface GpuReport {
  vendor: string;
  architecture: string;
  description: string;
  /** Whether WGSL has packed_4x8_integer_dot_product, which 'q8' uses. */
  packedDot: boolean;
  /** Whether norms use subgroups. Results do not depend on it. */
  subgroups: boolean;
  /** The largest buffer binding of a shader, in bytes. */
  maxBindingBytes: number;
}

/** The two times that decide `device: 'auto'`: one short text through layers of the model's size and number. */
export interface ProbeReport {
  cpuMilliseconds: number;
  gpuMilliseconds: number;
  /** 'slower' means that the GPU could no longer beat the CPU; 'unfinished' that no run finished within the probe's limit. */
  gaveUp?: 'slower' | 'unfinished';
}

export interface DeviceChoice {
  device: 'cpu' | 'webgpu';
  /** Why this device was chosen, if there was a choice. */
  reason?: string;
  gpu?: GpuReport;
  probe?: ProbeReport;
  probeKey?: string;
}

/** Probe results of this session, by model size and machine. */
export type ProbeMemory = Record<string, ProbeReport>;

export type DeviceWish = 'cpu' | 'auto' | 'webgpu';

/** Memory of a pipeline, in bytes. */
export interface MemoryReport {
  /** Bytes of the engine's memory. */
  heapBytes: number;
  /** Bytes of weights, included in heapBytes. */
  weightBytes: number;
}

/** Work of a pipeline since loading. Subtract two reports to get the work between them. */
export interface UsageReport {
  /** Number of answered calls. */
  calls: number;
  /** Number of tokens that the model has read, with special tokens. A text counts each time it is read (windows, labels). */
  tokens: number;
  /** Computing time in milliseconds. */
  milliseconds: number;
}

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
  /** The model gives sparse vectors or matrices, although its folder does not say so. */
  pooling?: LoadPooling;
  device?: DeviceWish;
  probes?: ProbeMemory;
  /** A compiled build, or the URL of a folder with builds that replaces the package's own. */
  wasm?: string | WasmModule;
}
