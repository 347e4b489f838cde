// The engine's files and threads in Node.
import { Worker } from 'node:worker_threads';
import type { HelperWorker } from './engine.js';
import { Helper } from './helpers.js';
import { installedFile } from './installed_node.js';
import type { WasmParts } from './builds.js';
import { compileRead } from './read_wasm_node.js';

export const nodeWasm: WasmParts = {
  compile: (build, folder) => compileRead(`peruse-${build}.wasm`, folder),
  startHelper,
};

/** Keeps the process alive until it has loaded, as what waits for it does; from then on it is idle between calls. */
function startHelper(): HelperWorker {
  const worker = new Worker(installedFile('dist/worker/worker_node.js'), { name: 'peruse', execArgv: [] });
  const helper = new Helper(
    (message) => worker.postMessage(message),
    () => void worker.terminate(),
    () => worker.unref(),
  );
  worker.on('message', (data) => helper.receive(data));
  worker.on('error', (error: Error) => helper.fail(error));
  worker.on('messageerror', (error: Error) => helper.fail(error));
  return helper;
}
