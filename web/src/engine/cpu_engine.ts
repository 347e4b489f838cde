// Starts a build of the engine. All builds with threads share a JavaScript loader, and so do all builds without.
import createPlain from '../../wasm/glue.mjs';
import createThreaded from '../../wasm/glue-threads.mjs';
import { Engine, type EngineModule, type EngineModuleFactory } from './engine.js';
import type { LoadRequest } from './load_request.js';
import { type BuildAccess, type Started, startModule } from './start_module.js';
import { threadsThatHelp } from './thread_probe.js';
import type { Variant } from './variant.js';

/** The builds for the CPU, and 'webgpu', whose CPU part only records commands for a GPU. */
export type Build = Variant | 'webgpu';

export interface EngineRequest extends Pick<LoadRequest, 'choice' | 'device' | 'dtype' | 'probes' | 'wasm'> {
  config: Promise<Uint8Array>;
  builds: BuildAccess<Build>;
}

export type StartedBuild = Started<EngineModule>;

/** `reason` says why the CPU was chosen, if there was a choice. */
export async function startCpuEngine(request: Pick<EngineRequest, 'choice' | 'wasm' | 'builds'>, reason?: string): Promise<Engine> {
  const { module, lastWords } = await startCpuBuild(request);
  const deviceChoice = { device: 'cpu' as const, ...(reason === undefined ? {} : { reason }) };
  const { threads, threadsAreFree } = request.choice;
  const helpful = threadsAreFree && threads > 1 ? await threadsThatHelp(module, threads) : threads;
  return new Engine(module, helpful, lastWords, undefined, deviceChoice);
}

export function startCpuBuild({ choice, wasm, builds }: Pick<EngineRequest, 'choice' | 'wasm' | 'builds'>): Promise<StartedBuild> {
  const factory = choice.variant.endsWith('-threads') ? createThreaded : createPlain;
  return startBuild(factory, choice.variant, choice.threads, { wasm, builds });
}

export function startBuild(
  factory: EngineModuleFactory,
  build: Build,
  threads: number,
  { wasm, builds }: Pick<EngineRequest, 'wasm' | 'builds'>,
): Promise<StartedBuild> {
  return startModule(factory, build, threads, wasm, builds);
}
