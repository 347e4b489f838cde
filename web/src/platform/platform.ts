// What differs between a browser and Node: one object each.

import type { Features, Variant } from '../engine/variant.js';
import type { ProgressCallback } from '../progress.js';
import type { FolderParts } from '../sources/open_folder.js';
import type { PathResolver, SourceSpec } from '../sources/source.js';
import type { FindDetails } from '../tasks/pattern_names.js';
import type { Host } from '../worker/host.js';
import type { WorkerPort } from '../worker/worker_host.js';

export interface Platform {
  /** Whether a model's work goes to a worker unless the caller says otherwise. */
  worksInWorker(source: SourceSpec): Promise<boolean>;
  /** The machine's features, for an engine in a worker or in this thread. */
  features(inWorker: boolean): Features;
  /** Starts the package's own worker, for work that needs so many threads, its own among them. Throws 'worker_died' if it can't be. */
  startWorker(threads: number): Promise<WorkerPort>;
  /** A host in this thread. */
  startHere(report: ProgressCallback): Promise<Host>;
  /** URL of a folder that holds the package's files, if they are not next to its scripts. */
  filesFolder?(): Promise<string | undefined>;
  /** Compiles a build, where the builds are part of the program. */
  build?(variant: Variant): Promise<WebAssembly.Module | undefined>;
  /** Loads the patterns of redact. */
  patterns(): Promise<FindDetails>;
  paths: PathResolver;
  /** For folders that this thread reads. */
  folderParts: FolderParts;
}

/** On the web a path is a URL, relative to the page or the worker. */
export const webPaths: PathResolver = {
  baseUrl: () => (typeof document === 'undefined' ? globalThis.location?.href : document.baseURI),
  findFolder: async () => undefined,
};
