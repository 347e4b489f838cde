// The module worker in browsers: a host, or a thread of an engine.
import createThreaded from '../../wasm/glue-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { serveInBrowser, type WorkerScope } from './listen_browser.js';
import type { WorkerRequest } from './messages.js';
import { browserEngines, kOwnFiles } from './runtime_browser.js';
import { hostsWith } from './serve.js';

declare const self: WorkerScope<WorkerRequest>;

serveInBrowser(self, createThreaded as ModuleFactory<never>, hostsWith(browserEngines(kOwnFiles)));
