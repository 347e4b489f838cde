// Starts a worker in a browser: of the package's own file, or from a blob that imports it.
import { describe, PeruseError } from '../errors.js';
import { patience, within } from '../patience.js';
import type { ProgressInfo } from '../progress.js';
import type { Verbs, VerbTable } from './host.js';
import type { Preparation } from './listen_browser.js';
import type { WorkerMessage, WorkerPort } from './worker_host.js';

/** What a worker may take to end by itself, in milliseconds. */
const kGrace = 5000;

/** How often a worker is started whose threads do not come about. */
const kAttempts = 3;

/**
 * `make`: as bundlers find the file. `own`: its address, for a page of another origin. `threads`: what the work in it will need, itself
 * among them. Throws 'worker_died'.
 */
export async function startBrowserWorker<S extends VerbTable<S> = Verbs, Progress = ProgressInfo>(
  make: () => Worker,
  own: string,
  threads: number,
): Promise<WorkerPort<S, Progress>> {
  for (let attempt = 1; ; ++attempt) {
    const worker = await startWorker(make, own);
    try {
      return portOf(worker, threads > 1 ? await prepare(worker, threads - 1) : undefined);
    } catch (error) {
      worker.terminate();
      if (attempt === kAttempts) throw notStarted("the browser starts no threads in it. With 'threads: 1' it needs none.", error);
    }
  }
}

async function startWorker(make: () => Worker, own: string): Promise<Worker> {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw notStarted(describe(error), error);
    return startForeign(own);
  }
}

/**
 * A worker's script must be of the page's own origin, what it imports need not. Only such a worker starts from a blob, because a
 * page's policy has to allow that. It answers at once, or never.
 */
async function startForeign(own: string): Promise<Worker> {
  const script = `import ${JSON.stringify(own)};`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  return new Promise((resolve, reject) => {
    const refused = (reason: string) =>
      reject(notStarted(`it lies on another origin, and the page's policy may allow no worker from a blob (${reason}).`));
    try {
      const worker = new Worker(url, { type: 'module', name: 'peruse' });
      worker.onmessage = () => resolve(worker);
      worker.onerror = (event) => refused(event.message || 'worker-src blob:');
    } catch (error) {
      refused(describe(error));
    }
  });
}

/**
 * Lets the worker start its threads, before it has anything that could be lost: in Firefox (153.7) `new Worker` in a worker now and then
 * never returns, on a busy machine, where other workers are ending. Such a worker hears nothing any more: throws Late. Gives what else
 * went wrong.
 */
async function prepare(worker: Worker, helpers: number): Promise<string | undefined> {
  const said = (kinds: WorkerMessage['kind'][]) =>
    new Promise<string | undefined>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => kinds.includes(data.kind) && resolve(undefined);
      worker.onerror = (event) => resolve(reasonOf(event));
    });
  worker.postMessage({ helpers } satisfies Preparation);
  return (await said(['here', 'prepared'])) ?? within(patience.threads, said(['prepared']));
}

/** An event without a message: the script could not be fetched. */
function reasonOf(event: ErrorEvent): string {
  return event.message || 'its script could not be loaded.';
}

function notStarted(reason: string, cause?: unknown): PeruseError {
  return new PeruseError('worker_died', `The worker can't be started: ${reason}`, { cause });
}

/** `trouble`: why it has stopped already. */
function portOf<S extends VerbTable<S>, Progress>(worker: Worker, trouble?: string): WorkerPort<S, Progress> {
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (listener) => {
      worker.onmessage = (event: MessageEvent<WorkerMessage<Progress>>) => listener(event.data);
    },
    onDeath: (listener) => {
      if (trouble !== undefined) listener(trouble);
      worker.onerror = (event) => listener(reasonOf(event));
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
