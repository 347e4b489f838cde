import type { GpuReport } from '../engine/reports.js';
import { describeError, PeruseError } from '../errors.js';
import { PipelineCache } from './pipelines.js';

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
