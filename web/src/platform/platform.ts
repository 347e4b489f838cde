import { baseAddress } from '../base_address.js';
import type { DeviceWish } from '../engine/load_request.js';
import type { Features, Variant } from '../engine/variant.js';
import { PeruseError, show } from '../errors.js';
import type * as Extras from '../extras.js';
import type { ProgressCallback } from '../progress.js';
import type { RedactKit } from '../redact/kit.js';
import type * as SearchKitModule from '../search/kit.js';
import type { FileAccess } from '../sources/file_access.js';
import type { PathResolver } from '../sources/source.js';
import type { Host } from '../worker/host.js';
import type { WorkerPort } from '../worker/messages.js';

export type SearchKit = Pick<typeof SearchKitModule, 'newIndex' | 'loadIndex' | 'saveIndex'>;

export interface Platform {
  /** Whether models work in workers if the caller makes no choice. */
  startsWorkers(): boolean;
  features(inWorker: boolean): Features;
  /** Starts a worker, for work with this number of threads, including itself. Throws 'worker_died'. */
  startWorker(threads: number): Promise<WorkerPort>;
  startHere(report: ProgressCallback): Promise<Host>;
  /** The URL of the folder with workers and builds, if they are not next to the scripts. */
  filesFolder?(): Promise<string | undefined>;
  /** A compiled build for a load on this device, which is sent to the worker. Without it, the worker compiles. */
  build?(variant: Variant, device: DeviceWish): Promise<WebAssembly.Module | undefined>;
  redaction(): Promise<RedactKit>;
  search(): Promise<SearchKit>;
  extras(): Promise<Pick<typeof Extras, 'describeBlank' | 'describeCuts' | 'explain' | 'streamOf'>>;
  paths: PathResolver;
  files: FileAccess;
}

/** On the web a path is a URL, relative to the page or the worker. */
export const webPaths: PathResolver = {
  baseUrl: baseAddress,
  findFolder: async () => undefined,
};

interface EngineFiles {
  /** `env.filesPath`, or what a bundler has chosen. */
  filesFolder?: string | URL | undefined;
  wasm_module?: WebAssembly.Module | undefined;
}

/** A compiled build, or the URL of a folder with builds. `base` resolves relative addresses. */
export function engineFiles({ filesFolder, wasm_module }: EngineFiles, base: string | undefined): string | WebAssembly.Module | undefined {
  if (wasm_module === undefined) return engineFolder(filesFolder, base);
  if (wasm_module instanceof WebAssembly.Module) return wasm_module;
  throw new PeruseError('invalid_argument', 'wasm_module must be a WebAssembly.Module.');
}

export function engineFolder(path: string | URL | undefined, base: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return new URL(path, base).href;
  } catch (error) {
    throw new PeruseError('invalid_argument', `env.filesPath ${show(path)} is not a URL.`, { cause: error });
  }
}
