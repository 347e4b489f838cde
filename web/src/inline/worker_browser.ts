// The worker of peruse/inline in browsers: a host, or a thread of an engine.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { closeLater, listen, type WorkerScope } from '../worker/listen_browser.js';
import type { WorkerRequest } from '../worker/messages.js';
import { serve } from '../worker/serve.js';
import { inlineRuntime } from './runtime_browser.js';

declare const self: WorkerScope<WorkerRequest>;

serve(
  (message, transfer = []) => self.postMessage(message, transfer),
  (listener) => listen(self, createThreaded as ModuleFactory<never>, listener),
  inlineRuntime,
  () => closeLater(self),
);
