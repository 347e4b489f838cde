// The browser: a module worker that lies beside this file, or this thread.
import { detectFeatures } from '../engine/features.js';
import type { ProgressCallback } from '../progress.js';
import type { Host } from '../worker/host.js';
import { startBrowserWorker } from '../worker/start_browser.js';
import type { WorkerPort } from '../worker/worker_host.js';
import { type Platform, webPaths } from './platform.js';

const kHasWorkers = typeof Worker === 'function'; // Service workers can't start any.

export const browserPlatform: Platform = {
  worksInWorker: async () => kHasWorkers,
  features: (inWorker) =>
    detectFeatures({
      inWorker: kHasWorkers && (inWorker || typeof document === 'undefined'),
      processors: globalThis.navigator?.hardwareConcurrency ?? 1,
      sharedMemory: globalThis.crossOriginIsolated === true,
    }),
  startWorker,
  startHere,
  paths: webPaths,
  folderParts: {},
};

async function startWorker(threads: number): Promise<WorkerPort> {
  return startBrowserWorker(newWorker, import.meta.url.replace(/[^/]*$/, 'peruse-worker.js'), threads);
}

/** Spelled out so that bundlers find the file. */
function newWorker(): Worker {
  return new Worker(new URL('./peruse-worker.js', import.meta.url), { type: 'module', name: 'peruse' });
}

/** The worker's file, in this thread. */
async function startHere(report: ProgressCallback): Promise<Host> {
  const { LocalHost, browserHostParts } = await import('../worker/worker.js');
  return new LocalHost(report, browserHostParts);
}
