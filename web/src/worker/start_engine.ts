// Starts an engine for the device that was wished for.
import type { Engine } from '../engine/engine.js';
import { startCpuEngine, startModule, type EngineRequest } from '../engine/wasm_modules.js';
import { describe, PeruseError } from '../errors.js';

/** Starts the engine. `findGpu`: where WebGPU is, if not in the navigator. */
export async function startEngine(request: EngineRequest, findGpu = navigatorGpu): Promise<Engine> {
  if (request.device !== 'cpu') {
    const { startWithGpu } = await importGpuPart();
    return startWithGpu(request, findGpu, (gpu) => startModule({ choice: request.choice, wasmPath: request.wasmPath }, gpu));
  }
  return startCpuEngine(request.choice, request.wasmPath);
}

/** A page that computes on the CPU never loads it. */
async function importGpuPart() {
  try {
    return await import('../gpu/place.js');
  } catch (error) {
    throw new PeruseError('no_gpu', `The GPU's part of Peruse could not be loaded: ${describe(error)}`, { cause: error });
  }
}

async function navigatorGpu(): Promise<GPU | undefined> {
  return (globalThis.navigator as Navigator | undefined)?.gpu;
}
