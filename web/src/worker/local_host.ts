import { startCpuEngine } from '../engine/cpu_engine.js';
import { type DescribeRequest, type DescriptionReport, describeModel } from '../engine/describe_model.js';
import type { RunRequest } from '../engine/engine.js';
import { afterWork } from '../engine/events.js';
import { VectorIndexes } from '../engine/vector_index.js';
import { throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { type Inspection, type InspectRequest, withInfinities } from '../tasks/inspection.js';
import { joinParts } from '../tasks/results.js';
import { runTokenizerCall, type TokenizerRequest } from '../tasks/tokenizer_calls.js';
import { EngineGroup } from './engine_group.js';
import { EngineLoader } from './engine_loader.js';
import type { Host, Verb, Verbs } from './host.js';
import { LoadedEngine } from './loaded_engine.js';
import type { Runtime } from './runtime.js';

export class LocalHost implements Host {
  private readonly indexes_ = new VectorIndexes();
  private calls_ = 0;
  private milliseconds_ = 0;
  private readonly loader_: EngineLoader;
  private readonly loaded_: LoadedEngine;
  private readonly stop_ = new AbortController();
  private last_: Promise<unknown> = Promise.resolve();
  private readonly verbs_: { [V in Verb]: (request: Verbs[V]['takes'], signal?: AbortSignal) => Promise<Verbs[V]['gives']> } = {
    load: (request) => this.loaded_.load(request),
    run: (request, signal) => this.inTurn(() => this.run(request, signal)),
    inspect: (request, signal) => this.inTurn(() => this.inspect(request, signal)),
    tokenize: async (request) => this.tokenize(request),
    memory: async () => this.loaded_.memory(),
    setVectors: (request) => this.inTurn(() => timed(() => this.indexes_.set((width) => this.loaded_.get().newIndex(width), request))),
    nearest: (request) => this.inTurn(() => timed(() => this.indexes_.nearest(request))),
    describe: (request, signal) => this.describe(request, signal),
    usage: async () => ({ calls: this.calls_, tokens: this.loaded_.get().tokensRead(), milliseconds: this.milliseconds_ }),
  };

  constructor(
    report: ProgressCallback,
    private readonly runtime_: Runtime,
    private readonly group_ = new EngineGroup(),
  ) {
    this.loader_ = new EngineLoader(report, runtime_, group_, this.stop_.signal);
    this.loaded_ = new LoadedEngine(this.loader_, group_, this.stop_.signal, (isHealthy) =>
      isHealthy ? this.indexes_.dispose() : this.indexes_.forget(),
    );
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
    this.loaded_.release();
  }

  ended(): Promise<void> {
    return this.loader_.ended();
  }

  /** Waits for earlier tasks, because the engine holds the state of one request at a time. */
  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.last_.then(task);
    this.last_ = turn.catch(() => {});
    return turn;
  }

  private async run(request: RunRequest, signal: AbortSignal | undefined): Promise<unknown[]> {
    const engine = await this.loaded_.forCall(signal);
    const start = performance.now();
    engine.start(request);
    await afterWork(performance.now() - start);
    const results = await this.results(request.inputs.length, signal);
    this.calls_ += 1;
    this.milliseconds_ += performance.now() - start;
    return results;
  }

  private async inspect(request: InspectRequest, signal: AbortSignal | undefined): Promise<Inspection> {
    (await this.loaded_.forCall(signal)).startInspection(request);
    const [found] = await this.results(1, signal);
    return withInfinities(found as Inspection);
  }

  private async tokenize(request: TokenizerRequest): Promise<unknown> {
    const tokenizer = this.loaded_.get().tokenizer();
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
      more = await this.loaded_.get().step();
      joinParts(results, this.loaded_.get().take());
      await afterWork(performance.now() - start);
    }
    return results;
  }

  private describe(request: DescribeRequest, signal = this.stop_.signal): Promise<DescriptionReport> {
    const { choice, wasm } = request;
    const startCpu = () => startCpuEngine({ choice, builds: this.runtime_, ...(wasm === undefined ? {} : { wasm }) });
    return describeModel(request, { files: this.runtime_, startEngine: startCpu, signal });
  }
}

async function timed<T>(work: () => T): Promise<T> {
  const start = performance.now();
  const result = work();
  await afterWork(performance.now() - start);
  return result;
}
