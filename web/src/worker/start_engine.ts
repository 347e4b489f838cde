// Starts an engine for the device that was wished for.

import { type EngineRequest, startCpuEngine } from '../engine/builds.js';
import type { Engine } from '../engine/engine.js';
import { describe, PeruseError } from '../errors.js';

/** Starts the engine. `findGpu`: where WebGPU is, if not in the navigator. */
export async function startEngine(request: EngineRequest, findGpu = navigatorGpu): Promise<Engine> {
  if ((request.device ?? 'cpu') === 'cpu') return startCpuEngine(request);
  let part: Awaited<ReturnType<typeof importGpuPart>>;
  try {
    part = await importGpuPart();
  } catch (error) {
    if (request.device === 'webgpu') throw error;
    return startCpuEngine(request, `the CPU, because the GPU can't be used: ${(error as PeruseError).message}`);
  }
  return part.startWithGpu(request, findGpu);
}

/** A page that computes on the CPU never loads it; a service worker can't. */
async function importGpuPart() {
  try {
    return await import('../gpu/choose_device.js');
  } catch (error) {
    throw new PeruseError('no_gpu', `The GPU's part of Peruse could not be loaded: ${describe(error)}`, { cause: error });
  }
}

async function navigatorGpu(): Promise<GPU | undefined> {
  return (globalThis.navigator as Navigator | undefined)?.gpu;
}
