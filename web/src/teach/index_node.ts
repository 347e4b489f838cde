import '../index_node.js';
import { provideTraining } from '../pipeline_members.js';
import { startNodeWorker } from '../worker/start_worker_node.js';
import { kTeachBuilds, kTeachWorker, saveTaught } from './files_node.js';
import { trainingWith } from './gradients.js';
import type { pretrain as pretrainInBrowser, teach as teachInBrowser } from './index.js';
import { pretrainWith } from './pretrain.js';
import { type TeachRuntime, teachWith } from './teach.js';

export * from './face.js';

const kRuntime: TeachRuntime = {
  startWorker: async () => startNodeWorker(kTeachWorker, Object.values(kTeachBuilds)),
  saveToDisk: saveTaught,
};

provideTraining(trainingWith(kRuntime));

export const teach: typeof teachInBrowser = async (task, source, examples, options = {}) =>
  teachWith(kRuntime, task, source, examples, options);

export const pretrain: typeof pretrainInBrowser = async (objective, source, lines, options = {}) =>
  pretrainWith(kRuntime, objective, source, lines, options);
