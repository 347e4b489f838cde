// Starts a worker in a browser, from the package's own file or from a blob that imports it.
import { kFilesRemedy } from '../engine/files_browser.js';
import { describeError, PeruseError } from '../errors.js';
import { patience, within } from '../patience.js';
import type { Preparation } from './listen_browser.js';
import type { WorkerMessage, WorkerPort, WorkerRequest } from './messages.js';
import { LifeWatch, lockName } from './sign_of_life.js';

const kAttempts = 3;

export interface WorkerScript {
  make: () => Worker;
  /** The script's address, for pages of another origin and for messages. */
  address: string;
  isBlob?: boolean;
}

/** Starts script `name` in filesFolder(), or next to the caller at `here`. `bundled` starts it in a form for bundlers. */
export function workerScript(name: string, folder: string | undefined, bundled: () => Worker, here: string): WorkerScript {
  if (folder === undefined) return { make: bundled, address: (here ?? '').replace(/[^/]*$/, name) };
  const address = folder + name;
  return { make: () => new Worker(address, { type: 'module', name: 'peruse' }), address };
}

/** `threads` is the number of threads for its work, including the worker itself. Throws 'worker_died'. */
export async function startBrowserWorker(script: WorkerScript, threads: number): Promise<WorkerPort> {
  for (let attempt = 1; ; ++attempt) {
    const refused = watchPolicy();
    const worker = await startWorker(script);
    const reasonOf = (event: ErrorEvent) => event.message || (refused() ?? notLoaded(script));
    const lock = lockName();
    if (lock !== undefined) worker.postMessage({ lock } satisfies Preparation);
    try {
      return portOf(worker, lock, reasonOf, threads > 1 ? await prepare(worker, threads - 1, reasonOf) : undefined);
    } catch (error) {
      endWorker(worker);
      if (attempt === kAttempts)
        throw notStarted("the browser does not start its threads. Use 'threads: 1', which does not need them.", error);
    }
  }
}

async function startWorker({ make, address, isBlob }: WorkerScript): Promise<Worker> {
  if (isBlob) return firstWord(make, "the worker is a blob, which the page's policy may forbid");
  try {
    return make();
  } catch (error) {
    if (error instanceof TypeError && 'trustedTypes' in globalThis) return startTrusted(address, error);
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw notStarted(describeError(error), error);
    return startForeign(address);
  }
}

/** Starts a thread of an engine that is in this thread. */
export function startThread({ make, address }: WorkerScript): Worker {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'SecurityError')) throw error;
    return foreignWorker(address);
  }
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): URL };
}

/** Starts a worker on a page that requires trusted types, by a policy that the page must allow. */
function startTrusted(address: string, cause: unknown): Worker {
  try {
    const types = (globalThis as unknown as { trustedTypes: TrustedTypes }).trustedTypes;
    policy ??= types.createPolicy('peruse', { createScriptURL: (url) => url });
    return new Worker(policy.createScriptURL(address), { type: 'module', name: 'peruse' });
  } catch {
    throw new PeruseError(
      'unsupported',
      "The page's policy (require-trusted-types-for) forbids workers. Allow the policy 'peruse' (trusted-types peruse), or use worker: false.",
      { cause },
    );
  }
}

let policy: ReturnType<TrustedTypes['createPolicy']> | undefined; // a page may create it only once

/** Returns a function that says whether the page's policy has refused a worker since. */
function watchPolicy(): () => string | undefined {
  let refused: string | undefined;
  const listener = ({ effectiveDirective: directive }: SecurityPolicyViolationEvent) => {
    if (/^(worker|child|script|default)-src/.test(directive)) refused = directive;
  };
  globalThis.addEventListener?.('securitypolicyviolation', listener as EventListener);
  setTimeout(() => globalThis.removeEventListener?.('securitypolicyviolation', listener as EventListener), patience.threads);
  return () =>
    refused &&
    `the page's Content-Security-Policy forbids it (${refused}). Allow worker-src for the package's files, or use worker: false.`;
}

/** Starts another origin's script by a blob that imports it, because workers need the page's origin. The page's policy must allow blobs. */
function foreignWorker(own: string): Worker {
  const script = `import ${JSON.stringify(own)};`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  return new Worker(url, { type: 'module', name: 'peruse' });
}

async function startForeign(own: string): Promise<Worker> {
  return firstWord(() => foreignWorker(own), "it is on another origin, and the page's policy may forbid workers from blobs");
}

/** Starts a worker from a blob. Resolves at its first message, which comes immediately or never. */
async function firstWord(make: () => Worker, ifRefused: string): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const refused = (reason: string) => reject(notStarted(`${ifRefused} (${reason}).`));
    try {
      const worker = make();
      worker.onmessage = () => resolve(worker);
      worker.onerror = (event) => refused(event.message || 'worker-src blob:');
    } catch (error) {
      refused(describeError(error));
    }
  });
}

/**
 * Makes the worker start its threads before it receives any data. In Firefox (153.7), `new Worker` in a worker may never return on a busy
 * machine while other workers are ending; then this throws Late. Returns the reason for any other failure.
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

type ReasonOf = (event: ErrorEvent) => string;

/** Describes an error event without a message: the script was not found, for example because a bundler moved it. */
function notLoaded({ address }: WorkerScript): string {
  return `its script could not be loaded${/^https?:/.test(address) ? ` from ${address}` : ''}. ${kFilesRemedy}`;
}

function notStarted(reason: string, cause?: unknown): PeruseError {
  return new PeruseError('worker_died', `The worker can't be started: ${reason}`, { cause });
}

function portOf(worker: Worker, lock: string | undefined, reasonOf: ReasonOf, trouble?: string): WorkerPort {
  let watch: LifeWatch | undefined;
  return {
    post: (message, transfer = []) => {
      worker.postMessage(message, transfer);
      if (message.kind === 'call') watch?.begin();
    },
    onMessage: (listener) => {
      worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
        watch?.heard(data.kind === 'reply' || data.kind === 'error');
        listener(data);
      };
    },
    onDeath: (listener) => {
      if (lock !== undefined) watch = new LifeWatch(lock, () => listener('it was ended from outside.'));
      if (trouble !== undefined) listener(trouble);
      worker.onerror = (event) => listener(reasonOf(event));
      worker.onmessageerror = () => listener('a message could not be read.');
    },
    terminate: () => {
      watch?.stop();
      endWorker(worker);
    },
  };
}

/** Makes a worker end itself after its threads, because Chromium keeps waiting threads. A worker that does not react is terminated. */
function endWorker(worker: Worker): void {
  worker.postMessage({ kind: 'end' } satisfies WorkerRequest);
  setTimeout(() => worker.terminate(), patience.ending);
}
