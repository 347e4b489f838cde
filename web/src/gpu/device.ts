import type { GpuReport } from '../engine/load_request.js';
import { describeError, PeruseError } from '../errors.js';

export interface OpenedGpu {
  device: GPUDevice;
  pipelines: PipelineCache;
  report: GpuReport;
}

const kMostBindingBytes = 2 ** 31 - 4; // the engine uses 32-bit offsets
const kLeastSubgroup = 8; // threads; see subgroups.wgsl

/** Opens a device with the adapter's largest bindings, so that large matrices need only one dispatch. Throws 'no_gpu' with the reason. */
export async function openGpu(gpu: GPU | undefined): Promise<OpenedGpu> {
  if (gpu === undefined) throw new PeruseError('no_gpu', 'There is no WebGPU here (browsers have it on secure pages only).');
  try {
    const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter === null) throw new PeruseError('no_gpu', 'WebGPU found no adapter on this machine.');
    const bytes = bindingBytes(adapter.limits);
    // wgslLanguageFeatures is missing in older browsers.
    const language = gpu.wgslLanguageFeatures as WGSLLanguageFeatures | undefined;
    const subgroups = usesSubgroups(adapter, language);
    const device = await adapter.requestDevice({
      requiredFeatures: subgroups ? ['subgroups'] : [],
      requiredLimits: { maxStorageBufferBindingSize: bytes, maxBufferSize: Math.max(bytes, adapter.limits.maxBufferSize) },
    });
    const { vendor, architecture, description } = adapter.info;
    return {
      device,
      pipelines: new PipelineCache(device),
      report: {
        vendor,
        architecture,
        description,
        packedDot: language?.has('packed_4x8_integer_dot_product') === true,
        subgroups,
        maxBindingBytes: bytes,
      },
    };
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('no_gpu', `WebGPU returned no device: ${describeError(error)}`, { cause: error });
  }
}

function usesSubgroups(adapter: GPUAdapter, language: WGSLLanguageFeatures | undefined): boolean {
  const least = adapter.info.subgroupMinSize as number | undefined; // missing in older browsers
  return adapter.features.has('subgroups') && language?.has('subgroup_id') === true && (least ?? 0) >= kLeastSubgroup;
}

function bindingBytes(limits: GPUSupportedLimits): number {
  const most = Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize, kMostBindingBytes);
  return most - (most % 4);
}

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
