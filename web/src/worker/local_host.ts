import { type EngineRequest, startCpuEngine } from '../engine/cpu_engine.js';
import type { Engine } from '../engine/engine.js';
import { EngineGroup } from '../engine/engine_group.js';
import type { LoadRequest } from '../engine/load_request.js';
import type { DescribeRequest, DescriptionReport } from '../engine/models/describe_model.js';
import { isCurrent, type LoadContext, type LoadReport, loadModel } from '../engine/models/load.js';
import { describeError, onAbort, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { serveFolder } from '../sources/folders/folder_port.js';
import { openFolder } from '../sources/folders/open_folder.js';
import { EngineCalls } from './engine_calls.js';
import { type FilesRequest, type Host, Starting, type Verb, type Verbs } from './host.js';
import type { DescribePart, EngineRuntime, GpuPart } from './runtime.js';
import { type Turn, Turns } from './turns.js';

/** What the hosts of one model in a thread share. */
interface Shared {
  group: EngineGroup;
  turns: Turns;
}

const kNobody: Turn = { pipeline: -1 };

/** Has the engine of a task in this thread, from its load to its end. A new engine replaces one whose GPU was lost. */
export class LocalHost implements Host {
  readonly #report: ProgressCallback;
  readonly #runtime: EngineRuntime;
  readonly #shared: Shared;
  readonly #starting = new Starting();
  readonly #stop = new AbortController();
  readonly #calls: EngineCalls;
  #engine: Engine | undefined;
  #weightBytes = 0;
  #recovery: LoadRequest | undefined; // the request that loads the model again if a GPU is lost
  readonly #verbs: {
    [V in Verb]: (request: Verbs[V]['takes'], signal: AbortSignal | undefined, turn: Turn) => Promise<Verbs[V]['gives']>;
  } = {
    load: (request) => this.#load(request),
    isCurrent: (request, signal) => isCurrent(request, this.#context(signal)),
    run: (request, signal, turn) => this.#calls.run(request, signal, turn),
    inspect: (request, signal, turn) => this.#calls.inspect(request, signal, turn),
    tokenize: (request) => this.#calls.tokenize(request),
    memory: async () => ({ heapBytes: this.#loaded().heapBytes(), weightBytes: this.#weightBytes }),
    setVectors: (request, _, turn) => this.#calls.setVectors(request, turn),
    nearest: (request, _, turn) => this.#calls.nearest(request, turn),
    describe: (request, signal) => this.#describe(request, signal),
    serveFiles: (request) => this.#serveFiles(request),
    usage: async (_, __, turn) => this.#calls.usage(turn),
    leave: (_, __, turn) => this.#calls.leave(turn),
  };

  constructor(report: ProgressCallback, runtime: EngineRuntime, shared: Shared = { group: new EngineGroup(), turns: new Turns() }) {
    this.#report = report;
    this.#runtime = runtime;
    this.#shared = shared;
    this.#calls = new EngineCalls(
      shared.turns,
      () => this.#loaded(),
      (signal) => this.#working(signal),
    );
  }

  another(report: ProgressCallback): LocalHost {
    return new LocalHost(report, this.#runtime, this.#shared);
  }

  usable(): boolean {
    return true;
  }

  async call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal, turn: Turn = kNobody): Promise<Verbs[V]['gives']> {
    return this.#verbs[verb](request, signal, turn);
  }

  dispose(): void {
    this.#stop.abort();
    this.#release();
  }

  /** Resolves when engines that were still starting at dispose() have ended. */
  ended(): Promise<void> {
    return this.#starting.ended();
  }

  #loaded(): Engine {
    throwIfAborted(this.#stop.signal);
    if (!this.#engine) throw new PeruseError('internal', 'No model is loaded yet.');
    return this.#engine;
  }

  /** Loads the model again if the GPU was lost or has failed, unless the caller chose 'refuse'. */
  async #working(callSignal: AbortSignal | undefined): Promise<Engine> {
    throwIfAborted(callSignal);
    const engine = this.#loaded();
    if (this.#recovery !== undefined && !engine.healthy()) {
      this.#end(engine); // stays here until the load has worked, so that the next call tries again
      await this.#use(this.#recovery);
    }
    throwIfAborted(callSignal);
    return this.#loaded();
  }

  async #load(request: LoadRequest): Promise<LoadReport> {
    const report = await this.#use(request);
    if (report.deviceChoice.device === 'webgpu') {
      this.#recovery = { ...request, device: 'webgpu', dtype: report.dtype };
    }
    return report;
  }

  async #use(request: LoadRequest): Promise<LoadReport> {
    const { engine, report } = await loadModel(request, this.#context());
    this.#engine = engine;
    if (this.#stop.signal.aborted) this.#release();
    throwIfAborted(this.#stop.signal);
    this.#weightBytes = report.weights.weightBytes;
    return report;
  }

  #context(signal = this.#stop.signal): LoadContext {
    return {
      files: this.#runtime,
      startEngine: (request) => this.#start({ ...request, builds: this.#runtime }),
      group: this.#shared.group,
      report: this.#report,
      signal,
    };
  }

  #start(request: EngineRequest): Promise<Engine> {
    return this.#starting.add(this.#runtime.startEngine?.(request) ?? startOnDevice(request, this.#runtime));
  }

  #release(): void {
    const engine = this.#engine;
    this.#engine = undefined;
    if (engine) this.#end(engine);
  }

  #end(engine: Engine): void {
    this.#shared.group.remove(engine);
    this.#calls.release(engine);
    engine.dispose();
  }

  async #describe(request: DescribeRequest, signal = this.#stop.signal): Promise<DescriptionReport> {
    const { describeModel } = await loadDescribe(this.#runtime);
    const { choice, wasm } = request;
    const startCpu = () => startCpuEngine({ choice, builds: this.#runtime, ...(wasm === undefined ? {} : { wasm }) });
    return describeModel(request, { files: this.#runtime, startEngine: startCpu, signal });
  }

  async #serveFiles({ source, port }: FilesRequest): Promise<null> {
    const { signal } = this.#stop;
    serveFolder(await openFolder(source, this.#runtime), port as MessagePort, signal);
    return new Promise((resolve) => onAbort(signal, () => resolve(null)));
  }
}

async function startOnDevice(request: EngineRequest, runtime: EngineRuntime): Promise<Engine> {
  const engine = await start(request, runtime);
  void runtime.dropHelpers?.(); // ends helpers that were started in advance: a GPU does not need threads
  return engine;
}

async function start(request: EngineRequest, { findGpu = navigatorGpu, importGpu }: EngineRuntime): Promise<Engine> {
  if ((request.device ?? 'cpu') === 'cpu') return startCpuEngine(request);
  let part: GpuPart;
  try {
    part = await load(importGpu);
  } catch (error) {
    if (request.device === 'webgpu') throw error;
    return startCpuEngine(request, `the CPU, because the GPU can't be used: ${(error as PeruseError).message}`);
  }
  return part.startWithGpu(request, findGpu);
}

async function loadDescribe({ importDescribe }: EngineRuntime): Promise<DescribePart> {
  try {
    if (!importDescribe) throw new Error('there is none here.');
    return await importDescribe();
  } catch (error) {
    const message = `The part of Peruse that describes models could not be loaded: ${describeError(error)}`;
    throw new PeruseError('network', message, { cause: error });
  }
}

async function load(importGpu: EngineRuntime['importGpu']): Promise<GpuPart> {
  try {
    if (!importGpu) throw new Error('there is none here.');
    return await importGpu();
  } catch (error) {
    throw new PeruseError('no_gpu', `The GPU's part of Peruse could not be loaded: ${describeError(error)}`, { cause: error });
  }
}

async function navigatorGpu(): Promise<GPU | undefined> {
  return (globalThis.navigator as Navigator | undefined)?.gpu;
}
