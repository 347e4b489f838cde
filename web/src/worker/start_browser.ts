// Starts a worker in a browser: of the package's own file, or from a blob that imports it.
import { kFilesRemedy } from '../engine/files_browser.js';
import { describe, PeruseError } from '../errors.js';
import { patience, within } from '../patience.js';
import type { ProgressInfo } from '../progress.js';
import type { Verbs, VerbTable } from './host.js';
import type { Preparation } from './listen_browser.js';
import type { WorkerMessage, WorkerPort } from './worker_host.js';

/** How often a worker is started whose threads do not come about. */
const kAttempts = 3;

/** A worker's script. */
export interface WorkerScript {
  /** Starts a worker of it. */
  make: () => Worker;
  /** Its address: for a page of another origin, and for messages. */
  address: string;
  /** Whether it is a blob, which the page's policy may refuse. */
  isBlob?: boolean;
}

/**
 * The script `name` in `folder` (filesFolder()), or else next to the calling script, whose address is `here`. `bundled` starts it in the form
 * in which bundlers find the file.
 */
export function workerScript(name: string, folder: string | undefined, bundled: () => Worker, here: string): WorkerScript {
  if (folder === undefined) return { make: bundled, address: (here ?? '').replace(/[^/]*$/, name) };
  const address = folder + name;
  return { make: () => new Worker(address, { type: 'module', name: 'peruse' }), address };
}

/** `threads`: what the work in it will need, itself among them. Throws 'worker_died'. */
export async function startBrowserWorker<S extends VerbTable<S> = Verbs, Progress = ProgressInfo>(
  script: WorkerScript,
  threads: number,
): Promise<WorkerPort<S, Progress>> {
  for (let attempt = 1; ; ++attempt) {
    const worker = await startWorker(script);
    const reasonOf = (event: ErrorEvent) => event.message || notLoaded(script);
    try {
      return portOf(worker, reasonOf, threads > 1 ? await prepare(worker, threads - 1, reasonOf) : undefined);
    } catch (error) {
      endWorker(worker);
      if (attempt === kAttempts) throw notStarted("the browser starts no threads in it. With 'threads: 1' it needs none.", error);
    }
  }
}

async function startWorker({ make, address, isBlob }: WorkerScript): Promise<Worker> {
  if (isBlob) return firstWord(make, "the worker is a blob, and the page's policy may allow none");
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw notStarted(describe(error), error);
    return startForeign(address);
  }
}

/**
 * A worker's script must have the page's own origin, but its imports need not. Only foreign scripts start from a blob, because the page's
 * policy must allow that. The first message comes immediately or never.
 */
async function startForeign(own: string): Promise<Worker> {
  const script = `import ${JSON.stringify(own)};`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const make = () => new Worker(url, { type: 'module', name: 'peruse' });
  return firstWord(make, "it lies on another origin, and the page's policy may allow no worker from a blob");
}

/** Starts a worker from a blob and resolves at its first message, which comes immediately or never. */
async function firstWord(make: () => Worker, ifRefused: string): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const refused = (reason: string) => reject(notStarted(`${ifRefused} (${reason}).`));
    try {
      const worker = make();
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
async function prepare(worker: Worker, helpers: number, reasonOf: ReasonOf): Promise<string | undefined> {
  const said = (kinds: WorkerMessage['kind'][]) =>
    new Promise<string | undefined>((resolve) => {
      worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => kinds.includes(data.kind) && resolve(undefined);
      worker.onerror = (event) => resolve(reasonOf(event));
    });
  worker.postMessage({ helpers } satisfies Preparation);
  return (await said(['here', 'prepared'])) ?? within(patience.threads, said(['prepared']));
}

/** What an error event of a worker says. */
type ReasonOf = (event: ErrorEvent) => string;

/** An event without a message: the script could not be fetched. A bundler that moved it has given it another address. */
function notLoaded({ address }: WorkerScript): string {
  return `its script could not be loaded${/^https?:/.test(address) ? ` from ${address}` : ''}. ${kFilesRemedy}`;
}

function notStarted(reason: string, cause?: unknown): PeruseError {
  return new PeruseError('worker_died', `The worker can't be started: ${reason}`, { cause });
}

/** `trouble`: why it has stopped already. */
function portOf<S extends VerbTable<S>, Progress>(worker: Worker, reasonOf: ReasonOf, trouble?: string): WorkerPort<S, Progress> {
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
    terminate: () => endWorker(worker),
  };
}

/**
 * Asks a worker to end itself after its threads. If it is ended from outside, Chromium keeps its threads that wait (Atomics.wait), and the
 * memory that they share. A worker that is only slow hears the wish in the end; one that hangs has no threads, and is ended later.
 */
function endWorker(worker: Worker): void {
  worker.postMessage({ id: 0, verb: 'end' });
  setTimeout(() => worker.terminate(), patience.ending);
}
