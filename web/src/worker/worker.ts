// The worker that browsers start (a module worker): an engine's room, or one of its threads. A page that has no worker imports this
// file and works in its own thread.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { browserHostParts } from './host_parts_browser.js';
import { closeLater, listen, type WorkerScope } from './listen_browser.js';
import { serve, type WorkerRequest } from './worker_host.js';

export { startBuild, startCpuBuild, startCpuEngine } from '../engine/builds.js';
// What the GPU's part, a bundle of its own, takes from here (tools/bundle.mjs).
export { Engine } from '../engine/engine.js';
export { describe, PeruseError } from '../errors.js';
export { LocalHost } from './host.js';
export { browserHostParts };

declare const self: WorkerScope<WorkerRequest> & { name?: string; document?: unknown };

// Not twice: WebKit runs a worker's script once more when the GPU's part imports it.
if (self.name === 'peruse' && self.document === undefined && self.onmessage === null) {
  serve(
    (message, transfer = []) => self.postMessage(message, transfer),
    (listener) => listen(self, createThreaded as ModuleFactory<never>, listener),
    browserHostParts,
    () => closeLater(self),
  );
}
