// WebGPU in plain Node: Dawn (npm package `webgpu`), on the machine's own adapter or on Chromium's SwiftShader.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** The variables that make Dawn find SwiftShader; {} if set-up did not find it. They must be set when a process starts. */
export function swiftShaderEnvironment() {
  const cache = process.env.PERUSE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'peruse');
  const { chromium } = JSON.parse(readFileSync(join(cache, 'env.json'), 'utf8'));
  const icd = chromium?.swiftshaderIcd;
  if (!icd) return {};
  // Debian's Chromium carries the Vulkan loader too.
  const path = [dirname(icd), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  return { VK_DRIVER_FILES: icd, VK_ICD_FILENAMES: icd, LD_LIBRARY_PATH: path };
}

let gpu; // Dawn's instance: its devices are lost when it is garbage-collected.

export async function requestAdapter() {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  gpu ??= create([]);
  return (await gpu.requestAdapter()) ?? undefined;
}

/** Dawn's null implementation: has every feature, validates everything, computes nothing. */
export async function nullGpu() {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  return create(['backend=null']);
}
