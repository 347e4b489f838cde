// The runtime of pages and programs' own workers: the engine runs in a module worker, or in this thread.

import { filesFolder, importPart, kFilesRemedy } from '../engine/files_browser.js';
import { detectFeatures } from '../engine/variant.js';
import { describeError, type ErrorCode, PeruseError } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import type { ModelKit } from '../redact/model_kit.js';
import type { FolderKit } from '../sources/file_access.js';
import type { Host } from '../worker/host.js';
import type { hostHere } from '../worker/host_here.js';
import type { WorkerPort } from '../worker/messages.js';
import type { CallerRuntime, SearchKit } from '../worker/runtime.js';
import { kOwnFiles } from '../worker/runtime_browser.js';
import { startBrowserWorker, startThread, workerScript } from '../worker/start_worker_browser.js';
import { webPaths } from './paths.js';

export const kHasWorkers = typeof Worker === 'function'; // service workers cannot start workers

/** In a program's own worker, models work in that worker. */
export const isPage = () => typeof document !== 'undefined';

/** What peruse/inline has in common with other entries in browsers. */
export const inBrowsers: Pick<CallerRuntime, 'startsWorkers' | 'features' | 'paths'> = {
  startsWorkers: () => kHasWorkers && isPage(),
  features: (inWorker) =>
    detectFeatures({
      inWorker: kHasWorkers && (inWorker || !isPage()),
      processors: globalThis.navigator?.hardwareConcurrency ?? 1,
      sharedMemory: globalThis.crossOriginIsolated === true,
    }),
  paths: webPaths,
};

export const pageRuntime: CallerRuntime = {
  ...inBrowsers,
  startWorker,
  startHere,
  filesFolder: () => filesFolder(import.meta.url),
  redaction,
  search,
  extras,
  kit,
  openOpfs: async (version) => (await kit()).openOpfs(version),
};

async function startWorker(threads: number): Promise<WorkerPort> {
  const here = import.meta.url;
  return startBrowserWorker(workerScript('peruse-worker.js', await filesFolder(here), newWorker, here), threads);
}

function newWorker(): Worker {
  return new Worker(new URL('./peruse-worker.js', import.meta.url), { type: 'module', name: 'peruse' });
}

/** The package's scripts that load on use. One expression per file, for bundlers. */
const kParts = {
  host: () => new URL('./peruse-host.js', import.meta.url),
  'redact-kit': () => new URL('./peruse-redact-kit.js', import.meta.url),
  search: () => new URL('./peruse-search.js', import.meta.url),
  extras: () => new URL('./peruse-extras.js', import.meta.url),
  files: () => new URL('./peruse-files.js', import.meta.url),
};

async function startHere(report: ProgressCallback): Promise<Host> {
  const here = import.meta.url;
  const folder = await filesFolder(here);
  const part = await load<{ hostHere: typeof hostHere }>('host', "The engine's script", 'no_wasm');
  const thread = workerScript('peruse-worker.js', folder, newWorker, here);
  return part.hostHere(report, folder ?? kOwnFiles, () => startThread(thread));
}

async function redaction(): Promise<ModelKit> {
  return (await load<{ kModelKit: ModelKit }>('redact-kit', 'The parts of redact')).kModelKit;
}

async function search(): Promise<SearchKit> {
  return load('search', 'The parts of SemanticIndex');
}

async function extras(): ReturnType<CallerRuntime['extras']> {
  return load('extras', 'The parts of pipelines');
}

async function kit(): Promise<FolderKit> {
  return load('files', 'The readers of files');
}

async function load<T>(name: keyof typeof kParts, what: string, code: ErrorCode = 'network'): Promise<T> {
  const file = `peruse-${name}.js`;
  const folder = await filesFolder(import.meta.url);
  try {
    return await importPart<T>(name, folder === undefined ? kParts[name]().href : folder + file);
  } catch (cause) {
    if ('ServiceWorkerGlobalScope' in globalThis) {
      const message = `A service worker can't load parts of a module later: import from 'peruse/service-worker'. (${describeError(cause)})`;
      throw new PeruseError('unsupported', message, { cause });
    }
    throw new PeruseError(code, `${what} could not be loaded (${file}): ${describeError(cause)} ${kFilesRemedy}`, { cause });
  }
}
