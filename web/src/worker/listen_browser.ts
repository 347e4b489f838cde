// Handles the first message of a worker in a browser, which makes it a host or a thread of an engine.

import type { ModuleFactory } from '../engine/engine.js';
import { endHelpers, prepareHelpers } from '../engine/helper_browser.js';
import { becomeHelper, isForHelper } from '../engine/helpers.js';
import type { WorkerMessage, WorkerRequest } from './messages.js';
import { type MakeHost, type Served, serveMembers } from './serve.js';
import { LifeLock } from './sign_of_life.js';

/**
 * Messages before the first call: makes a worker start the threads of a load, before it receives data that could be lost with it
 * (start_worker_browser.ts), or names its lock (sign_of_life.ts).
 */
export type Preparation = { helpers: number } | { lock: string };

/** A dedicated worker's global scope, which TypeScript's DOM library does not declare. */
export interface WorkerScope<Request> {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  close(): void;
  onmessage: ((event: MessageEvent<Request>) => void) | null;
}

/** Runs the calls of this worker's page, or makes this worker a thread of an engine. */
export function serveInBrowser<H extends Served>(
  scope: WorkerScope<WorkerRequest>,
  glue: ModuleFactory<never>,
  makeHost: MakeHost<H>,
): void {
  let life: LifeLock | undefined;
  serveMembers(
    (message, transfer = []) => {
      if (message.kind === 'reply' || message.kind === 'error') life?.end();
      scope.postMessage(message, transfer);
    },
    (listener) => {
      const follow = (request: WorkerRequest) => {
        if (request.kind === 'call') life?.begin();
        listener(request);
      };
      listen(scope, glue, follow, (lock) => {
        life = new LifeLock(lock);
      });
    },
    makeHost,
    () => closeLater(scope),
  );
}

/** Passes messages to the listener. If the first message is the loader's 'load', makes this worker a thread of the engine instead. */
function listen<Request extends object>(
  scope: WorkerScope<Request>,
  glue: ModuleFactory<never>,
  listener: (request: Request) => void,
  onLock: (name: string) => void,
): void {
  const say = (message: WorkerMessage) => scope.postMessage(message);
  scope.onmessage = (event: MessageEvent<Request | Preparation>) => {
    const { data } = event;
    if (typeof data !== 'object' || data === null) return; // from the page's own code
    if (isForHelper(data)) return becomeHelper(glue, event);
    if ('lock' in data) return onLock(data.lock);
    if (!('helpers' in data)) return listener(data);
    say({ kind: 'here' });
    prepareHelpers(data.helpers);
    say({ kind: 'prepared' });
  };
  say({ kind: 'here' });
}

const kTurns = 20;
const kTurn = 50; // milliseconds

/**
 * Closes this worker a second after its threads. In Chromium, nested workers whose parent closes while they end can survive: 38 of 600 with
 * no delay, 2 of 320 with 50 ms, none of 560 with 200 ms and more. A busy machine, on which threads end later, delays turns as well.
 */
async function closeLater(scope: { close(): void }): Promise<void> {
  try {
    await endHelpers();
    for (let turn = 0; turn < kTurns; ++turn) await new Promise((resolve) => setTimeout(resolve, kTurn));
  } finally {
    scope.close();
  }
}
