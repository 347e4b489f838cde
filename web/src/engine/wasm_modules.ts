// Loads a build of the engine. The imports are spelled out so that bundlers find the files.
import { Engine, type EngineModule, type EngineModuleFactory } from './engine.js';
import { describe, PeruseError } from '../errors.js';
import type { DeviceWish, ProbeMemory } from './placement.js';
import type { Variant, VariantChoice } from './variant.js';

type Importer = () => Promise<{ default: EngineModuleFactory }>;

/** The variants compute on the CPU. 'webgpu' can compute on a GPU, where the CPU only records: it has no threads. */
export type Build = Variant | 'webgpu';

const kModules: Record<Build, Importer> = {
  'simd': () => import('../../wasm/peruse-simd.mjs'),
  'relaxed': () => import('../../wasm/peruse-relaxed.mjs'),
  'simd-threads': () => import('../../wasm/peruse-simd-threads.mjs'),
  'relaxed-threads': () => import('../../wasm/peruse-relaxed-threads.mjs'),
  'webgpu': () => import('../../wasm/peruse-webgpu.mjs'),
};

/** Takes a build that was imported already: where import() is not allowed (service workers). */
export function provideModule(variant: Variant, factory: EngineModuleFactory): void {
  kModules[variant] = async () => ({ default: factory });
}

export interface EngineRequest {
  choice: VariantChoice;
  device: DeviceWish;
  /** The engine's name for it, or 'auto'. */
  dtype: string;
  /** Multiply float16 weights in half precision, where the adapter can. */
  shaderF16: boolean;
  /** URL of a folder that holds the builds, instead of the package's own. */
  wasmPath?: string;
  /** The content of config.json: what a probe's sizes come from. */
  config: Promise<Uint8Array>;
  probes: ProbeMemory;
}

export interface StartedModule {
  module: EngineModule;
  lastWords: () => string;
}

/** `reason`: why the CPU, where there was a choice. */
export async function startCpuEngine(choice: VariantChoice, wasmPath?: string, reason?: string): Promise<Engine> {
  const { module, lastWords } = await startModule(choice.variant, choice.threads, wasmPath);
  return new Engine(module, choice.threads, lastWords, undefined, { device: 'cpu', ...(reason === undefined ? {} : { reason }) });
}

export async function startModule(build: Build, threads: number, wasmPath: string | undefined): Promise<StartedModule> {
  let lastWords = '';
  const options = {
    print: () => {},
    printErr: (line: string) => { lastWords = line; },
    pthreadPoolSize: threads - 1,
  };
  try {
    const { default: factory } = await (wasmPath === undefined ? kModules[build]() : importFrom(build, wasmPath));
    return { module: await factory(options), lastWords: () => lastWords };
  } catch (error) {
    const where = wasmPath === undefined ? '' : ` from ${wasmPath}`;
    throw new PeruseError('no_wasm', `The engine's build '${build}' could not be started${where}: ${describe(error)}`, { cause: error });
  }
}

function importFrom(build: Build, wasmPath: string): Promise<{ default: EngineModuleFactory }> {
  const url = new URL(`peruse-${build}.mjs`, wasmPath.endsWith('/') ? wasmPath : `${wasmPath}/`).href;
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url);
}
