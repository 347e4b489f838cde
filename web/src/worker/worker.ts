// The module worker in browsers: a host, or a thread of an engine. A page without workers imports this file into its own thread.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { serveInBrowser, type WorkerScope } from './listen_browser.js';
import type { WorkerRequest } from './messages.js';
import { browserRuntime } from './runtime_browser.js';
import { hostsWith } from './serve.js';

export { LocalHost } from './local_host.js';
export { browserRuntime };

declare const self: WorkerScope<WorkerRequest> & { name?: string; document?: unknown };

if (self.name === 'peruse' && self.document === undefined) {
  serveInBrowser(self, createThreaded as ModuleFactory<never>, hostsWith(browserRuntime));
}
