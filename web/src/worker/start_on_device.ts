import { type EngineRequest, startCpuEngine } from '../engine/cpu_engine.js';
import type { Engine } from '../engine/engine.js';
import { describeError, PeruseError } from '../errors.js';
import type { GpuPart, Runtime } from './runtime.js';

export async function startOnDevice(request: EngineRequest, runtime: Runtime): Promise<Engine> {
  const engine = await start(request, runtime);
  void runtime.dropHelpers?.(); // ends helpers that were started in advance: a GPU does not need threads
  return engine;
}

async function start(request: EngineRequest, { findGpu = navigatorGpu, importGpu }: Runtime): Promise<Engine> {
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

async function load(importGpu: Runtime['importGpu']): Promise<GpuPart> {
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
