// The worker that peruse/inline starts in browsers: an engine's room, or one of its threads.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { closeLater, listen, type WorkerScope } from '../worker/listen_browser.js';
import { serve, type WorkerRequest } from '../worker/worker_host.js';
import { inlineHostParts } from './host_parts.js';

declare const self: WorkerScope<WorkerRequest>;

serve(
  (message, transfer = []) => self.postMessage(message, transfer),
  (listener) => listen(self, createThreaded as ModuleFactory<never>, listener),
  inlineHostParts,
  () => closeLater(self),
);
