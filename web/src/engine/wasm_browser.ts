// The engine's files where they are fetched. Part of the bundles, beside which the files lie (tools/bundle.mjs).
import type { HelperWorker } from './engine.js';
import { compileFetched } from './fetch_wasm.js';
import { Helper } from './helpers.js';
import type { Build, WasmParts } from './builds.js';

/** Spelled out so that bundlers find the files. */
const kFiles: Record<Build, () => URL> = {
  simd: () => new URL('./peruse-simd.wasm', import.meta.url),
  relaxed: () => new URL('./peruse-relaxed.wasm', import.meta.url),
  'simd-threads': () => new URL('./peruse-simd-threads.wasm', import.meta.url),
  'relaxed-threads': () => new URL('./peruse-relaxed-threads.wasm', import.meta.url),
  webgpu: () => new URL('./peruse-webgpu.wasm', import.meta.url),
};

export const browserWasm: WasmParts = {
  compile: (build, folder) => compileFetched(`peruse-${build}.wasm`, kFiles[build], folder),
  startHelper,
};

/** The worker in which this runs once more: a bundler may have given its file any name. */
function startHelper(): HelperWorker {
  const worker = new Worker(location.href, { type: isModule() ? 'module' : 'classic', name: 'peruse' });
  const helper = new Helper(
    (message) => worker.postMessage(message),
    () => worker.terminate(),
  );
  worker.onmessage = (event) => helper.receive(event.data);
  worker.onerror = (event) => helper.fail(event);
  worker.onmessageerror = () => helper.fail({ message: 'a message of it could not be read' });
  return helper;
}

/**
 * Bundlers may have made a classic script of the worker. A module may not import scripts, a TypeError; a classic script finds that
 * this is no address. (Without an address Firefox says nothing in either.)
 */
function isModule(): boolean {
  try {
    (globalThis as unknown as { importScripts(url: string): void }).importScripts('http://[');
  } catch (error) {
    return error instanceof TypeError;
  }
  return false;
}
