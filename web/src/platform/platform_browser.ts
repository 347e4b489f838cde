// The browser: a module worker that lies beside this file.
import { describe, PeruseError } from '../errors.js';
import { detectFeatures } from '../engine/features.js';
import type { Platform } from './platform.js';
import type { WorkerMessage, WorkerPort } from '../worker/worker_host.js';

const kHasWorkers = typeof Worker === 'function';  // Service workers can't start any.

export const browserPlatform: Platform = {
  workerByDefault: kHasWorkers,
  features: (inWorker) => detectFeatures({
    inWorker: kHasWorkers && (inWorker || typeof document === 'undefined'),
    processors: navigator.hardwareConcurrency,
    sharedMemory: globalThis.crossOriginIsolated === true,
  }),
  startWorker,
  places: {
    baseUrl: () => (typeof document === 'undefined' ? globalThis.location?.href : document.baseURI),
    findFolder: async () => undefined,
  },
  hostParts: {},
};

function startWorker(): WorkerPort {
  let worker: Worker;
  try {
    worker = new Worker(new URL('../worker/worker.js', import.meta.url), { type: 'module', name: 'peruse' });
  } catch (error) {
    throw new PeruseError('worker_died', `The worker can't be started: ${describe(error)}`, { cause: error });
  }
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (listener) => { worker.onmessage = (event: MessageEvent<WorkerMessage>) => listener(event.data); },
    onDeath: (listener) => {
      // An event without a message: the script could not be fetched.
      worker.onerror = (event) => listener(event.message || 'its script could not be loaded.');
      worker.onmessageerror = () => listener('a message could not be read.');
    },
    terminate: () => worker.terminate(),
  };
}
