// The runtime of peruse/inline in pages: the worker starts from a blob, and the engine is embedded.

import { startHelpersBy } from '../engine/helper_browser.js';
import type { Features } from '../engine/variant.js';
import { detectFeatures } from '../engine/variant.js';
import { describeBlank, describeCuts, explain, streamOf } from '../extras.js';
import { webPaths } from '../platform/paths.js';
import type { ProgressCallback } from '../progress.js';
import { kModelKit } from '../redact/model_kit.js';
import { loadIndex, newIndex, saveIndex } from '../search/kit.js';
import * as folderKit from '../sources/folder_kit.js';
import type { Host } from '../worker/host.js';
import { LocalHost } from '../worker/local_host.js';
import type { WorkerPort } from '../worker/messages.js';
import type { CallerRuntime } from '../worker/runtime.js';
import { startBrowserWorker } from '../worker/start_worker_browser.js';
import { inlineEngines } from './runtime_browser.js';
import { embeddedBuild, workerCode } from './unpack.js';

const kHasWorkers = typeof Worker === 'function'; // service workers cannot start workers

/** In a program's own worker, models work in that worker. */
const isPage = () => typeof document !== 'undefined';

export function plainOnly(features: Features): Features {
  return { ...features, relaxedSimd: false, whyPlain: "'peruse/inline' holds no other build" };
}

export const inlineInBrowser: CallerRuntime = {
  startsWorkers: () => kHasWorkers && isPage(),
  features: (inWorker) =>
    plainOnly(
      detectFeatures({
        inWorker: kHasWorkers && (inWorker || !isPage()),
        processors: globalThis.navigator?.hardwareConcurrency ?? 1,
        sharedMemory: globalThis.crossOriginIsolated === true,
      }),
    ),
  startWorker,
  startHere,
  build: embeddedBuild,
  redaction: async () => kModelKit,
  search: async () => ({ loadIndex, newIndex, saveIndex }),
  extras: async () => ({ describeBlank, describeCuts, explain, streamOf }),
  paths: webPaths,
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
