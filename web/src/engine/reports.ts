// What an engine tells of itself: where it computes and how that came about, its memory, its work. Plain data, so that no GPU code
// (and, for the package's types, no WebGPU types) is needed to speak of it.

/** What was opened on the GPU. */
export interface GpuReport {
  /** The adapter, as far as the browser tells. */
  vendor: string;
  architecture: string;
  description: string;
  /** Optional WebGPU features that are in use. */
  features: string[];
  /** Whether its WGSL multiplies four int8 at once (packed_4x8_integer_dot_product): what 'q8' then uses. */
  packedDot: boolean;
  /** The largest piece that a shader can see at once; WebGPU promises 134217728. */
  maxBindingBytes: number;
}

/** The two times that device 'auto' went by: one short text through as many layers of this size as the model has. */
export interface ProbeReport {
  cpuMilliseconds: number;
  /** Of a GPU that was given up: how long it was waited for. */
  gpuMilliseconds: number;
  /** 'slower': its runs could no longer beat the CPU. 'unfinished': within the probe's limit it had not run at all. */
  gaveUp?: 'slower' | 'unfinished';
}

export interface DeviceChoice {
  device: 'cpu' | 'webgpu';
  /** A sentence, where there was something to decide. */
  reason?: string;
  gpu?: GpuReport;
  probe?: ProbeReport;
  /** Where `probe` belongs in a ProbeMemory. */
  probeKey?: string;
}

/** Probes of this session, by size of model and machine: each is run once. */
export type ProbeMemory = Record<string, ProbeReport>;

/** What a caller may ask for. */
export type DeviceWish = 'cpu' | 'auto' | 'webgpu';

/** What a pipeline tells of its memory. */
export interface MemoryReport {
  /** Bytes of the engine's whole memory. */
  heapBytes: number;
  /** Of these, the bytes of weights. */
  weightBytes: number;
}

/** What a pipeline tells of its work. The difference of two reports is what the calls between them took. */
export interface UsageReport {
  /** Calls that have been answered since loading. */
  calls: number;
  /** Tokens that the model has read for them: special tokens count, and a text counts as often as it was read (windows, labels). */
  tokens: number;
  /** Time that the engine has worked on them, in milliseconds. */
  milliseconds: number;
}
