// The worker that Node starts (worker_threads). Nothing else imports this file.
import { parentPort } from 'node:worker_threads';
import { DiskFolder } from './folder_node.js';
import { findGpuInNode } from './gpu_node.js';
import { serve } from './worker_host.js';

const port = parentPort!;

serve(
  (message) => port.postMessage(message),
  (listener) => { port.on('message', listener); },
  { openDiskFolder: (path) => new DiskFolder(path), findGpu: findGpuInNode },
);
