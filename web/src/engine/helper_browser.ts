// Starts the engine's threads in browsers.
import type { HelperWorker } from './engine.js';
import { Helper } from './helpers.js';

const kPrepared: Helper[] = []; // started, and not yet taken

/** A thread that was prepared, or a new one. */
export function startHelper(): HelperWorker {
  return kPrepared.shift() ?? newHelper();
}

/** What can't be started is tried once more, and told, when it is needed. */
export function prepareHelpers(count: number): void {
  try {
    while (kPrepared.length < count) kPrepared.push(newHelper());
  } catch {}
}

/** Ends those that nobody has taken. */
export function dropHelpers(): void {
  for (const helper of kPrepared.splice(0)) helper.terminate();
}

/** The worker in which this runs once more: a bundler may have given its file any name. */
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

/**
 * Bundlers may have made a classic script of the worker. A module may not import scripts, a TypeError; a classic script finds that
 * this is no address. (Without an address Firefox says nothing in either.)
 */
function isModule(): boolean {
  try {
    (globalThis as unknown as { importScripts(url: string): void }).importScripts('http://[');
  } catch (error) {
    return error instanceof TypeError;
  }
  return false;
}
