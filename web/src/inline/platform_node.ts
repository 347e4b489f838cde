// The runtime of peruse/inline in Node: the worker starts from its source text, and the engine is embedded.
import { embedWorker } from '../engine/installed_node.js';
import { kNodeWorker } from '../engine/wasm_node.js';
import { nodeRuntime } from '../platform/platform_node.js';
import { LocalHost } from '../worker/local_host.js';
import type { CallerRuntime } from '../worker/runtime.js';
import { nodeEngines } from '../worker/runtime_node.js';
import { takeNodeWorker } from '../worker/start_worker_node.js';
import { noGpu } from './no_gpu.js';
import { plainOnly } from './platform_browser.js';
import { embeddedBuild, workerCode } from './unpack.js';

export const inlineInNode: CallerRuntime = {
  ...nodeRuntime,
  features: (inWorker) => plainOnly(nodeRuntime.features(inWorker)),
  startWorker: async () => {
    embedWorker(await workerCode('node'));
    return takeNodeWorker(kNodeWorker, []);
  },
  startHere: async (report) => {
    embedWorker(await workerCode('node')); // enables threads, which run the same worker
    return new LocalHost(report, { ...nodeEngines, importGpu: noGpu });
  },
  build: embeddedBuild,
};
