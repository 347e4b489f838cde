// What peruse-gpu.js, a script without imports and exports, and the worker that loads it exchange: a global object.
import type { startWithGpu } from './choose_device.js';

export interface GpuExchange {
  /** Modules of the worker, by the names that tools/bundle.mjs uses: one class of engines and of errors for both. */
  engine: object;
  builds: object;
  errors: object;
  /** Set by the script. */
  startWithGpu?: typeof startWithGpu;
}

/** Key of the global. tools/bundle.mjs has it too. */
export const kGpuExchange = Symbol.for('peruse.gpu');

export const gpuScope = globalThis as { [kGpuExchange]?: GpuExchange };
