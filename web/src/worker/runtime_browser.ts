// The runtime of engines in browsers. The GPU's part and the ONNX reader are scripts that are loaded by their addresses (importPart).
import { type Build, startBuild, startCpuBuild, startCpuEngine } from '../engine/cpu_engine.js';
import { Engine } from '../engine/engine.js';
import { compileFetched, importPart } from '../engine/files_browser.js';
import { dropHelpers, startHelper } from '../engine/helper_browser.js';
import { describeError, PeruseError } from '../errors.js';
import { type GpuExchange, gpuScope, kGpuExchange } from '../gpu/exchange.js';
import type { FolderKit } from '../sources/file_access.js';
import type { DescribePart, EngineRuntime, GpuPart } from './runtime.js';

export function browserEngines({ builds, gpu, onnx, files }: PackageFiles): EngineRuntime {
  return {
    compile: (build, folder) => compileFetched(`peruse-${build}.wasm`, builds[build], folder),
    startHelper,
    dropHelpers,
    importGpu: () => importGpu(gpu().href),
    importDescribe: async () => importPart<DescribePart>('files', files().href),
    importOnnx: async () => importPart('onnx', onnx().href),
    openOpfs: async (version) => (await importPart<FolderKit>('files', files().href)).openOpfs(version),
  };
}

async function importGpu(href: string): Promise<GpuPart> {
  gpuScope[kGpuExchange] ??= {
    engine: { Engine },
    cpu_engine: { startBuild, startCpuBuild, startCpuEngine },
    errors: { describeError, PeruseError },
  };
  const { startWithGpu } = await importPart<GpuExchange>('gpu', href);
  if (!startWithGpu) throw new Error(`${href} is not the GPU's part of Peruse.`);
  return { startWithGpu };
}

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
