// In a file of its own so that the package's types need no WebGPU types.

/** What a pipeline tells of its memory. */
export interface MemoryReport {
  /** Bytes of the engine's whole memory. */
  heapBytes: number;
  /** Of these, held by weights. */
  weightBytes: number;
}
