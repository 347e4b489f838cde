// The engine on a GPU. The module only records commands; this class replays them, so its calls are asynchronous.

import { Engine, type EngineModule, type OpenRequest, type Session, type WeightReport } from '../engine/engine.js';
import type { DeviceChoice } from '../engine/load_request.js';
import { PeruseError } from '../errors.js';
import type { OpenedGpu } from './device.js';
import { GpuExecutor } from './executor.js';

interface GpuSession extends Session {
  beginStep(): string;
  endStep(): string;
  commandAddress(): number;
  commandWords(): number;
  replayed(): void;
}

/** State that engines of one module share. They record into one stream, so they must record and replay in turns. */
interface Replaying {
  executor: GpuExecutor;
  last: Promise<unknown>;
}

export class GpuEngine extends Engine {
  private readonly replaying_: Replaying;
  private left_ = false;

  /** The caller owns the device. `other` is an engine whose module and weights are shared. */
  constructor(
    module: EngineModule,
    protected readonly gpu_: OpenedGpu,
    lastWords: () => string,
    deviceChoice: DeviceChoice,
    other?: GpuEngine,
  ) {
    super(module, 1, lastWords, gpu_.report, deviceChoice, other);
    this.replaying_ = other?.replaying_ ?? { executor: new GpuExecutor(gpu_.device, gpu_.pipelines), last: Promise.resolve() };
  }

  override fork(): GpuEngine {
    return new GpuEngine(this.module_, this.gpu_, this.lastWords_, this.deviceChoice, this);
  }

  override open(request: OpenRequest): Promise<void> {
    return this.inTurn(async () => {
      await super.open(request);
      await this.replay(); // compiles shaders while weights arrive
    });
  }

  override feedWeights(chunk: Uint8Array): Promise<void> {
    return this.inTurn(async () => {
      await super.feedWeights(chunk);
      await this.replay();
    });
  }

  override finishWeights(): Promise<WeightReport> {
    return this.inTurn(async () => {
      const report = await super.finishWeights();
      await this.replay();
      return report;
    });
  }

  override probe(layers: number, dtype: string): Promise<number> {
    return this.inTurn(async () => {
      const ran = await super.probe(layers, dtype);
      await this.replay();
      return ran;
    });
  }

  override step(): Promise<boolean> {
    return this.inTurn(() => this.recordAndReplay());
  }

  override healthy(): boolean {
    return super.healthy() && this.replaying_.executor.failure === undefined;
  }

  /** Frees the session. The module's last engine stops GPU work immediately. Others wait, because the work may belong to another engine. */
  override release(): boolean {
    this.left_ = true;
    if (this.isLast()) {
      this.replaying_.executor.dispose(); // must come first, because running commands use the session's memory
      return super.release();
    }
    return this.leave(() => {
      const { replaying_: replaying, session } = this;
      // Deleting a session records commands that free its buffers. The next call of another engine replays them, and reports a broken
      // module.
      replaying.last = replaying.last.then(() => session.delete()).catch(() => undefined);
    });
  }

  private get session(): GpuSession {
    return this.session_ as GpuSession;
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.replaying_.last.then(() => {
      this.stay();
      return work();
    });
    this.replaying_.last = turn.catch(() => undefined);
    return turn;
  }

  private async recordAndReplay(): Promise<boolean> {
    let begun: boolean;
    try {
      begun = this.call(() => this.session.beginStep()).begun === true;
    } catch (error) {
      await this.replay(); // even a rejected call may have recorded the creation of buffers that later calls use
      throw error;
    }
    if (!begun) return false;
    await this.replay();
    return this.call(() => this.session.endStep()).more === true;
  }

  private async replay(): Promise<void> {
    const { session } = this;
    const words = this.guard(() => session.commandWords());
    const address = this.guard(() => session.commandAddress()) >>> 0;
    await this.replaying_.executor.replay(() => this.module_.HEAPU8, { address, words });
    session.replayed();
    this.stay();
  }

  /** Throws if the pipeline was disposed of. Must be called after every await. */
  private stay(): void {
    if (this.left_) throw new PeruseError('aborted', 'The pipeline was disposed of.');
  }
}

export class OwningGpuEngine extends GpuEngine {
  override fork(): OwningGpuEngine {
    return new OwningGpuEngine(this.module_, this.gpu_, this.lastWords_, this.deviceChoice, this);
  }

  override dispose(): void {
    let last = true;
    try {
      last = this.release();
    } finally {
      if (last) this.gpu_.device.destroy();
    }
  }
}
