import { patience, within } from '../patience.js';
import type { HelperWorker } from './engine.js';
import { Helper } from './helpers.js';

const kPrepared: Helper[] = []; // started in advance

export function startHelper(): HelperWorker {
  return kPrepared.shift() ?? newHelper();
}

/** Starts threads in advance. A failed one is started again when it is needed, which then reports the failure. */
export function prepareHelpers(count: number): void {
  try {
    while (kPrepared.length < count) kPrepared.push(newHelper());
  } catch {}
}

/**
 * Ends the threads that were started in advance, each after it has started: in Chromium, a nested worker that is terminated while its script
 * loads may survive its parent.
 */
export async function dropHelpers(): Promise<void> {
  const end = async (helper: Helper) => {
    await within(patience.threads, helper.started).catch(() => {});
    helper.terminate();
  };
  await Promise.all(kPrepared.splice(0).map(end));
}

/** Starts this worker's own script, whose name a bundler may have changed. */
function newHelper(): Helper {
  const worker = new Worker(location.href, { type: isModule() ? 'module' : 'classic', name: 'peruse' });
  const helper = new Helper(
    (message) => worker.postMessage(message),
    () => worker.terminate(),
  );
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
