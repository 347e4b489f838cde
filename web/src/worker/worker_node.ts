// The worker that Node starts (worker_threads): an engine's room, or one of its threads. Nothing else imports this file.
import { parentPort } from 'node:worker_threads';
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { listenOrHelp } from '../engine/helper_node.js';
import { nodeHostParts } from './host_parts_node.js';
import { serve } from './worker_host.js';

serve(
  (message, transfer) => parentPort!.postMessage(message, transfer),
  (listener) => listenOrHelp(createThreaded as ModuleFactory<never>, listener),
  nodeHostParts,
);
