// What a worker of the package hears first in a browser: what it is to be.

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

/** What the threads that a worker has ended take to be gone, with much to spare, in milliseconds. */
const kFarewell = 500;

/** Ends the worker in which this runs. In Chromium nested workers that were just ended stay when their parent ends at once. */
export function closeLater(scope: { close(): void }): void {
  dropHelpers();
  setTimeout(() => scope.close(), kFarewell);
}
