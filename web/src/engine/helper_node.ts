import { parentPort } from 'node:worker_threads';
import type { HelperWorker, ModuleFactory } from './engine.js';
import { becomeHelper, Helper, isForHelper } from './helpers.js';
import { type InstalledFile, newNodeWorker } from './installed_node.js';

const kEnding = new Set<Promise<unknown>>();

/** Waits until ended threads have exited and freed the engine's memory. */
export async function helpersHaveGone(): Promise<void> {
  await Promise.all(kEnding);
}

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

/** Passes messages to the listener. If the first message is the loader's 'load', makes this worker a thread of the engine instead. */
export function listenOrHelp<Message>(glue: ModuleFactory<never>, listener: (message: Message) => void): void {
  const port = parentPort!;
  port.once('message', (first: Message) => {
    if (isForHelper(first)) return help(glue, { data: first });
    port.on('message', listener);
    listener(first);
  });
}

/** Defines the globals of a web worker, for the loader. */
function help(glue: ModuleFactory<never>, first: { data: unknown }): void {
  const port = parentPort!;
  const scope = globalThis as unknown as { onmessage: (event: { data: unknown }) => void };
  const names = {
    self: globalThis,
    location: { href: '' },
    importScripts: () => {},
    postMessage: (message: unknown) => port.postMessage(message),
  };
  // Some of these names are read-only in Deno, so they cannot be assigned.
  for (const [name, value] of Object.entries(names)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  port.on('message', (data: unknown) => scope.onmessage({ data }));
  becomeHelper(glue, first);
}
