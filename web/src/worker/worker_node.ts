// The worker that Node starts (worker_threads): an engine's room, or one of its threads. Nothing else imports this file.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { helpersHaveGone, listenOrHelp } from '../engine/helper_node.js';
import { hasGpu } from '../gpu/gpu_node.js';
import { nodeHostParts } from './host_parts_node.js';
import { serve, type WorkerMessage } from './worker_host.js';

serve(
  (message, transfer) => parentPort!.postMessage(message, transfer),
  (listener) => listenOrHelp(createThreaded as ModuleFactory<never>, listener),
  nodeHostParts,
  // Frees the last load's memory, so that another load can reuse this worker; ends the worker if that fails, or if it used a GPU, whose
  // driver frees memory at an unpredictable time.
  async (isClean) => {
    await helpersHaveGone();
    if (isClean && !hasGpu() && collectGarbage()) parentPort!.postMessage({ kind: 'here' } satisfies WorkerMessage);
    else process.exit();
  },
);

/** Collects this thread's garbage. V8 exposes the function with --expose-gc, which is evaluated when a context is created. */
function collectGarbage(): boolean {
  try {
    globalThis.gc ??= newCollector();
    void globalThis.gc();
    return true;
  } catch {
    return false;
  }
}

function newCollector(): NodeJS.GCFunction {
  setFlagsFromString('--expose-gc');
  try {
    return runInNewContext('gc') as NodeJS.GCFunction;
  } finally {
    setFlagsFromString('--no-expose-gc');
  }
}
