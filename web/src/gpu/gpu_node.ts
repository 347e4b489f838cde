// WebGPU in Node: the npm package `webgpu` (Dawn), which the caller installs.
import { describeError, PeruseError } from '../errors.js';

interface DawnPackage {
  create(flags: string[]): GPU;
  globals: Record<string, unknown>;
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
  gpu = dawn.create([]);
  return gpu;
}
