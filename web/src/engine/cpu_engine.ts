// Starts a build of the engine. All builds with threads share a JavaScript loader, and so do all builds without.
import createPlain from '../../wasm/glue.mjs';
import createThreaded from '../../wasm/glue-threads.mjs';
import { Engine, type EngineModule, type EngineModuleFactory, type HelperWorker } from './engine.js';
import type { LoadRequest } from './load_request.js';
import { type Started, startModule } from './start_module.js';
import { threadsThatHelp } from './thread_probe.js';
import type { Variant } from './variant.js';

/** The builds for the CPU, and 'webgpu', whose CPU part only records commands for a GPU. */
export type Build = Variant | 'webgpu';

export interface WasmParts {
  compile(build: Build, folder: string | undefined): Promise<WebAssembly.Module>;
  startHelper(): HelperWorker;
  /** Ends threads that were started in advance but are not needed. */
  dropHelpers?(): Promise<void>;
}

export interface EngineRequest extends LoadRequest {
  config: Promise<Uint8Array>;
  parts: WasmParts;
}

export type StartedBuild = Started<EngineModule>;

/** `reason` says why the CPU was chosen, if there was a choice. */
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
