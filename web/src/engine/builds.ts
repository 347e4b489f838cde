// Starts a build of the engine. Builds differ in their wasm file; those of one kind of threading share their glue.
import createPlain from '../../wasm/glue.mjs';
import createThreaded from '../../wasm/glue-threads.mjs';
import { describe, PeruseError } from '../errors.js';
import { Engine, type EngineModule, type EngineModuleFactory, type HelperWorker } from './engine.js';
import type { LoadRequest } from './load_request.js';
import type { Variant } from './variant.js';

/** The variants compute on the CPU. 'webgpu' can compute on a GPU, where the CPU only records: it has no threads. */
export type Build = Variant | 'webgpu';

/** What starting needs from the place where it runs. */
export interface WasmParts {
  /** Compiles a build, of the package's own files or of the folder whose URL is given. */
  compile(build: Build, folder: string | undefined): Promise<WebAssembly.Module>;
  /** Starts a worker that becomes a thread of the engine (helpers.ts). */
  startHelper(): HelperWorker;
}

/** A request for an engine: that of the load, and what is at hand where the engine will run. */
export interface EngineRequest extends LoadRequest {
  /** The content of config.json: what a probe's sizes come from. */
  config: Promise<Uint8Array>;
  parts: WasmParts;
}

export interface StartedBuild {
  module: EngineModule;
  lastWords: () => string;
}

/** `reason`: why the CPU, where there was a choice. */
export async function startCpuEngine(request: Pick<EngineRequest, 'choice' | 'wasm' | 'parts'>, reason?: string): Promise<Engine> {
  const { module, lastWords } = await startCpuBuild(request);
  const placement = { device: 'cpu' as const, ...(reason === undefined ? {} : { reason }) };
  return new Engine(module, request.choice.threads, lastWords, undefined, placement);
}

export function startCpuBuild({ choice, wasm, parts }: Pick<EngineRequest, 'choice' | 'wasm' | 'parts'>): Promise<StartedBuild> {
  const factory = choice.variant.endsWith('-threads') ? createThreaded : createPlain;
  return startBuild(factory, choice.variant, choice.threads, { wasm, parts });
}

export async function startBuild(
  factory: EngineModuleFactory,
  build: Build,
  threads: number,
  { wasm, parts }: Pick<EngineRequest, 'wasm' | 'parts'>,
): Promise<StartedBuild> {
  let lastWords = '';
  const options = {
    print: () => {},
    printErr: (line: string) => {
      lastWords = line;
    },
    pthreadPoolSize: threads - 1,
  };
  try {
    const compiled = wasm instanceof WebAssembly.Module ? wasm : await parts.compile(build, wasm);
    return { module: await instantiate(factory, compiled, options, parts), lastWords: () => lastWords };
  } catch (error) {
    const where = typeof wasm === 'string' ? ` from ${wasm}` : '';
    const why = `${describe(error)} ${lastWords}`;
    const policy = /unsafe-eval|content security policy/i.test(why)
      ? "; the page's content security policy must have 'wasm-unsafe-eval' in script-src"
      : '';
    const message = `The engine's build '${build}' could not be started${where}: ${describe(error)}${policy}`;
    throw new PeruseError('no_wasm', message, { cause: error });
  }
}

/** The glue itself notices nothing of an instance or a helper that does not come about. */
function instantiate(
  factory: EngineModuleFactory,
  compiled: WebAssembly.Module,
  options: { print: () => void; printErr: (line: string) => void; pthreadPoolSize: number },
  parts: WasmParts,
): Promise<EngineModule> {
  return new Promise((resolve, reject) => {
    const startHelper = () => {
      const helper = parts.startHelper();
      helper.onfailure = (reason) => reject(new Error(`a thread could not be started: ${reason}`));
      return helper;
    };
    const instantiateWasm = (
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) => {
      WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled), reject);
      return {};
    };
    factory({ ...options, instantiateWasm, startHelper }).then(resolve, reject);
  });
}
