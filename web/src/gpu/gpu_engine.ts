// The engine on a GPU. Its calls only record; this class replays what they recorded, so they wait.
// Loaded only when a caller asks for device 'webgpu' or 'auto'.
import { Engine, type EngineModule, type OpenRequest, type Session, type WeightReport } from '../engine/engine.js';
import type { DeviceChoice } from '../engine/reports.js';
import type { OpenedGpu } from './device.js';
import { GpuExecutor } from './executor.js';

/** What the session has in modules that know the GPU (bindings/session_binding.cc). */
interface GpuSession extends Session {
  beginStep(): string;
  endStep(): string;
  commandAddress(): number;
  commandWords(): number;
  replayed(): void;
}

export class GpuEngine extends Engine {
  private readonly executor_: GpuExecutor;

  /** The device stays the caller's; dispose() leaves it open. */
  constructor(module: EngineModule, gpu: OpenedGpu, lastWords: () => string, deviceChoice: DeviceChoice) {
    super(module, 1, lastWords, gpu.report, deviceChoice);
    this.executor_ = new GpuExecutor(gpu.device, gpu.pipelines);
  }

  override async open(request: OpenRequest): Promise<void> {
    await super.open(request);
    await this.replay(); // Shaders begin to compile while the weights arrive.
  }

  override async feedWeights(chunk: Uint8Array): Promise<void> {
    await super.feedWeights(chunk);
    await this.replay();
  }

  override async finishWeights(): Promise<WeightReport> {
    const report = await super.finishWeights();
    await this.replay();
    return report;
  }

  override async probe(layers: number, dtype: string): Promise<number> {
    const ran = await super.probe(layers, dtype);
    await this.replay();
    return ran;
  }

  override async step(): Promise<boolean> {
    let begun: boolean;
    try {
      begun = this.call(() => this.session.beginStep()).begun === true;
    } catch (error) {
      await this.replay(); // A refused call may have made buffers that later ones count on.
      throw error;
    }
    if (!begun) return false;
    await this.replay();
    return this.call(() => this.session.endStep()).more === true;
  }

  override healthy(): boolean {
    return super.healthy() && this.executor_.failure === undefined;
  }

  override release(): boolean {
    this.executor_.dispose(); // First: what it still does reads and writes the session's memory.
    return super.release();
  }

  private get session(): GpuSession {
    return this.session_ as GpuSession;
  }

  private async replay(): Promise<void> {
    const words = this.guard(() => this.session.commandWords());
    const address = this.guard(() => this.session.commandAddress()) >>> 0;
    await this.executor_.replay(() => this.module_.HEAPU8, { address, words });
    this.guard(() => this.session.replayed());
  }
}

/** An engine that is the only one on its device. */
export class OwningGpuEngine extends GpuEngine {
  constructor(
    module: EngineModule,
    private readonly gpu_: OpenedGpu,
    lastWords: () => string,
    deviceChoice: DeviceChoice,
  ) {
    super(module, gpu_, lastWords, deviceChoice);
  }

  override dispose(): void {
    try {
      super.dispose();
    } finally {
      this.gpu_.device.destroy();
    }
  }
}
