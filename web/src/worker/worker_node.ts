// The worker that Node starts (worker_threads). Nothing else imports this file.
import { parentPort } from 'node:worker_threads';
import { nodeHostParts } from './host_parts_node.js';
import { serve } from './worker_host.js';

const port = parentPort!;

serve(
  (message, transfer) => port.postMessage(message, transfer),
  (listener) => { port.on('message', listener); },
  nodeHostParts,
);
