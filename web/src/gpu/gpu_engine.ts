// The engine's build that computes on a GPU. Its calls only record; this class replays what they recorded, so they wait.
// Loaded only when a caller asks for device 'webgpu'.
import { Engine, type EngineModule, type Session, type WeightReport } from '../engine.js';
import { describe, PeruseError } from '../errors.js';
import { GpuExecutor } from './executor.js';

/** What the session of the GPU's build has beside the others' (bindings/session_binding.cc). */
interface GpuSession extends Session {
  beginStep(): string;
  endStep(): string;
  commandAddress(): number;
  commandWords(): number;
  replayed(): void;
}

/** Opens a device with WebGPU's default limits. Throws 'no_gpu' with the reason. */
export async function openGpuDevice(gpu: GPU | undefined): Promise<GPUDevice> {
  if (gpu === undefined) throw new PeruseError('no_gpu', 'There is no WebGPU here (browsers have it on secure pages only).');
  try {
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter === null) throw new PeruseError('no_gpu', 'WebGPU found no adapter on this machine.');
    return await adapter.requestDevice();
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('no_gpu', `WebGPU gave no device: ${describe(error)}`, { cause: error });
  }
}

export class GpuEngine extends Engine {
  private readonly executor_: GpuExecutor;

  /** The device becomes the engine's own. */
  constructor(module: EngineModule, private readonly device_: GPUDevice, lastWords: () => string) {
    super(module, 1, lastWords);
    this.executor_ = new GpuExecutor(device_);
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

  override async step(): Promise<boolean> {
    let begun: boolean;
    try {
      begun = this.call(() => this.session.beginStep()).begun === true;
    } catch (error) {
      await this.replay();  // A refused call may have made buffers that later ones count on.
      throw error;
    }
    if (!begun) return false;
    await this.replay();
    return this.call(() => this.session.endStep()).more === true;
  }

  override dispose(): void {
    try {
      super.dispose();
    } finally {
      this.executor_.dispose();
      this.device_.destroy();
    }
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
