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
  // Another load may want this worker, with nothing in it of the last one. A GPU's driver lets go of its memory when it likes.
  async (isClean) => {
    await helpersHaveGone();
    if (isClean && !hasGpu() && collectGarbage()) parentPort!.postMessage({ kind: 'here' } satisfies WorkerMessage);
    else process.exit();
  },
);

/** Of this thread. V8 gives its function where it was asked to (--expose-gc), and that is asked of each context when it is made. */
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
