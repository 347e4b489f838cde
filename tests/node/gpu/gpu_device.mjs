// WebGPU in Node through Dawn (npm package `webgpu`), on the machine's adapter or on Chromium's SwiftShader.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Environment variables with which a new process finds SwiftShader; {} if set-up did not find it. */
export function swiftShaderEnvironment() {
  const cache = process.env.PERUSE_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'peruse');
  const { chromium } = JSON.parse(readFileSync(join(cache, 'env.json'), 'utf8'));
  const icd = chromium?.swiftshaderIcd;
  if (!icd) return {};
  const path = [dirname(icd), process.env.LD_LIBRARY_PATH].filter(Boolean).join(':');
  return { VK_DRIVER_FILES: icd, VK_ICD_FILENAMES: icd, LD_LIBRARY_PATH: path };
}

let gpu; // devices are lost if Dawn's instance is garbage-collected

export async function requestAdapter() {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  gpu ??= create([]);
  return (await gpu.requestAdapter()) ?? undefined;
}
