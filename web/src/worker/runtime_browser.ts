// The platform of a host in browsers. The GPU's part is a script that is loaded by its address: an import would not work, because Vite 5 to 7 do
// not bundle a worker that imports a second file.

import { startBuild, startCpuBuild, startCpuEngine } from '../engine/cpu_engine.js';
import { Engine } from '../engine/engine.js';
import { browserWasm } from '../engine/wasm_browser.js';
import { describeError, PeruseError } from '../errors.js';
import { gpuScope, kGpuExchange } from '../gpu/exchange.js';
import { importOnnx } from './import_onnx_browser.js';
import type { GpuPart, Runtime } from './runtime.js';

export const browserRuntime: Runtime = { ...browserWasm, importGpu, importOnnx };

export async function importGpu(): Promise<GpuPart> {
  const { href } = new URL('./peruse-gpu.js', import.meta.url); // this form lets bundlers find the file
  gpuScope[kGpuExchange] ??= {
    engine: { Engine },
    cpu_engine: { startBuild, startCpuBuild, startCpuEngine },
    errors: { describeError, PeruseError },
  };
  const exchange = gpuScope[kGpuExchange];
  await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ href);
  const { startWithGpu } = exchange;
  if (!startWithGpu) throw new Error(`${href} is not the GPU's part of Peruse.`);
  return { startWithGpu };
}
