// The runtime of engines in browsers. The GPU's part and the ONNX reader are scripts that are loaded by their addresses (import_part.ts).

import { startBuild, startCpuBuild, startCpuEngine } from '../engine/cpu_engine.js';
import { Engine } from '../engine/engine.js';
import { compileFetched } from '../engine/files_browser.js';
import { dropHelpers, startHelper } from '../engine/helper_browser.js';
import { describeError, PeruseError } from '../errors.js';
import { type GpuExchange, gpuScope, kGpuExchange } from '../gpu/exchange.js';
import type { FolderKit } from '../sources/file_access.js';
import { importPart } from './import_part.js';
import type { PackageFiles } from './own_files.js';
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
