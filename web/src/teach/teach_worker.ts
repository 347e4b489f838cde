// The worker that teaches, in browsers.
import { compileFetched } from '../engine/fetch_wasm.js';
import { serveHosts, type WorkerMessage, type WorkerRequest } from '../worker/worker_host.js';
import { TeachHost, type LessonParts, type TeachVerbs } from './lesson.js';
import type { TeachProgress } from './options.js';

const kParts: LessonParts = {
  compile: (folder) =>
    // Spelled out so that bundlers find the file.
    compileFetched('peruse-teach.wasm', () => new URL('./peruse-teach.wasm', import.meta.url), folder),
};

// The names that a dedicated worker's global scope has; the DOM's types know only a window's.
declare const self: {
  postMessage(message: unknown, transfer?: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<WorkerRequest<TeachVerbs>>) => void) | null;
};

serveHosts<TeachVerbs, TeachProgress>(
  (message, transfer = []) => self.postMessage(message, transfer),
  (listener) => {
    self.onmessage = (event) => listener(event.data);
  },
  (report) => new TeachHost(report, kParts),
);
self.postMessage({ kind: 'here' } satisfies WorkerMessage);
