import { describeError, PeruseError } from '../errors.js';
import type { WasmModule } from '../web_types.js';
import type { HelperWorker, ModuleFactory } from './engine.js';

/** How a platform compiles builds and starts their threads. */
export interface BuildAccess<Build> {
  compile(build: Build, folder: string | undefined): Promise<WasmModule>;
  /** Starts a thread. Absent for builds without threads. */
  startHelper?(): HelperWorker;
  /** Ends threads that were started in advance but are not needed. */
  dropHelpers?(): Promise<void>;
}

export interface Started<M> {
  module: M;
  lastWords: () => string;
}

/** `wasm` is a compiled build, or the URL of a folder that replaces the package's own. */
export async function startModule<M, Build extends string>(
  factory: ModuleFactory<M>,
  build: Build,
  threads: number,
  wasm: string | WasmModule | undefined,
  access: BuildAccess<Build>,
): Promise<Started<M>> {
  let lastWords = '';
  const options = {
    print: () => {},
    printErr: (line: string) => {
      lastWords = line;
    },
    pthreadPoolSize: threads - 1,
  };
  try {
    const compiled = wasm instanceof WebAssembly.Module ? wasm : await access.compile(build, wasm);
    return { module: await instantiate(factory, compiled, options, access), lastWords: () => lastWords };
  } catch (error) {
    const where = typeof wasm === 'string' ? ` from ${wasm}` : '';
    const why = `${describeError(error)} ${lastWords}`;
    const policy = /unsafe-eval|content security policy/i.test(why)
      ? "; the page's content security policy must have 'wasm-unsafe-eval' in script-src"
      : '';
    const message = `The engine's build '${build}' could not be started${where}: ${describeError(error)}${policy}`;
    throw new PeruseError('no_wasm', message, { cause: error });
  }
}

/** Runs the Emscripten loader. Reports failures of the instance or of a thread, which the loader does not notice, and ends all threads. */
function instantiate<M>(
  factory: ModuleFactory<M>,
  compiled: WasmModule,
  options: { print: () => void; printErr: (line: string) => void; pthreadPoolSize: number },
  access: BuildAccess<never>,
): Promise<M> {
  return new Promise((resolve, reject) => {
    const helpers: HelperWorker[] = [];
    const fail = (error: unknown) => {
      for (const helper of helpers) helper.terminate();
      reject(error as Error);
    };
    const startHelper = () => {
      const helper = access.startHelper!();
      helpers.push(helper);
      helper.onFailure?.((reason) => fail(new Error(`a thread could not be started: ${reason}`)));
      return helper;
    };
    const instantiateWasm = (
      imports: WebAssembly.Imports,
      receive: (instance: WebAssembly.Instance, module: WebAssembly.Module) => void,
    ) => {
      WebAssembly.instantiate(compiled, imports).then((instance) => receive(instance, compiled), fail);
      return {};
    };
    factory({ ...options, instantiateWasm, startHelper }).then(resolve, fail);
  });
}
