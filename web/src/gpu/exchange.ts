// A global object for data between peruse-gpu.js, a script without imports and exports, and the worker that loads it.
import type { startWithGpu } from './choose_device.js';

export interface GpuExchange {
  /** Modules of the worker, by their names in tools/bundle.mjs, so that both use the same classes of engines and errors. */
  engine: object;
  builds: object;
  errors: object;
  /** Set by the script. */
  startWithGpu?: typeof startWithGpu;
}

/** Key of the global, also in tools/bundle.mjs. */
export const kGpuExchange = Symbol.for('peruse.gpu');

export const gpuScope = globalThis as { [kGpuExchange]?: GpuExchange };
