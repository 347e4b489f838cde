import { startCpuEngine } from '../engine/cpu_engine.js';
import { type DescribeRequest, type DescriptionReport, describeModel } from '../engine/describe_model.js';
import type { Engine, RunRequest } from '../engine/engine.js';
import { afterWork } from '../engine/events.js';
import { type LoadContext, type LoadReport, loadModel } from '../engine/load.js';
import type { LoadRequest } from '../engine/load_request.js';
import type { DeviceChoice } from '../engine/reports.js';
import type { VectorIndex } from '../engine/vector_index.js';
import { describeError, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { type Inspection, type InspectRequest, withInfinities } from '../tasks/inspection.js';
import { joinParts } from '../tasks/results.js';
import { runTokenizerCall, type TokenizerRequest } from '../tasks/tokenizer_calls.js';
import type { NearestRequest, SetVectors, VectorHit } from '../tasks/vector_search.js';
import { EngineGroup } from './engine_group.js';
import type { Host, Verb, Verbs } from './host.js';
import type { Runtime } from './runtime.js';
import { startOnDevice } from './start_on_device.js';
import { Starting } from './starting.js';

export class LocalHost implements Host {
  private engine_: Engine | undefined;
  private readonly indexes_ = new Map<number, VectorIndex>(); // in the engine's memory
  private weightBytes_ = 0;
  private calls_ = 0;
  private milliseconds_ = 0;
  private readonly starting_ = new Starting();
  private recovery_: LoadRequest | undefined; // the request that loads the model again if a GPU is lost
  private readonly stop_ = new AbortController();
  private last_: Promise<unknown> = Promise.resolve();
  private readonly verbs_: { [V in Verb]: (request: Verbs[V]['takes'], signal?: AbortSignal) => Promise<Verbs[V]['gives']> } = {
    load: (request) => this.load(request),
    run: (request, signal) => this.inTurn(() => this.run(request, signal)),
    inspect: (request, signal) => this.inTurn(() => this.inspect(request, signal)),
    tokenize: async (request) => this.tokenize(request),
    memory: async () => ({ heapBytes: this.engine().heapBytes(), weightBytes: this.weightBytes_ }),
    setVectors: (request) => this.inTurn(() => timed(() => this.setVectors(request))),
    nearest: (request) => this.inTurn(() => timed(() => this.nearest(request))),
    describe: (request, signal) => this.describe(request, signal),
    usage: async () => ({ calls: this.calls_, tokens: this.engine().tokensRead(), milliseconds: this.milliseconds_ }),
  };

  constructor(
    private readonly report_: ProgressCallback,
    private readonly runtime_: Runtime,
    private readonly group_ = new EngineGroup(),
  ) {}

  fork(report: ProgressCallback): LocalHost {
    return new LocalHost(report, this.runtime_, this.group_);
  }

  usable(): boolean {
    return true;
  }

  async call<V extends Verb>(verb: V, request: Verbs[V]['takes'], signal?: AbortSignal): Promise<Verbs[V]['gives']> {
    return this.verbs_[verb](request, signal);
  }

  dispose(): void {
    this.stop_.abort();
    this.giveUpEngine();
  }

  ended(): Promise<void> {
    return this.starting_.ended();
  }

  private giveUpEngine(): void {
    const engine = this.engine_;
    this.engine_ = undefined;
    if (!engine) return;
    this.group_.remove(engine);
    // freed one by one, because another pipeline may share the engine's memory
    for (const index of engine.healthy() ? this.indexes_.values() : []) index.dispose();
    this.indexes_.clear();
    engine.dispose();
  }

  private engine(): Engine {
    throwIfAborted(this.stop_.signal);
    if (!this.engine_) throw new PeruseError('internal', 'No model is loaded yet.');
    return this.engine_;
  }

  /** Waits for earlier tasks, because the engine holds the state of one request at a time. */
  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.last_.then(task);
    this.last_ = turn.catch(() => {});
    return turn;
  }

  private async run(request: RunRequest, signal: AbortSignal | undefined): Promise<unknown[]> {
    throwIfAborted(signal);
    await this.recover();
    throwIfAborted(signal);
    const start = performance.now();
    this.engine().start(request);
    await afterWork(performance.now() - start);
    const results = await this.results(request.inputs.length, signal);
    this.calls_ += 1;
    this.milliseconds_ += performance.now() - start;
    return results;
  }

  private async inspect(request: InspectRequest, signal: AbortSignal | undefined): Promise<Inspection> {
    throwIfAborted(signal);
    await this.recover();
    throwIfAborted(signal);
    this.engine().startInspection(request);
    const [found] = await this.results(1, signal);
    return withInfinities(found as Inspection);
  }

  private async tokenize(request: TokenizerRequest): Promise<unknown> {
    const tokenizer = this.engine().tokenizer();
    try {
      return runTokenizerCall(tokenizer, request);
    } finally {
      tokenizer.dispose();
    }
  }

  private setVectors({ index, width, data, scales }: SetVectors): null {
    this.indexes_.get(index)?.dispose();
    this.indexes_.delete(index);
    if (data.length === 0) return null;
    const made = this.engine().newIndex(width);
    try {
      made.set({ data, ...(scales && { scales }) });
    } catch (error) {
      made.dispose();
      throw error;
    }
    this.indexes_.set(index, made);
    return null;
  }

  private nearest({ index, query, top_k }: NearestRequest): VectorHit[] | null {
    const known = this.indexes_.get(index);
    return known?.width === query.length ? known.search(query, top_k) : null;
  }

  private async results(inputs: number, signal: AbortSignal | undefined): Promise<unknown[]> {
    const results = new Array<unknown>(inputs);
    for (let more = true; more; ) {
      throwIfAborted(signal);
      const start = performance.now();
      more = await this.engine().step();
      joinParts(results, this.engine().take());
      await afterWork(performance.now() - start);
    }
    return results;
  }

  private describe(request: DescribeRequest, signal = this.stop_.signal): Promise<DescriptionReport> {
    const { choice, wasm } = request;
    const startCpu = () => startCpuEngine({ choice, builds: this.runtime_, ...(wasm === undefined ? {} : { wasm }) });
    return describeModel(request, { files: this.runtime_, startEngine: startCpu, signal });
  }

  private async load(request: LoadRequest): Promise<LoadReport> {
    const report = await this.loadWithFallback(request);
    if (report.deviceChoice.device === 'webgpu' && request.onDeviceLost === 'recover') {
      this.recovery_ = { ...request, device: 'webgpu', dtype: report.dtype };
    }
    return report;
  }

  private async loadWithFallback(request: LoadRequest): Promise<LoadReport> {
    let chosen: DeviceChoice | undefined;
    try {
      return await this.loadOnce(request, (deviceChoice) => {
        chosen = deviceChoice;
      });
    } catch (error) {
      if (request.device !== 'auto' || chosen?.device !== 'webgpu' || !isGpuFailure(error)) throw error;
      // loaded separately, because another task's engine is on the GPU
      const report = await this.loadOnce({ ...request, device: 'cpu', share: false });
      return {
        ...report,
        deviceChoice: { ...report.deviceChoice, reason: `the CPU, because the GPU could not take the model: ${describeError(error)}` },
      };
    }
  }

  private async loadOnce(request: LoadRequest, onDeviceChosen: (deviceChoice: DeviceChoice) => void = () => {}): Promise<LoadReport> {
    const start = this.runtime_.startEngine ?? ((engineRequest) => startOnDevice(engineRequest, this.runtime_));
    const load = (findLoaded: LoadContext['findLoaded']) => {
      throwIfAborted(this.stop_.signal);
      return loadModel(request, {
        files: this.runtime_,
        startEngine: (config) => {
          const starting = start({ ...request, config, builds: this.runtime_ }).then((engine) => {
            void this.runtime_.dropHelpers?.(); // ends helpers that were started in advance: a GPU does not need threads
            onDeviceChosen(engine.deviceChoice);
            return engine;
          });
          return this.starting_.add(starting);
        },
        findLoaded,
        report: this.report_,
        signal: this.stop_.signal,
      });
    };
    const { engine, report } = request.share ? await this.group_.load(load) : await load(undefined);
    this.engine_ = engine;
    if (this.stop_.signal.aborted) this.giveUpEngine();
    throwIfAborted(this.stop_.signal);
    this.weightBytes_ = report.weights.weightBytes;
    return report;
  }

  /** Loads the model again after the GPU was lost or has failed, unless the caller chose 'refuse'. */
  private async recover(): Promise<void> {
    const engine = this.engine();
    if (this.recovery_ === undefined || engine.healthy()) return;
    this.indexes_.clear();
    this.group_.remove(engine);
    engine.dispose();
    await this.loadOnce(this.recovery_);
  }
}

async function timed<T>(work: () => T): Promise<T> {
  const start = performance.now();
  const result = work();
  await afterWork(performance.now() - start);
  return result;
}

/** Whether a load may have failed because of the GPU, not of the model or the request. */
function isGpuFailure(error: unknown): boolean {
  return error instanceof PeruseError && ['gpu_lost', 'gpu_failed', 'out_of_memory', 'unsupported'].includes(error.code);
}
