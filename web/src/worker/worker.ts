// The worker that browsers start (a module worker): an engine's room, or one of its threads. A page that has no worker imports this
// file and works in its own thread.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { becomeHelper, isForHelper } from '../engine/helpers.js';
import { closeLater } from './events.js';
import { browserHostParts } from './host_parts_browser.js';
import { serve, type WorkerRequest } from './worker_host.js';

export { LocalHost } from './host.js';
export { browserHostParts };

// What the GPU's part, a bundle of its own, takes from here (tools/bundle.mjs).
export { Engine } from '../engine/engine.js';
export { startCpuEngine, startCpuBuild, startBuild } from '../engine/builds.js';
export { describe, PeruseError } from '../errors.js';

// The names that a dedicated worker's global scope has; the DOM's types know only a window's.
declare const self: {
  name?: string;
  document?: unknown;
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  close(): void;
  onmessage: ((event: MessageEvent<WorkerRequest>) => void) | null;
};

// Not twice: WebKit runs a worker's script once more when the GPU's part imports it.
if (self.name === 'peruse' && self.document === undefined && self.onmessage === null) {
  serve(
    (message, transfer = []) => self.postMessage(message, transfer),
    (listener) => {
      self.onmessage = (event) => {
        if (isForHelper(event.data)) becomeHelper(createThreaded as ModuleFactory<never>, event);
        else listener(event.data);
      };
    },
    browserHostParts,
    () => closeLater(self),
  );
  self.postMessage({ kind: 'here' });
}
