// Starts a worker in a browser: of the package's own file, or from a blob that imports it.
import { describe, PeruseError } from '../errors.js';
import type { ProgressInfo } from '../progress.js';
import type { VerbTable, Verbs } from './host.js';
import type { WorkerMessage, WorkerPort } from './worker_host.js';

/** What a worker may take to end by itself, in milliseconds. */
const kGrace = 5000;

/** `make`: as bundlers find the file. `own`: its address, for a page of another origin. Throws 'worker_died'. */
export async function startBrowserWorker<S extends VerbTable<S> = Verbs, Progress = ProgressInfo>(
  make: () => Worker,
  own: string,
): Promise<WorkerPort<S, Progress>> {
  try {
    return portOf(make());
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw notStarted(describe(error), error);
    return startForeign(own);
  }
}

/**
 * A worker's script must be of the page's own origin, what it imports need not. Only such a worker starts from a blob, because a
 * page's policy has to allow that. It answers at once, or never.
 */
async function startForeign<S extends VerbTable<S>, Progress>(own: string): Promise<WorkerPort<S, Progress>> {
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

function portOf<S extends VerbTable<S>, Progress>(worker: Worker): WorkerPort<S, Progress> {
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (listener) => {
      worker.onmessage = (event: MessageEvent<WorkerMessage<Progress>>) => listener(event.data);
    },
    onDeath: (listener) => {
      // An event without a message: the script could not be fetched.
      worker.onerror = (event) => listener(event.message || 'its script could not be loaded.');
      worker.onmessageerror = () => listener('a message could not be read.');
    },
    // It ends by itself, when it has let its threads go: Chromium does not end those that wait (Atomics.wait) when the worker that started
    // them was ended from outside, nor gives back the memory that they share.
    terminate: () => {
      worker.postMessage({ id: 0, verb: 'end' });
      setTimeout(() => worker.terminate(), kGrace);
    },
  };
}
