// The runtimes of peruse/inline, whose engine is embedded. In pages the worker starts from a blob, in Node from its source text.
import { startHelpersBy } from '../engine/helper_browser.js';
import { embedWorker } from '../engine/installed_node.js';
import type { Features } from '../engine/variant.js';
import { kNodeWorker } from '../engine/wasm_node.js';
import { describeBlank, describeCuts, explain, streamOf } from '../extras.js';
import { inBrowsers, isPage, kHasWorkers } from '../platform/platform_browser.js';
import { nodeRuntime } from '../platform/platform_node.js';
import type { ProgressCallback } from '../progress.js';
import { kModelKit } from '../redact/model_kit.js';
import { loadIndex, newIndex, saveIndex } from '../search/kit.js';
import * as folderKit from '../sources/folders/folder_kit.js';
import type { Host } from '../worker/host.js';
import { LocalHost } from '../worker/local_host.js';
import type { WorkerPort } from '../worker/messages.js';
import type { CallerRuntime } from '../worker/runtime.js';
import { nodeEngines } from '../worker/runtime_node.js';
import { startBrowserWorker } from '../worker/start_worker_browser.js';
import { takeNodeWorker } from '../worker/start_worker_node.js';
import { inlineEngines, noGpu } from './runtime.js';
import { embeddedBuild, workerCode } from './unpack.js';

function plainOnly(features: Features): Features {
  return { ...features, relaxedSimd: false, whyPlain: "'peruse/inline' holds no other build" };
}

export const inlineInBrowser: CallerRuntime = {
  ...inBrowsers,
  features: (inWorker) => plainOnly(inBrowsers.features(inWorker)),
  startWorker,
  startHere,
  build: embeddedBuild,
  redaction: async () => kModelKit,
  search: async () => ({ loadIndex, newIndex, saveIndex }),
  extras: async () => ({ describeBlank, describeCuts, explain, streamOf }),
  kit: async () => folderKit,
  openOpfs: folderKit.openOpfs,
};

let address: Promise<string> | undefined;

/** One address for all workers. It is never revoked, because a worker starts its threads from it. */
async function workerAddress(): Promise<string> {
  return URL.createObjectURL(new Blob([await workerCode('browser')], { type: 'text/javascript' }));
}

/** In a program's own worker, the engine's threads start from the package's script. */
async function startHere(report: ProgressCallback): Promise<Host> {
  if (kHasWorkers && !isPage()) {
    address ??= workerAddress();
    const url = await address;
    startHelpersBy(() => new Worker(url, { name: 'peruse' }));
  }
  return new LocalHost(report, inlineEngines);
}

async function startWorker(threads: number): Promise<WorkerPort> {
  address ??= workerAddress();
  const url = await address;
  return startBrowserWorker({ make: () => new Worker(url, { name: 'peruse' }), address: url, isBlob: true }, threads);
}

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
