// WebGPU in Node: the npm package `webgpu` (Dawn), which the caller installs.
import { describeError, PeruseError } from '../errors.js';

interface DawnPackage {
  create(flags: string[]): GPU;
  globals: { GPUDevice: { prototype: GPUDevice } } & Record<string, unknown>;
}

let gpu: GPU | undefined; // kept, because devices become invalid when Dawn's instance is garbage-collected

export function hasGpu(): boolean {
  return gpu !== undefined;
}

export async function findGpuInNode(): Promise<GPU | undefined> {
  if (gpu !== undefined) return gpu;
  const name: string = 'webgpu'; // not a literal, so that bundlers do not follow the import
  let dawn: DawnPackage;
  try {
    dawn = (await import(/* @vite-ignore */ /* webpackIgnore: true */ name)) as DawnPackage;
  } catch (error) {
    throw new PeruseError('no_gpu', `WebGPU in Node needs the npm package 'webgpu': ${describeError(error)}`, { cause: error });
  }
  followCompilations(dawn.globals.GPUDevice.prototype);
  gpu = dawn.create([]);
  return gpu;
}

const kCompiling = new Set<Promise<unknown>>();
let hear: (compiling: boolean) => void = () => {};

/**
 * Calls `listener` when this thread's GPU begins to compile pipelines, and when it has compiled all. Dawn ends the process with "Promise not
 * resolved or rejected" if the thread ends before, also if the pipelines are unused.
 */
export function onCompiling(listener: (compiling: boolean) => void): void {
  hear = listener;
}

/** Resolves when this thread's GPU compiles no pipeline. */
export async function compiled(): Promise<void> {
  while (kCompiling.size > 0) await Promise.allSettled(kCompiling);
}

function followCompilations(device: GPUDevice): void {
  const own = device.createComputePipelineAsync;
  device.createComputePipelineAsync = function (this: GPUDevice, descriptor) {
    const pipeline = own.call(this, descriptor);
    if (kCompiling.size === 0) hear(true);
    kCompiling.add(pipeline);
    const settle = () => {
      kCompiling.delete(pipeline);
      if (kCompiling.size === 0) hear(false);
    };
    pipeline.then(settle, settle);
    return pipeline;
  };
}
