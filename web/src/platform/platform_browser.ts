// The browser platform: the engine runs in a module worker, or in this thread.

import { filesFolder, kFilesRemedy } from '../engine/files_browser.js';
import { detectFeatures } from '../engine/variant.js';
import { describeError, PeruseError } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import type { RedactKit } from '../redact/kit.js';
import type { FolderKit } from '../sources/file_access.js';
import type { Host } from '../worker/host.js';
import type { WorkerPort } from '../worker/messages.js';
import { startBrowserWorker, workerScript } from '../worker/start_worker_browser.js';
import { type Platform, type SearchKit, webPaths } from './platform.js';

const kHasWorkers = typeof Worker === 'function'; // service workers cannot start workers

export const browserPlatform: Platform = {
  startsWorkers: () => kHasWorkers,
  features: (inWorker) =>
    detectFeatures({
      inWorker: kHasWorkers && (inWorker || typeof document === 'undefined'),
      processors: globalThis.navigator?.hardwareConcurrency ?? 1,
      sharedMemory: globalThis.crossOriginIsolated === true,
    }),
  startWorker,
  startHere,
  filesFolder: () => filesFolder(import.meta.url),
  redaction,
  search,
  extras,
  paths: webPaths,
  files: { kit },
};

async function startWorker(threads: number): Promise<WorkerPort> {
  const here = import.meta.url;
  return startBrowserWorker(workerScript('peruse-worker.js', await filesFolder(here), newWorker, here), threads);
}

function newWorker(): Worker {
  return new Worker(new URL('./peruse-worker.js', import.meta.url), { type: 'module', name: 'peruse' });
}

async function startHere(report: ProgressCallback): Promise<Host> {
  const { LocalHost, browserRuntime } = await import('../worker/worker.js').catch((error: unknown) => {
    throw notHere(error);
  });
  return new LocalHost(report, browserRuntime);
}

/** Loads the kit from the file of peruse/redact. */
async function redaction(): Promise<RedactKit> {
  return (await import('../index_redact_bundle.js').catch(notLoaded('parts of redact', 'peruse-redact.js')))._internals.kRedactKit;
}

async function search(): Promise<SearchKit> {
  return import('../search/kit.js').catch(notLoaded('parts of SemanticIndex', 'peruse-search.js'));
}

async function extras(): ReturnType<Platform['extras']> {
  return import('../extras.js').catch(notLoaded('parts of pipelines', 'peruse-extras.js'));
}

async function kit(): Promise<FolderKit> {
  return import('../sources/folder_kit.js').catch(notLoaded('readers of files', 'peruse-files.js'));
}

function notLoaded(what: string, file: string): (error: unknown) => never {
  return (error) => {
    throw new PeruseError('network', `The ${what} could not be loaded (${file}): ${describeError(error)} ${kFilesRemedy}`, {
      cause: error,
    });
  };
}

function notHere(cause: unknown): PeruseError {
  if ('ServiceWorkerGlobalScope' in globalThis) {
    const message = `A service worker can't load parts of a module later: import from 'peruse/service-worker'. (${describeError(cause)})`;
    return new PeruseError('unsupported', message, { cause });
  }
  return new PeruseError('no_wasm', `The engine's script could not be loaded: ${describeError(cause)} ${kFilesRemedy}`, { cause });
}
