// The first message of the package's worker in a browser, which determines its role.

import type { ModuleFactory } from '../engine/engine.js';
import { dropHelpers, prepareHelpers } from '../engine/helper_browser.js';
import { becomeHelper, isForHelper } from '../engine/helpers.js';
import type { WorkerMessage } from './worker_host.js';

/** Asks a worker for the threads that a load will need, before anything that could be lost with it is sent (start_browser.ts). */
export interface Preparation {
  helpers: number;
}

/** A dedicated worker's global scope, of which the DOM's types know only a window's. */
export interface WorkerScope<Request> {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  close(): void;
  onmessage: ((event: MessageEvent<Request>) => void) | null;
}

/** Tells the listener what this worker is sent; or makes a thread of the engine of it, by the build's glue. */
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

/** Time for a worker's ended threads to exit, in milliseconds, with a wide margin. */
const kFarewell = 500;

/** Closes this worker after a delay: in Chromium nested workers stay if their parent ends immediately after ending them. */
export function closeLater(scope: { close(): void }): void {
  dropHelpers();
  setTimeout(() => scope.close(), kFarewell);
}
