// Loads the GPU's part in browsers: a script of its own, peruse-gpu.js, by its address. It is not an import that bundlers follow, because
// Vite 5 to 7 refuse to bundle a worker that imports a second file.
import { startBuild, startCpuBuild, startCpuEngine } from '../engine/builds.js';
import { Engine } from '../engine/engine.js';
import { describe, PeruseError } from '../errors.js';
import { gpuScope, kGpuExchange } from '../gpu/exchange.js';
import type { GpuPart } from './start_engine.js';

export async function importGpu(): Promise<GpuPart> {
  const { href } = new URL('./peruse-gpu.js', import.meta.url); // Spelled out so that bundlers copy the file.
  gpuScope[kGpuExchange] ??= {
    engine: { Engine },
    builds: { startBuild, startCpuBuild, startCpuEngine },
    errors: { describe, PeruseError },
  };
  const exchange = gpuScope[kGpuExchange];
  await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ href);
  const { startWithGpu } = exchange;
  if (!startWithGpu) throw new Error(`${href} is not the GPU's part of Peruse.`);
  return { startWithGpu };
}
