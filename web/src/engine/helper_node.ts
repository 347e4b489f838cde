// The engine's threads in Node.
import { parentPort } from 'node:worker_threads';
import type { HelperWorker, ModuleFactory } from './engine.js';
import { becomeHelper, Helper, isForHelper } from './helpers.js';
import { type InstalledFile, newNodeWorker } from './installed_node.js';

const kEnding = new Set<Promise<unknown>>();

/** Waits until ended helpers have exited, because they hold the engine's memory. */
export async function helpersHaveGone(): Promise<void> {
  await Promise.all(kEnding);
}

/** `file` is the worker's. It keeps the process alive until it has loaded; afterwards it does not, because it is idle between calls. */
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

/** Passes messages to the listener; or becomes a thread of the engine if the first message requests that. `glue` is the build's loader. */
export function listenOrHelp<Message>(glue: ModuleFactory<never>, listener: (message: Message) => void): void {
  const port = parentPort!;
  port.once('message', (first: Message) => {
    if (isForHelper(first)) return help(glue, { data: first });
    port.on('message', listener);
    listener(first);
  });
}

/** Makes this thread look like a web worker to the loader. */
function help(glue: ModuleFactory<never>, first: { data: unknown }): void {
  const port = parentPort!;
  const scope = globalThis as unknown as { onmessage: (event: { data: unknown }) => void };
  const names = {
    self: globalThis,
    location: { href: '' },
    importScripts: () => {},
    postMessage: (message: unknown) => port.postMessage(message),
  };
  // Defined instead of assigned, because some are read-only in Deno.
  for (const [name, value] of Object.entries(names)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  port.on('message', (data: unknown) => scope.onmessage({ data }));
  becomeHelper(glue, first);
}
