import type { Build } from './cpu_engine.js';
import { startNodeHelper } from './helper_node.js';
import { compileRead, type InstalledFile } from './installed_node.js';
import type { BuildAccess } from './start_module.js';

/** The worker as one file, so that a bundler needs to copy only that. */
export const kNodeWorker: InstalledFile = {
  path: 'dist/node/worker.mjs',
  own() {
    return new URL('../node/worker.mjs', import.meta.url);
  },
};

export const kNodeBuilds: Record<Build, InstalledFile> = {
  simd: {
    path: 'bundle/peruse-simd.wasm',
    own() {
      return new URL('../../bundle/peruse-simd.wasm', import.meta.url);
    },
  },
  relaxed: {
    path: 'bundle/peruse-relaxed.wasm',
    own() {
      return new URL('../../bundle/peruse-relaxed.wasm', import.meta.url);
    },
  },
  'simd-threads': {
    path: 'bundle/peruse-simd-threads.wasm',
    own() {
      return new URL('../../bundle/peruse-simd-threads.wasm', import.meta.url);
    },
  },
  'relaxed-threads': {
    path: 'bundle/peruse-relaxed-threads.wasm',
    own() {
      return new URL('../../bundle/peruse-relaxed-threads.wasm', import.meta.url);
    },
  },
  webgpu: {
    path: 'bundle/peruse-webgpu.wasm',
    own() {
      return new URL('../../bundle/peruse-webgpu.wasm', import.meta.url);
    },
  },
};

export const nodeWasm: BuildAccess<Build> = {
  compile: (build, folder) => compileRead(kNodeBuilds[build], folder),
  startHelper: () => startNodeHelper(kNodeWorker),
};
