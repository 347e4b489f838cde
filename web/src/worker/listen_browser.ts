// Handles the first message of a worker in a browser, which makes it a host or a thread of an engine.

import type { ModuleFactory } from '../engine/engine.js';
import { endHelpers, prepareHelpers } from '../engine/helper_browser.js';
import { becomeHelper, isForHelper } from '../engine/helpers.js';
import type { WorkerMessage } from './worker_host.js';

/** Makes a worker start the threads of a load, before it receives data that could be lost with it (start_browser.ts). */
export interface Preparation {
  helpers: number;
}

/** A dedicated worker's global scope, which TypeScript's DOM library does not declare. */
export interface WorkerScope<Request> {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  close(): void;
  onmessage: ((event: MessageEvent<Request>) => void) | null;
}

/** Passes messages to the listener. If the first message is the loader's 'load', makes this worker a thread of the engine instead. */
export function listen<Request extends object>(
  scope: WorkerScope<Request>,
  glue: ModuleFactory<never>,
  listener: (request: Request) => void,
): void {
  const say = (message: WorkerMessage) => scope.postMessage(message);
  scope.onmessage = (event: MessageEvent<Request | Preparation>) => {
    const { data } = event;
    if (isForHelper(data)) return becomeHelper(glue, event);
    if (!('helpers' in data)) return listener(data);
    say({ kind: 'here' });
    prepareHelpers(data.helpers);
    say({ kind: 'prepared' });
  };
  say({ kind: 'here' });
}

/** Time in milliseconds for a worker's ended threads to exit, with a wide margin. */
const kFarewell = 500;

/** Closes this worker after a delay: in Chromium, nested workers survive if their parent ends immediately after ending them. */
export function closeLater(scope: { close(): void }): void {
  void endHelpers().then(() => setTimeout(() => scope.close(), kFarewell));
}
