import { PeruseError, show } from '../errors.js';

export interface EngineFiles {
  wasmPath?: string | URL | undefined;
  wasmModule?: WebAssembly.Module | undefined;
}

/** The options wasmPath and wasmModule: a compiled build, or the URL of a folder with builds. `base` resolves relative addresses. */
export function engineFiles({ wasmPath, wasmModule }: EngineFiles, base: string | undefined): string | WebAssembly.Module | undefined {
  if (wasmModule === undefined) return engineFolder(wasmPath, base);
  if (wasmModule instanceof WebAssembly.Module) return wasmModule;
  throw new PeruseError('invalid_argument', 'wasmModule must be a WebAssembly.Module.');
}

export function engineFolder(path: string | URL | undefined, base: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return new URL(path, base).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `wasmPath ${show(path)} is not a URL.`, { cause: error });
  }
}
