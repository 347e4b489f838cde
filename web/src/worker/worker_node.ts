// The worker that Node starts (worker_threads): an engine's room, or one of its threads. Nothing else imports this file.
import { parentPort } from 'node:worker_threads';
import { becomeHelper, isForHelper } from '../engine/helpers.js';
import { nodeHostParts } from './host_parts_node.js';
import { serve, type WorkerRequest } from './worker_host.js';

const port = parentPort!;

serve(
  (message, transfer) => port.postMessage(message, transfer),
  (listener) => {
    port.once('message', (first: WorkerRequest) => {
      if (isForHelper(first)) return help({ data: first });
      port.on('message', listener);
      listener(first);
    });
  },
  nodeHostParts,
);

/** The glue takes this thread for a worker of the web. */
function help(first: { data: unknown }): void {
  const scope = globalThis as unknown as { onmessage: (event: { data: unknown }) => void };
  const names = {
    self: globalThis,
    location: { href: '' },
    importScripts: () => {},
    postMessage: (message: unknown) => port.postMessage(message),
  };
  // Not assigned: Deno has some of them already, and some of those can only be read.
  for (const [name, value] of Object.entries(names)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  port.on('message', (data: unknown) => scope.onmessage({ data }));
  becomeHelper(first);
}
