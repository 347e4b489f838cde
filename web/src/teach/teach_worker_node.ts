// The training worker in Node, or one of its engine's threads.
import { parentPort } from 'node:worker_threads';
import createThreaded from '../../wasm/glue-teach-threads.mjs';
import type { ModuleFactory } from '../engine/engine.js';
import { listenOrHelp, startNodeHelper } from '../engine/helper_node.js';
import { compileRead } from '../engine/installed_node.js';
import { nodeFileAccess } from '../sources/file_access_node.js';
import { serveMembers } from '../worker/serve.js';
import { kTeachBuilds, kTeachWorker } from './files_node.js';
import { TeachHost } from './lesson.js';
import type { TrainerRuntime } from './open_trainer.js';

const kRuntime: TrainerRuntime = {
  ...nodeFileAccess,
  compile: (build, folder) => compileRead(kTeachBuilds[build], folder),
  importOnnx: () => import('../onnx/part.js'),
  startHelper: () => startNodeHelper(kTeachWorker),
};

serveMembers(
  (message, transfer) => parentPort!.postMessage(message, transfer),
  (listener) => listenOrHelp(createThreaded as ModuleFactory<never>, listener),
  (report) => new TeachHost(report, kRuntime),
);
