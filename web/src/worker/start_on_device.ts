import { type EngineRequest, startCpuEngine } from '../engine/cpu_engine.js';
import type { Engine } from '../engine/engine.js';
import { describeError, PeruseError } from '../errors.js';
import type { startWithGpu } from '../gpu/choose_device.js';

export interface GpuPart {
  startWithGpu: typeof startWithGpu;
}

export interface GpuParts {
  /** Finds WebGPU outside of the navigator. Throws 'no_gpu'. */
  findGpu?: () => Promise<GPU | undefined>;
  /** Loads GPU support. Not called for device 'cpu'. */
  importGpu?: () => Promise<GpuPart>;
}

export async function startOnDevice(request: EngineRequest, { findGpu = navigatorGpu, importGpu }: GpuParts = {}): Promise<Engine> {
  if ((request.device ?? 'cpu') === 'cpu') return startCpuEngine(request);
  let part: GpuPart;
  try {
    part = await load(importGpu);
  } catch (error) {
    if (request.device === 'webgpu') throw error;
    return startCpuEngine(request, `the CPU, because the GPU can't be used: ${(error as PeruseError).message}`);
  }
  return part.startWithGpu(request, findGpu);
}

async function load(importGpu: GpuParts['importGpu']): Promise<GpuPart> {
  try {
    if (!importGpu) throw new Error('there is none here.');
    return await importGpu();
  } catch (error) {
    throw new PeruseError('no_gpu', `The GPU's part of Peruse could not be loaded: ${describeError(error)}`, { cause: error });
  }
}

async function navigatorGpu(): Promise<GPU | undefined> {
  return (globalThis.navigator as Navigator | undefined)?.gpu;
}
