import type { Build, EngineRequest } from '../engine/cpu_engine.js';
import type { Engine } from '../engine/engine.js';
import type { BuildAccess } from '../engine/start_module.js';
import type { startWithGpu } from '../gpu/choose_device.js';
import type { FileAccess } from '../sources/file_access.js';

export interface GpuPart {
  startWithGpu: typeof startWithGpu;
}

/** The platform of a host: files, builds and threads, and the GPU. */
export interface Runtime extends FileAccess, BuildAccess<Build> {
  /** Finds WebGPU outside of the navigator. Throws 'no_gpu'. */
  findGpu?: () => Promise<GPU | undefined>;
  /** Loads GPU support. Not called for device 'cpu'. */
  importGpu?: () => Promise<GpuPart>;
  /** Replaces startOnDevice(). */
  startEngine?: (request: EngineRequest) => Promise<Engine>;
}
