import { startCpuEngine } from '../engine/cpu_engine.js';
import { type DescribeRequest, type DescriptionReport, describeModel } from '../engine/describe_model.js';
import type { Engine, RunRequest } from '../engine/engine.js';
import { afterWork } from '../engine/events.js';
import type { LoadReport } from '../engine/load.js';
import type { LoadRequest } from '../engine/load_request.js';
import { VectorIndexes } from '../engine/vector_index.js';
import { PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { type Inspection, type InspectRequest, withInfinities } from '../tasks/inspection.js';
import { joinParts } from '../tasks/results.js';
import { runTokenizerCall, type TokenizerRequest } from '../tasks/tokenizer_calls.js';
import { EngineGroup } from './engine_group.js';
import { EngineLoader } from './engine_loader.js';
import type { Host, Verb, Verbs } from './host.js';
import type { Runtime } from './runtime.js';

export class LocalHost implements Host {
  private engine_: Engine | undefined;
  private readonly indexes_ = new VectorIndexes();
  private weightBytes_ = 0;
  private calls_ = 0;
  private milliseconds_ = 0;
  private readonly loader_: EngineLoader;
  private recovery_: LoadRequest | undefined; // the request that loads the model again if a GPU is lost
  private readonly stop_ = new AbortController();
  private last_: Promise<unknown> = Promise.resolve();
  private readonly verbs_: { [V in Verb]: (request: Verbs[V]['takes'], signal?: AbortSignal) => Promise<Verbs[V]['gives']> } = {
    load: (request) => this.load(request),
    run: (request, signal) => this.inTurn(() => this.run(request, signal)),
    inspect: (request, signal) => this.inTurn(() => this.inspect(request, signal)),
    tokenize: async (request) => this.tokenize(request),
    memory: async () => ({ heapBytes: this.engine().heapBytes(), weightBytes: this.weightBytes_ }),
    setVectors: (request) => this.inTurn(() => timed(() => this.indexes_.set((width) => this.engine().newIndex(width), request))),
    nearest: (request) => this.inTurn(() => timed(() => this.indexes_.nearest(request))),
    describe: (request, signal) => this.describe(request, signal),
    usage: async () => ({ calls: this.calls_, tokens: this.engine().tokensRead(), milliseconds: this.milliseconds_ }),
  };

  constructor(
    report: ProgressCallback,
    private readonly runtime_: Runtime,
    private readonly group_ = new EngineGroup(),
  ) {
    this.loader_ = new EngineLoader(report, runtime_, group_, this.stop_.signal);
  }

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
    return this.loader_.ended();
  }

  private giveUpEngine(): void {
    const engine = this.engine_;
    this.engine_ = undefined;
    if (!engine) return;
    this.group_.remove(engine);
    if (engine.healthy()) this.indexes_.dispose();
    else this.indexes_.forget();
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
    const report = await this.use(request);
    if (report.deviceChoice.device === 'webgpu' && request.onDeviceLost === 'recover') {
      this.recovery_ = { ...request, device: 'webgpu', dtype: report.dtype };
    }
    return report;
  }

  private async use(request: LoadRequest): Promise<LoadReport> {
    const { engine, report } = await this.loader_.load(request);
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
    this.indexes_.forget();
    this.group_.remove(engine);
    engine.dispose();
    await this.use(this.recovery_);
  }
}

async function timed<T>(work: () => T): Promise<T> {
  const start = performance.now();
  const result = work();
  await afterWork(performance.now() - start);
  return result;
}
