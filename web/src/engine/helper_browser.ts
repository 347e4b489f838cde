// Starts the engine's threads in browsers.
import type { HelperWorker } from './engine.js';
import { Helper } from './helpers.js';

const kPrepared: Helper[] = []; // started, but not in use yet

/** Returns a prepared thread, or a new one. */
export function startHelper(): HelperWorker {
  return kPrepared.shift() ?? newHelper();
}

/** A failed start is retried when the thread is needed, and reported then. */
export function prepareHelpers(count: number): void {
  try {
    while (kPrepared.length < count) kPrepared.push(newHelper());
  } catch {}
}

/** Ends the prepared threads. */
export function dropHelpers(): void {
  for (const helper of kPrepared.splice(0)) helper.terminate();
}

/** Starts this worker's script again, because a bundler may have renamed its file. */
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
 * Whether this worker is a module; bundlers may have made it a classic script. importScripts throws a TypeError in a module; in a classic
 * script it rejects the invalid address. (Without an address Firefox does not throw in either.)
 */
function isModule(): boolean {
  try {
    (globalThis as unknown as { importScripts(url: string): void }).importScripts('http://[');
  } catch (error) {
    return error instanceof TypeError;
  }
  return false;
}
