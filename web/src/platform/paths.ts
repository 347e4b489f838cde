import { PeruseError, show } from '../errors.js';
import { baseAddress } from '../sources/http/fetching.js';
import type { PathResolver } from '../sources/source.js';

/** On the web a path is a URL, relative to the page or the worker. */
export const webPaths: PathResolver = {
  baseUrl: baseAddress,
  findFolder: async () => undefined,
};

interface EngineFiles {
  /** `env.filesPath`, or what a bundler has chosen. */
  filesFolder?: string | URL | undefined;
  wasm_module?: WebAssembly.Module | undefined;
}

/** A compiled build, or the URL of a folder with builds. `base` resolves relative addresses. */
export function engineFiles({ filesFolder, wasm_module }: EngineFiles, base: string | undefined): string | WebAssembly.Module | undefined {
  if (wasm_module === undefined) return engineFolder(filesFolder, base);
  if (wasm_module instanceof WebAssembly.Module) return wasm_module;
  throw new PeruseError('invalid_argument', 'wasm_module must be a WebAssembly.Module.');
}

export function engineFolder(path: string | URL | undefined, base: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return new URL(path, base).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `env.filesPath ${show(path)} is not a URL.`, { cause: error });
  }
}
