import { type EngineRequest, startCpuEngine } from '../engine/cpu_engine.js';
import { type DescribeRequest, type DescriptionReport, describeModel } from '../engine/describe_model.js';
import type { Engine } from '../engine/engine.js';
import { EngineGroup } from '../engine/engine_group.js';
import { type LoadReport, loadModel } from '../engine/load.js';
import type { LoadRequest } from '../engine/load_request.js';
import { PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import { EngineCalls } from './engine_calls.js';
import type { Host, Verb, Verbs } from './host.js';
import type { Runtime } from './runtime.js';
import { startOnDevice } from './start_on_device.js';
import { Starting } from './starting.js';

/** Has the engine of a pipeline in this thread, from its load to its end. A new engine replaces one whose GPU was lost. */
export class LocalHost implements Host {
  private engine_: Engine | undefined;
  private weightBytes_ = 0;
  private recovery_: LoadRequest | undefined; // the request that loads the model again if a GPU is lost
  private readonly starting_ = new Starting();
  private readonly stop_ = new AbortController();
  private readonly calls_ = new EngineCalls(
    () => this.engine(),
    (signal) => this.working(signal),
  );
  private readonly verbs_: { [V in Verb]: (request: Verbs[V]['takes'], signal?: AbortSignal) => Promise<Verbs[V]['gives']> } = {
    load: (request) => this.load(request),
    run: (request, signal) => this.calls_.run(request, signal),
    inspect: (request, signal) => this.calls_.inspect(request, signal),
    tokenize: (request) => this.calls_.tokenize(request),
    memory: async () => ({ heapBytes: this.engine().heapBytes(), weightBytes: this.weightBytes_ }),
    setVectors: (request) => this.calls_.setVectors(request),
    nearest: (request) => this.calls_.nearest(request),
    describe: (request, signal) => this.describe(request, signal),
    usage: async () => this.calls_.usage(),
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
    this.release();
  }

  ended(): Promise<void> {
    return this.starting_.ended();
  }

  private engine(): Engine {
    throwIfAborted(this.stop_.signal);
    if (!this.engine_) throw new PeruseError('internal', 'No model is loaded yet.');
    return this.engine_;
  }

  /** Loads the model again if the GPU was lost or has failed, unless the caller chose 'refuse'. */
  private async working(callSignal: AbortSignal | undefined): Promise<Engine> {
    throwIfAborted(callSignal);
    const engine = this.engine();
    if (this.recovery_ !== undefined && !engine.healthy()) {
      this.end(engine); // stays here until the load has worked, so that the next call tries again
      await this.use(this.recovery_);
    }
    throwIfAborted(callSignal);
    return this.engine();
  }

  private async load(request: LoadRequest): Promise<LoadReport> {
    const report = await this.use(request);
    if (report.deviceChoice.device === 'webgpu' && request.onDeviceLost === 'recover') {
      this.recovery_ = { ...request, device: 'webgpu', dtype: report.dtype };
    }
    return report;
  }

  private async use(request: LoadRequest): Promise<LoadReport> {
    const { engine, report } = await loadModel(request, {
      files: this.runtime_,
      startEngine: (engineRequest) => this.start({ ...engineRequest, builds: this.runtime_ }),
      group: this.group_,
      report: this.report_,
      signal: this.stop_.signal,
    });
    this.engine_ = engine;
    if (this.stop_.signal.aborted) this.release();
    throwIfAborted(this.stop_.signal);
    this.weightBytes_ = report.weights.weightBytes;
    return report;
  }

  private start(request: EngineRequest): Promise<Engine> {
    return this.starting_.add(this.runtime_.startEngine?.(request) ?? startOnDevice(request, this.runtime_));
  }

  private release(): void {
    const engine = this.engine_;
    this.engine_ = undefined;
    if (engine) this.end(engine);
  }

  private end(engine: Engine): void {
    this.group_.remove(engine);
    this.calls_.release(engine);
    engine.dispose();
  }

  private describe(request: DescribeRequest, signal = this.stop_.signal): Promise<DescriptionReport> {
    const { choice, wasm } = request;
    const startCpu = () => startCpuEngine({ choice, builds: this.runtime_, ...(wasm === undefined ? {} : { wasm }) });
    return describeModel(request, { files: this.runtime_, startEngine: startCpu, signal });
  }
}
