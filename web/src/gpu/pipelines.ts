// A device's compute pipelines. Each is compiled once, at its first request.
import { PeruseError } from '../errors.js';

export class PipelineCache {
  private readonly modules_ = new Map<string, GPUShaderModule>();
  private readonly pipelines_ = new Map<string, Promise<GPUComputePipeline>>();

  constructor(private readonly device_: GPUDevice) {}

  /** Returns the pipeline of the WGSL's function `main`. Rejects if the driver does. */
  get(wgsl: string, constants: Record<string, number>): Promise<GPUComputePipeline> {
    const key = JSON.stringify(constants) + wgsl;
    const known = this.pipelines_.get(key);
    if (known !== undefined) return known;
    const pipeline = this.device_.createComputePipelineAsync({
      layout: 'auto',
      compute: { module: this.module(wgsl), entryPoint: 'main', constants },
    });
    pipeline.catch(() => undefined); // callers handle the error
    this.pipelines_.set(key, pipeline);
    return pipeline;
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.pipelines_.values());
  }

  get size(): number {
    return this.pipelines_.size;
  }

  private module(wgsl: string): GPUShaderModule {
    let module = this.modules_.get(wgsl);
    if (module === undefined) {
      module = this.device_.createShaderModule({ code: wgsl });
      this.modules_.set(wgsl, module);
    }
    return module;
  }
}

export function gpuFailure(error: GPUError, held?: number): PeruseError {
  // GPUOutOfMemoryError is not a global in Node.
  if (error.constructor.name === 'GPUOutOfMemoryError') {
    const size = held === undefined ? '' : ` for the ${Math.round(held / 2 ** 20)} MiB that the model requested`;
    return new PeruseError('out_of_memory', `The GPU has too little memory${size}.`, { cause: error });
  }
  return new PeruseError('gpu_failed', `The GPU's driver rejected a shader or a command: ${error.message}`, { cause: error });
}
