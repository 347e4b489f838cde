import type { Engine } from '../engine/engine.js';
import type { LoadReport } from '../engine/load.js';
import type { LoadRequest } from '../engine/load_request.js';
import { PeruseError, throwIfAborted } from '../errors.js';
import type { EngineGroup } from './engine_group.js';
import type { EngineLoader } from './engine_loader.js';

/** The engine of a host, from its load to its end. A new engine replaces one whose GPU was lost. */
export class LoadedEngine {
  private engine_: Engine | undefined;
  private weightBytes_ = 0;
  private recovery_: LoadRequest | undefined; // the request that loads the model again if a GPU is lost

  constructor(
    private readonly loader_: EngineLoader,
    private readonly group_: EngineGroup,
    private readonly signal_: AbortSignal,
    /** Called before an engine is freed. */
    private readonly onEnd_: (isHealthy: boolean) => void,
  ) {}

  get(): Engine {
    throwIfAborted(this.signal_);
    if (!this.engine_) throw new PeruseError('internal', 'No model is loaded yet.');
    return this.engine_;
  }

  memory(): { heapBytes: number; weightBytes: number } {
    return { heapBytes: this.get().heapBytes(), weightBytes: this.weightBytes_ };
  }

  async load(request: LoadRequest): Promise<LoadReport> {
    const report = await this.use(request);
    if (report.deviceChoice.device === 'webgpu' && request.onDeviceLost === 'recover') {
      this.recovery_ = { ...request, device: 'webgpu', dtype: report.dtype };
    }
    return report;
  }

  /** Returns the engine for a call. Loads the model again if the GPU was lost or has failed, unless the caller chose 'refuse'. */
  async forCall(callSignal: AbortSignal | undefined): Promise<Engine> {
    throwIfAborted(callSignal);
    const engine = this.get();
    if (this.recovery_ !== undefined && !engine.healthy()) {
      this.end(engine); // stays here until the load has worked, so that the next call tries again
      await this.use(this.recovery_);
    }
    throwIfAborted(callSignal);
    return this.get();
  }

  release(): void {
    const engine = this.engine_;
    this.engine_ = undefined;
    if (engine) this.end(engine);
  }

  private end(engine: Engine): void {
    this.group_.remove(engine);
    this.onEnd_(engine.healthy());
    engine.dispose();
  }

  private async use(request: LoadRequest): Promise<LoadReport> {
    const { engine, report } = await this.loader_.load(request);
    this.engine_ = engine;
    if (this.signal_.aborted) this.release();
    throwIfAborted(this.signal_);
    this.weightBytes_ = report.weights.weightBytes;
    return report;
  }
}
