// The worker of peruse/inline in browsers: a host, or a thread of an engine.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { serveInBrowser, type WorkerScope } from '../worker/listen_browser.js';
import type { WorkerRequest } from '../worker/messages.js';
import { hostsWith } from '../worker/serve.js';
import { inlineEngines } from './runtime.js';

declare const self: WorkerScope<WorkerRequest>;

serveInBrowser(self, createThreaded as ModuleFactory<never>, hostsWith(inlineEngines));
