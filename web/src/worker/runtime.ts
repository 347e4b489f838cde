// What differs between a page, a worker and Node, and between the package's entries: one type. A thread has the members of its work.
// Public declarations import this file, and TypeScript without the DOM library has to read them: a GPU and a compiled module are objects here.
import type { Build, EngineRequest } from '../engine/cpu_engine.js';
import type { Engine } from '../engine/engine.js';
import type { DeviceWish } from '../engine/load_request.js';
import type { describeModel } from '../engine/models/describe_model.js';
import type { BuildAccess } from '../engine/start_module.js';
import type { Features, Variant } from '../engine/variant.js';
import type * as Extras from '../extras.js';
import type { ProgressCallback } from '../progress.js';
import type { ModelKit } from '../redact/model_kit.js';
import type * as SearchKitModule from '../search/kit.js';
import type { FileAccess } from '../sources/file_access.js';
import type { PathResolver } from '../sources/source.js';
import type { Host } from './host.js';
import type { WorkerPort } from './messages.js';

export type SearchKit = Pick<typeof SearchKitModule, 'newIndex' | 'loadIndex' | 'saveIndex'>;

export interface GpuPart {
  startWithGpu(request: EngineRequest, findGpu: () => Promise<object | undefined>): Promise<Engine>;
}

export interface DescribePart {
  describeModel: typeof describeModel;
}

export interface Runtime<B extends string = Build> extends FileAccess, BuildAccess<B> {
  paths: PathResolver;

  /** Whether models work in workers by default. */
  startsWorkers(): boolean;
  features(inWorker: boolean): Features;
  /** Starts a worker, for work with this number of threads, including itself. Throws 'worker_died'. */
  startWorker(threads: number): Promise<WorkerPort>;
  startHere(report: ProgressCallback): Promise<Host>;
  /** The URL of the folder with workers and builds, if they are not next to the scripts. */
  filesFolder?(): Promise<string | undefined>;
  /** A compiled build for a load on this device, which is sent to the worker. Without it, the worker compiles. */
  build?(variant: Variant, device: DeviceWish): Promise<object | undefined>;
  redaction(): Promise<ModelKit>;
  search(): Promise<SearchKit>;
  extras(): Promise<Pick<typeof Extras, 'describeBlank' | 'describeCuts' | 'explain' | 'streamOf'>>;

  /** Finds WebGPU outside of the navigator. Throws 'no_gpu'. */
  findGpu?: () => Promise<object | undefined>;
  /** Loads GPU support. Not called for device 'cpu'. */
  importGpu?: () => Promise<GpuPart>;
  /** Loads what describes models. */
  importDescribe?: () => Promise<DescribePart>;
  /** Starts an engine instead of the host. */
  startEngine?: (request: EngineRequest) => Promise<Engine>;
}

type OfEngines = keyof BuildAccess<Build> | 'findGpu' | 'importGpu' | 'importDescribe' | 'startEngine';

/** A thread that calls models has these members. */
export type CallerRuntime = Omit<Runtime, OfEngines>;

/** A thread that has engines, a tokenizer or a trainer has these, with the builds `B`. */
export type EngineRuntime<B extends string = Build> = Pick<Runtime<B>, keyof FileAccess | OfEngines>;
