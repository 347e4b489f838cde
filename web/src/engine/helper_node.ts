// The engine's threads in Node: how they start, and what they are to begin with.
import { parentPort } from 'node:worker_threads';
import type { HelperWorker, ModuleFactory } from './engine.js';
import { becomeHelper, Helper, isForHelper } from './helpers.js';
import { type InstalledFile, newNodeWorker } from './installed_node.js';

const kEnding = new Set<Promise<unknown>>();

/** Waits for the helpers that were ended: until they have gone, they have the engine's memory. */
export async function helpersHaveGone(): Promise<void> {
  await Promise.all(kEnding);
}

/**
 * `file`: of the worker. It keeps the process alive until it has loaded, as what waits for it does; from then on it is idle between calls.
 */
export function startNodeHelper(file: InstalledFile): HelperWorker {
  const worker = newNodeWorker(file);
  const helper = new Helper(
    (message) => worker.postMessage(message),
    () => {
      const end = worker.terminate().finally(() => kEnding.delete(end));
      kEnding.add(end);
    },
    () => worker.unref(),
  );
  worker.on('message', (data) => helper.receive(data));
  worker.on('error', (error: Error) => helper.fail(error));
  worker.on('messageerror', (error: Error) => helper.fail(error));
  return helper;
}

/** Tells the listener what this worker is sent; or makes a thread of the engine of it, if its first message says so. `glue`: of the build. */
export function listenOrHelp<Message>(glue: ModuleFactory<never>, listener: (message: Message) => void): void {
  const port = parentPort!;
  port.once('message', (first: Message) => {
    if (isForHelper(first)) return help(glue, { data: first });
    port.on('message', listener);
    listener(first);
  });
}

/** The glue takes this thread for a worker of the web. */
function help(glue: ModuleFactory<never>, first: { data: unknown }): void {
  const port = parentPort!;
  const scope = globalThis as unknown as { onmessage: (event: { data: unknown }) => void };
  const names = {
    self: globalThis,
    location: { href: '' },
    importScripts: () => {},
    postMessage: (message: unknown) => port.postMessage(message),
  };
  // Not assigned: Deno has some of them already, and some of those can only be read.
  for (const [name, value] of Object.entries(names)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  port.on('message', (data: unknown) => scope.onmessage({ data }));
  becomeHelper(glue, first);
}
