// The training worker in browsers, or one of its engine's threads.
import createThreaded from '../../wasm/glue-teach-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { compileFetched, importPart } from '../engine/files_browser.js';
import { startHelper } from '../engine/helper_browser.js';
import type { FolderKit } from '../sources/file_access.js';
import { serveInBrowser, type WorkerScope } from '../worker/listen_browser.js';
import type { WorkerRequest } from '../worker/messages.js';
import { TeachHost } from './lesson.js';
import type { TeachBuild, TrainerRuntime } from './open_trainer.js';

/** Written out so that bundlers find the files. */
const kFiles: Record<TeachBuild, () => URL> = {
  teach: () => new URL('./peruse-teach.wasm', import.meta.url),
  'teach-threads': () => new URL('./peruse-teach-threads.wasm', import.meta.url),
};

const kRuntime: TrainerRuntime = {
  compile: (build, folder) => compileFetched(`peruse-${build}.wasm`, kFiles[build], folder),
  startHelper,
  importOnnx: async () => importPart('onnx', new URL('./peruse-onnx.js', import.meta.url).href), // this form lets bundlers find the file
  openOpfs: async (version) => (await importPart<FolderKit>('files', new URL('./peruse-files.js', import.meta.url).href)).openOpfs(version),
};

declare const self: WorkerScope<WorkerRequest>;

serveInBrowser(self, createThreaded as ModuleFactory<never>, (report) => new TeachHost(report, kRuntime));
