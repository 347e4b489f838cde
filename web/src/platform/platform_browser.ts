// The browser: a module worker that lies beside this file, or this thread.
import { detectFeatures } from '../engine/features.js';
import { describe, PeruseError } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import type { Host } from '../worker/host.js';
import type { WorkerMessage, WorkerPort } from '../worker/worker_host.js';
import { type Platform, webPlaces } from './platform.js';

const kHasWorkers = typeof Worker === 'function'; // Service workers can't start any.

export const browserPlatform: Platform = {
  worksInWorker: async () => kHasWorkers,
  features: (inWorker) =>
    detectFeatures({
      inWorker: kHasWorkers && (inWorker || typeof document === 'undefined'),
      processors: globalThis.navigator?.hardwareConcurrency ?? 1,
      sharedMemory: globalThis.crossOriginIsolated === true,
    }),
  startWorker,
  startHere,
  places: webPlaces,
  folderParts: {},
};

async function startWorker(): Promise<WorkerPort> {
  try {
    return portOf(newWorker());
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw notStarted(describe(error), error);
    return startForeign();
  }
}

/** Spelled out so that bundlers find the file. */
function newWorker(): Worker {
  return new Worker(new URL('./peruse-worker.js', import.meta.url), { type: 'module', name: 'peruse' });
}

/**
 * A worker's script must be of the page's own origin, what it imports need not. Only such a worker starts from a blob, because a
 * page's policy has to allow that. It answers at once, or never.
 */
async function startForeign(): Promise<WorkerPort> {
  const own = import.meta.url.replace(/[^/]*$/, 'peruse-worker.js'); // Not as above: no bundler is to make a second worker of it.
  const script = `import ${JSON.stringify(own)};`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  return new Promise((resolve, reject) => {
    const refused = (reason: string) =>
      reject(notStarted(`it lies on another origin, and the page's policy may allow no worker from a blob (${reason}).`));
    try {
      const worker = new Worker(url, { type: 'module', name: 'peruse' });
      worker.onmessage = () => resolve(portOf(worker));
      worker.onerror = (event) => refused(event.message || 'worker-src blob:');
    } catch (error) {
      refused(describe(error));
    }
  });
}

function notStarted(reason: string, cause?: unknown): PeruseError {
  return new PeruseError('worker_died', `The worker can't be started: ${reason}`, { cause });
}

function portOf(worker: Worker): WorkerPort {
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (listener) => {
      worker.onmessage = (event: MessageEvent<WorkerMessage>) => listener(event.data);
    },
    onDeath: (listener) => {
      // An event without a message: the script could not be fetched.
      worker.onerror = (event) => listener(event.message || 'its script could not be loaded.');
      worker.onmessageerror = () => listener('a message could not be read.');
    },
    terminate: () => worker.terminate(),
  };
}

/** The worker's file, in this thread. */
async function startHere(report: ProgressCallback): Promise<Host> {
  const { LocalHost, browserHostParts } = await import('../worker/worker.js');
  return new LocalHost(report, browserHostParts);
}
