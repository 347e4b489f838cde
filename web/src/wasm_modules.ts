// Loads a build of the engine. The imports are spelled out so that bundlers find the files.
import { Engine, type EngineModuleFactory } from './engine.js';
import { describe, PeruseError } from './errors.js';
import type { Variant, VariantChoice } from './variant.js';

const kModules: Record<Variant, () => Promise<{ default: EngineModuleFactory }>> = {
  'simd': () => import('../wasm/peruse-simd.mjs'),
  'relaxed': () => import('../wasm/peruse-relaxed.mjs'),
  'simd-threads': () => import('../wasm/peruse-simd-threads.mjs'),
  'relaxed-threads': () => import('../wasm/peruse-relaxed-threads.mjs'),
};

/** Starts the engine. `wasmPath`: URL of a folder that holds the builds, instead of the package's own. */
export async function startEngine(choice: VariantChoice, wasmPath?: string): Promise<Engine> {
  let lastWords = '';
  const options = {
    print: () => {},
    printErr: (line: string) => { lastWords = line; },
    pthreadPoolSize: choice.threads - 1,
  };
  try {
    const { default: factory } = wasmPath === undefined
      ? await kModules[choice.variant]()
      : await importFrom(choice.variant, wasmPath);
    return new Engine(await factory(options), choice.threads, () => lastWords);
  } catch (error) {
    const where = wasmPath === undefined ? '' : ` from ${wasmPath}`;
    throw new PeruseError('no_wasm', `The engine's build '${choice.variant}' could not be started${where}: ${describe(error)}`, { cause: error });
  }
}

function importFrom(variant: Variant, wasmPath: string): Promise<{ default: EngineModuleFactory }> {
  const url = new URL(`peruse-${variant}.mjs`, wasmPath.endsWith('/') ? wasmPath : `${wasmPath}/`).href;
  return import(/* @vite-ignore */ /* webpackIgnore: true */ url);
}
