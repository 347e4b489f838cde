// A GPU whose devices a test can observe, lose, or tamper with.
import { requestAdapter } from './gpu_device.mjs';

type Method = (...all: unknown[]) => unknown;

export interface WatchedGpu {
  findGpu: () => Promise<GPU>;
  devices: GPUDevice[];
  calls: Map<string, number>;
  tamper: Map<string, (own: Method) => Method>;
  /** Resolves when the devices compile no pipeline. Dawn ends the process if it ends before. */
  compiled(): Promise<void>;
}

export function watchGpu(findAdapter: () => Promise<GPUAdapter | undefined> = requestAdapter): WatchedGpu {
  const compiling: Promise<unknown>[] = [];
  const watched: WatchedGpu = {
    devices: [],
    calls: new Map(),
    tamper: new Map(),
    findGpu: async () => gpu,
    compiled: async () => void (await Promise.allSettled(compiling)),
  };
  const gpu = {
    requestAdapter: async () => {
      const adapter = (await findAdapter())!;
      return {
        limits: adapter.limits,
        info: adapter.info,
        features: adapter.features,
        requestDevice: async (wish: GPUDeviceDescriptor) => {
          const device = await adapter.requestDevice(wish);
          watched.devices.push(device);
          return watch(device, watched, compiling);
        },
      };
    },
  } as unknown as GPU;
  return watched;
}

function watch(device: GPUDevice, { calls, tamper }: WatchedGpu, compiling: Promise<unknown>[]): GPUDevice {
  return new Proxy(device, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || typeof name !== 'string') return value;
      const bound = (value as Method).bind(target);
      const own = (...all: unknown[]) => {
        const result = bound(...all);
        if (name === 'createComputePipelineAsync') compiling.push(result as Promise<unknown>);
        return result;
      };
      const method = tamper.get(name)?.(own) ?? own;
      return (...all: unknown[]) => {
        calls.set(name, (calls.get(name) ?? 0) + 1);
        return method(...all);
      };
    },
  });
}
