// The worker script in Node: a host, or a thread of an engine.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { helpersHaveGone, listenOrHelp } from '../engine/helper_node.js';
import { compiled, hasGpu, onCompiling } from '../gpu/gpu_node.js';
import type { WorkerMessage, WorkerRequest } from './messages.js';
import { nodeEngines } from './runtime_node.js';
import { serve } from './serve.js';

let hasLooked = false; // for the garbage collection

onCompiling((compiling) => parentPort!.postMessage({ kind: 'compiling', compiling } satisfies WorkerMessage));
serve(
  (message, transfer) => parentPort!.postMessage(message, transfer),
  (listener) =>
    listenOrHelp(createThreaded as ModuleFactory<never>, (message: WorkerRequest) => {
      findCollector();
      listener(message);
    }),
  nodeEngines,
  // Frees the memory of the last load for the next one. If that fails, or after using a GPU, whose driver frees memory late, ends the worker.
  async (isClean) => {
    let isIdle = false;
    try {
      await Promise.all([helpersHaveGone(), compiled()]);
      isIdle = isClean && !hasGpu() && collectGarbage();
    } finally {
      if (isIdle) parentPort!.postMessage({ kind: 'here' } satisfies WorkerMessage);
      else process.exit();
    }
  },
);

/**
 * Finds V8's garbage collection, which V8 exposes in contexts that are created under --expose-gc. It is found before the first answer, for which
 * the program waits: Node 22 prints to stderr if the process ends while a worker creates a context.
 */
function findCollector(): void {
  if (hasLooked) return;
  hasLooked = true;
  try {
    globalThis.gc ??= newCollector();
  } catch {} // without it, the worker ends with its work
}

function collectGarbage(): boolean {
  void globalThis.gc?.();
  return globalThis.gc !== undefined;
}

/** V8's flags belong to the process: a worker that ends at the same time can withdraw this one too early. So it tries again. */
function newCollector(tries = 20): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as NodeJS.GCFunction;
  } catch (error) {
    if (tries === 1) throw error;
    return newCollector(tries - 1);
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
