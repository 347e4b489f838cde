import type { Build } from './cpu_engine.js';
import { compileFetched } from './files_browser.js';
import { dropHelpers, startHelper } from './helper_browser.js';
import type { BuildAccess } from './start_module.js';

/** One expression per file: bundlers only find files whose names are written like this. */
const kFiles: Record<Build, () => URL> = {
  simd: () => new URL('./peruse-simd.wasm', import.meta.url),
  relaxed: () => new URL('./peruse-relaxed.wasm', import.meta.url),
  'simd-threads': () => new URL('./peruse-simd-threads.wasm', import.meta.url),
  'relaxed-threads': () => new URL('./peruse-relaxed-threads.wasm', import.meta.url),
  webgpu: () => new URL('./peruse-webgpu.wasm', import.meta.url),
};

export const browserWasm: BuildAccess<Build> = {
  compile: (build, folder) => compileFetched(`peruse-${build}.wasm`, kFiles[build], folder),
  startHelper,
  dropHelpers,
};
