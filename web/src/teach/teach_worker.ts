// The worker that teaches, in browsers, or one of its engine's threads.
import createThreaded from '../../wasm/glue-teach-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { compileFetched } from '../engine/fetch_wasm.js';
import { startHelper } from '../engine/helper_browser.js';
import { becomeHelper, isForHelper } from '../engine/helpers.js';
import { closeLater } from '../worker/events.js';
import { serveHosts, type WorkerMessage, type WorkerRequest } from '../worker/worker_host.js';
import { TeachHost, type LessonParts, type TeachBuild, type TeachVerbs } from './lesson.js';
import type { TeachProgress } from './options.js';

/** Spelled out so that bundlers find the files. */
const kFiles: Record<TeachBuild, () => URL> = {
  teach: () => new URL('./peruse-teach.wasm', import.meta.url),
  'teach-threads': () => new URL('./peruse-teach-threads.wasm', import.meta.url),
};

const kParts: LessonParts = {
  compile: (build, folder) => compileFetched(`peruse-${build}.wasm`, kFiles[build], folder),
  startHelper,
};

// The names that a dedicated worker's global scope has; the DOM's types know only a window's.
declare const self: {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  close(): void;
  onmessage: ((event: MessageEvent<WorkerRequest<TeachVerbs>>) => void) | null;
};

serveHosts<TeachVerbs, TeachProgress>(
  (message, transfer = []) => self.postMessage(message, transfer),
  (listener) => {
    self.onmessage = (event) => {
      if (isForHelper(event.data)) becomeHelper(createThreaded as ModuleFactory<never>, event);
      else listener(event.data);
    };
  },
  (report) => new TeachHost(report, kParts),
  () => closeLater(self),
);
self.postMessage({ kind: 'here' } satisfies WorkerMessage);
