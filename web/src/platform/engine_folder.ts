import { PeruseError, show } from '../errors.js';

export interface EngineFiles {
  wasm_path?: string | URL | undefined;
  wasm_module?: WebAssembly.Module | undefined;
}

/** The options wasm_path and wasm_module: a compiled build, or the URL of a folder with builds. `base` resolves relative addresses. */
export function engineFiles({ wasm_path, wasm_module }: EngineFiles, base: string | undefined): string | WebAssembly.Module | undefined {
  if (wasm_module === undefined) return engineFolder(wasm_path, base);
  if (wasm_module instanceof WebAssembly.Module) return wasm_module;
  throw new PeruseError('invalid_argument', 'wasm_module must be a WebAssembly.Module.');
}

export function engineFolder(path: string | URL | undefined, base: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return new URL(path, base).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `wasm_path ${show(path)} is not a URL.`, { cause: error });
  }
}
