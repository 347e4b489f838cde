import type { Build } from '../engine/cpu_engine.js';

/** Addresses of the files that an engine's thread loads. */
export interface PackageFiles {
  builds: Record<Build, () => URL>;
  gpu: () => URL;
  onnx: () => URL;
  files: () => URL;
}

/** The files next to this bundle. One expression per file: bundlers only find files whose names are written like this. */
export const kOwnFiles: PackageFiles = {
  builds: {
    simd: () => new URL('./peruse-simd.wasm', import.meta.url),
    relaxed: () => new URL('./peruse-relaxed.wasm', import.meta.url),
    'simd-threads': () => new URL('./peruse-simd-threads.wasm', import.meta.url),
    'relaxed-threads': () => new URL('./peruse-relaxed-threads.wasm', import.meta.url),
    webgpu: () => new URL('./peruse-webgpu.wasm', import.meta.url),
  },
  gpu: () => new URL('./peruse-gpu.js', import.meta.url),
  onnx: () => new URL('./peruse-onnx.js', import.meta.url),
  files: () => new URL('./peruse-files.js', import.meta.url),
};
