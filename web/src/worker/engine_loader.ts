import { type LoadContext, type Loaded, loadModel } from '../engine/load.js';
import type { LoadRequest } from '../engine/load_request.js';
import type { DeviceChoice } from '../engine/reports.js';
import { describeError, PeruseError, throwIfAborted } from '../errors.js';
import type { ProgressCallback } from '../progress.js';
import type { EngineGroup } from './engine_group.js';
import type { Runtime } from './runtime.js';
import { startOnDevice } from './start_on_device.js';
import { Starting } from './starting.js';

/** Loads models for a host, into an engine of the group or into a new one. */
export class EngineLoader {
  private readonly starting_ = new Starting();

  constructor(
    private readonly report_: ProgressCallback,
    private readonly runtime_: Runtime,
    private readonly group_: EngineGroup,
    private readonly signal_: AbortSignal,
  ) {}

  /** Resolves when engines that were still starting at the signal have ended. */
  ended(): Promise<void> {
    return this.starting_.ended();
  }

  /** If `device: 'auto'` chose a GPU that cannot take the model, loads it on the CPU. */
  async load(request: LoadRequest): Promise<Loaded> {
    let chosen: DeviceChoice | undefined;
    try {
      return await this.loadOnce(request, (deviceChoice) => {
        chosen = deviceChoice;
      });
    } catch (error) {
      if (request.device !== 'auto' || chosen?.device !== 'webgpu' || !isGpuFailure(error)) throw error;
      // loaded separately, because another task's engine is on the GPU
      const loaded = await this.loadOnce({ ...request, device: 'cpu', share: false });
      const reason = `the CPU, because the GPU could not take the model: ${describeError(error)}`;
      return { ...loaded, report: { ...loaded.report, deviceChoice: { ...loaded.report.deviceChoice, reason } } };
    }
  }

  private async loadOnce(request: LoadRequest, onDeviceChosen: (deviceChoice: DeviceChoice) => void = () => {}): Promise<Loaded> {
    const start = this.runtime_.startEngine ?? ((engineRequest) => startOnDevice(engineRequest, this.runtime_));
    const load = (findLoaded: LoadContext['findLoaded']) => {
      throwIfAborted(this.signal_);
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
        signal: this.signal_,
      });
    };
    return request.share ? this.group_.load(load) : load(undefined);
  }
}

/** Whether a load may have failed because of the GPU, not of the model or the request. */
function isGpuFailure(error: unknown): boolean {
  return error instanceof PeruseError && ['gpu_lost', 'gpu_failed', 'out_of_memory', 'unsupported'].includes(error.code);
}
