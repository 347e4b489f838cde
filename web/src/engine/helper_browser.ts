import { PeruseError } from '../errors.js';
import { patience, within } from '../patience.js';
import type { HelperWorker } from './engine.js';
import { Helper } from './helpers.js';

const kPrepared: Helper[] = []; // started in advance
const kLiving = new Set<Helper>();
let isEnding = false;

export function startHelper(): HelperWorker {
  return kPrepared.shift() ?? newHelper();
}

/** Starts threads in advance. A failed one is started again when it is needed, which then reports the failure. */
export function prepareHelpers(count: number): void {
  try {
    while (kPrepared.length < count) kPrepared.push(newHelper());
  } catch {}
}

/** Ends the threads that were started in advance. */
export async function dropHelpers(): Promise<void> {
  await Promise.all(kPrepared.splice(0).map(endStarted));
}

/** Ends all threads of this worker before the worker itself ends. An engine that is still starting then gets no further threads. */
export async function endHelpers(): Promise<void> {
  isEnding = true;
  await Promise.all([...kLiving].map(endStarted));
}

/** Ends a thread after it has started: in Chromium, a nested worker that is terminated while its script loads may survive its parent. */
async function endStarted(helper: Helper): Promise<void> {
  await within(patience.threads, helper.started).catch(() => {});
  helper.terminate();
}

/** Starts this worker's own script, whose name a bundler may have changed. */
let newWorker = () => new Worker(location.href, { type: isModule() ? 'module' : 'classic', name: 'peruse' });

/** Starts threads by this function instead: this thread runs a script of the program, not of the package. */
export function startHelpersBy(start: () => Worker): void {
  newWorker = start;
}

function newHelper(): Helper {
  if (isEnding) throw new PeruseError('aborted', 'The worker is ending.');
  const worker = newWorker();
  const helper: Helper = new Helper(
    (message) => worker.postMessage(message),
    () => {
      kLiving.delete(helper);
      worker.terminate();
    },
  );
  kLiving.add(helper);
  worker.onmessage = (event) => helper.receive(event.data);
  worker.onerror = (event) => helper.fail(event);
  worker.onmessageerror = () => helper.fail({ message: 'a message of it could not be read' });
  return helper;
}

/** Whether this worker is a module, which a bundler may change: only in a module does importScripts() throw a TypeError here. */
function isModule(): boolean {
  try {
    (globalThis as unknown as { importScripts(url: string): void }).importScripts('http://[');
  } catch (error) {
    return error instanceof TypeError;
  }
  return false;
}
