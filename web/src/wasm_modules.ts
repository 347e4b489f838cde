// Loads a build of the engine. The imports are spelled out so that bundlers find the files.
import { Engine, type EngineModuleFactory } from './engine.js';
import { describe, PeruseError } from './errors.js';
import type { Build, VariantChoice } from './variant.js';

const kModules: Record<Build, () => Promise<{ default: EngineModuleFactory }>> = {
  'simd': () => import('../wasm/peruse-simd.mjs'),
  'relaxed': () => import('../wasm/peruse-relaxed.mjs'),
  'simd-threads': () => import('../wasm/peruse-simd-threads.mjs'),
  'relaxed-threads': () => import('../wasm/peruse-relaxed-threads.mjs'),
  'webgpu': () => import('../wasm/peruse-webgpu.mjs'),
};

/**
 * Starts the engine. `wasmPath`: URL of a folder that holds the builds, instead of the package's own; `findGpu`: where
 * WebGPU is, if not in the navigator.
 */
export async function startEngine(choice: VariantChoice, wasmPath?: string, findGpu = navigatorGpu): Promise<Engine> {
  let lastWords = '';
  const options = {
    print: () => {},
    printErr: (line: string) => { lastWords = line; },
    pthreadPoolSize: choice.threads - 1,
  };
  // A page that computes on the CPU never loads the GPU's part.
  const gpu = choice.variant === 'webgpu' ? await import('./gpu/gpu_engine.js') : undefined;
  const device = await gpu?.openGpuDevice(await findGpu());
  try {
    const { default: factory } = wasmPath === undefined
      ? await kModules[choice.variant]()
      : await importFrom(choice.variant, wasmPath);
    const module = await factory(options);
    if (gpu !== undefined && device !== undefined) return new gpu.GpuEngine(module, device, () => lastWords);
    return new Engine(module, choice.threads, () => lastWords);
  } catch (error) {
    device?.destroy();
    const where = wasmPath === undefined ? '' : ` from ${wasmPath}`;
    throw new PeruseError('no_wasm', `The engine's build '${choice.variant}' could not be started${where}: ${describe(error)}`, { cause: error });
  }
}

function importFrom(variant: Build, wasmPath: string): Promise<{ default: EngineModuleFactory }> {
  const url = new URL(`peruse-${variant}.mjs`, wasmPath.endsWith('/') ? wasmPath : `${wasmPath}/`).href;
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url);
}

async function navigatorGpu(): Promise<GPU | undefined> {
  return (globalThis.navigator as Navigator | undefined)?.gpu;
}
