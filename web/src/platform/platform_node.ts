// Node: folders on disk, and worker_threads.
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { detectFeatures } from '../engine/features.js';
import { nodeHostParts } from '../worker/host_parts_node.js';
import type { Platform } from './platform.js';
import type { WorkerMessage, WorkerPort } from '../worker/worker_host.js';

export const nodePlatform: Platform = {
  workerByDefault: false,
  // In Node every thread may block, and memory can always be shared.
  features: () => detectFeatures({ inWorker: true, processors: availableParallelism(), sharedMemory: true }),
  startWorker,
  places: { baseUrl: () => undefined, findFolder },
  hostParts: nodeHostParts,
};

async function findFolder(text: string): Promise<string | undefined> {
  const path = text.startsWith('file:') ? fileURLToPath(text) : text;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : undefined;
}

function startWorker(): WorkerPort {
  const worker = new Worker(new URL('../worker/worker_node.js', import.meta.url), { name: 'peruse', execArgv: [] });
  let ended = false;
  let waiting = 0;  // An idle worker does not keep the process alive.
  worker.unref();
  return {
    post: (message, transfer = []) => {
      worker.postMessage(message, transfer as never[]);
      if (message.verb !== 'cancel' && waiting++ === 0) worker.ref();
    },
    onMessage: (listener) => {
      worker.on('message', (message: WorkerMessage) => {
        if (message.kind !== 'progress' && --waiting === 0) worker.unref();
        listener(message);
      });
    },
    onDeath: (listener) => {
      worker.on('error', (error) => listener(error instanceof Error ? error.message : String(error)));
      worker.on('messageerror', (error) => listener(error.message));
      worker.on('exit', (code) => { if (!ended) listener(`it exited with code ${code}.`); });
    },
    terminate: () => {
      ended = true;
      void worker.terminate();
    },
  };
}
