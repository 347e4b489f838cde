// Starts a build of the engine. Builds differ in their wasm file; those of one kind of threading share their glue.
import createPlain from '../../wasm/glue.mjs';
import createThreaded from '../../wasm/glue-threads.mjs';
import { Engine, type EngineModule, type EngineModuleFactory, type HelperWorker } from './engine.js';
import type { LoadRequest } from './load_request.js';
import { type Started, startModule } from './start_build.js';
import { threadsThatHelp } from './thread_probe.js';
import type { Variant } from './variant.js';

/** The variants compute on the CPU. 'webgpu' can compute on a GPU, where the CPU only records: it has no threads. */
export type Build = Variant | 'webgpu';

/** What starting needs of the platform. */
export interface WasmParts {
  /** Compiles a build, of the package's own files or of the folder whose URL is given. */
  compile(build: Build, folder: string | undefined): Promise<WebAssembly.Module>;
  /** Starts a worker that becomes a thread of the engine (helpers.ts). */
  startHelper(): HelperWorker;
  /** Ends those that were started beforehand and are not needed. */
  dropHelpers?(): void;
}

/** A request for an engine: that of the load, and what is at hand where the engine will run. */
export interface EngineRequest extends LoadRequest {
  /** The content of config.json: what a probe's sizes come from. */
  config: Promise<Uint8Array>;
  parts: WasmParts;
}

export type StartedBuild = Started<EngineModule>;

/** `reason`: why the CPU, where there was a choice. */
export async function startCpuEngine(request: Pick<EngineRequest, 'choice' | 'wasm' | 'parts'>, reason?: string): Promise<Engine> {
  const { module, lastWords } = await startCpuBuild(request);
  const deviceChoice = { device: 'cpu' as const, ...(reason === undefined ? {} : { reason }) };
  const { threads, threadsAreFree } = request.choice;
  const helpful = threadsAreFree && threads > 1 ? await threadsThatHelp(module, threads) : threads;
  return new Engine(module, helpful, lastWords, undefined, deviceChoice);
}

export function startCpuBuild({ choice, wasm, parts }: Pick<EngineRequest, 'choice' | 'wasm' | 'parts'>): Promise<StartedBuild> {
  const factory = choice.variant.endsWith('-threads') ? createThreaded : createPlain;
  return startBuild(factory, choice.variant, choice.threads, { wasm, parts });
}

export function startBuild(
  factory: EngineModuleFactory,
  build: Build,
  threads: number,
  { wasm, parts }: Pick<EngineRequest, 'wasm' | 'parts'>,
): Promise<StartedBuild> {
  return startModule(factory, build, threads, wasm, {
    compile: (folder) => parts.compile(build, folder),
    startHelper: () => parts.startHelper(),
  });
}
