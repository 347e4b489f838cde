// Reports on device, memory and work, as plain data: the package's types must not require WebGPU types.

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
