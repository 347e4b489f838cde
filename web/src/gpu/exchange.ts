// A global through which peruse-gpu.js, a script without imports and exports, and the worker that loads it exchange modules.
import type { startWithGpu } from './choose_device.js';

export interface GpuExchange {
  /** Modules of the worker by their names in tools/bundle.mjs, so that both use the same classes. */
  engine: object;
  cpu_engine: object;
  errors: object;
  startWithGpu?: typeof startWithGpu;
}

/** tools/bundle.mjs uses the same symbol. */
export const kGpuExchange = Symbol.for('peruse.gpu');

export const gpuScope = globalThis as { [kGpuExchange]?: GpuExchange };
