// An engine's reports on device, memory and work. Plain data, so that using them does not require GPU code (nor, for the package's types,
// WebGPU types).

/** The opened GPU device. */
export interface GpuReport {
  /** The adapter, as reported by the browser. */
  vendor: string;
  architecture: string;
  description: string;
  /** Optional WebGPU features in use. */
  features: string[];
  /** Whether WGSL has packed_4x8_integer_dot_product, which multiplies four int8 in one operation; 'q8' uses it. */
  packedDot: boolean;
  /** The largest buffer binding of a shader, in bytes; WebGPU guarantees 134217728. */
  maxBindingBytes: number;
}

/** The two times that decide device 'auto': one short text through layers of the model's size and number. */
export interface ProbeReport {
  cpuMilliseconds: number;
  /** If the GPU gave up: how long the probe waited. */
  gpuMilliseconds: number;
  /** 'slower' means that its runs could no longer beat the CPU, 'unfinished' that no run finished within the probe's limit. */
  gaveUp?: 'slower' | 'unfinished';
}

export interface DeviceChoice {
  device: 'cpu' | 'webgpu';
  /** Why the device was chosen, if there was a choice. */
  reason?: string;
  gpu?: GpuReport;
  probe?: ProbeReport;
  /** Key of `probe` in a ProbeMemory. */
  probeKey?: string;
}

/** Probes of this session, by model size and machine: each runs once. */
export type ProbeMemory = Record<string, ProbeReport>;

/** A caller's choice of device. */
export type DeviceWish = 'cpu' | 'auto' | 'webgpu';

/** Memory of a pipeline. */
export interface MemoryReport {
  /** Bytes of the engine's whole memory. */
  heapBytes: number;
  /** Bytes of weights, included in heapBytes. */
  weightBytes: number;
}

/** Work of a pipeline. The difference of two reports is the work of the calls between them. */
export interface UsageReport {
  /** Answered calls since loading. */
  calls: number;
  /** Tokens that the model has read, including special tokens; a text counts each time it is read (windows, labels). */
  tokens: number;
  /** Time that the engine has worked, in milliseconds. */
  milliseconds: number;
}
