#!/usr/bin/env node
// Runs GoogleTest programs on a GPUDevice: node run_gpu_tests.mjs <peruse_gpu_tests.mjs> [GoogleTest options]
// Requires the compiled TypeScript, whose executor replays the commands.
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PipelineCache } from '../../../web/dist/gpu/device.js';
import { GpuExecutor } from '../../../web/dist/gpu/executor.js';
import { executorsFor } from './executors.mjs';
import { requestAdapter } from './gpu_device.mjs';
import { watchShaders } from './shader_names.mjs';

const adapter = await requestAdapter();
if (adapter === undefined) throw new Error('no WebGPU adapter: see tests/node/gpu/gpu_device.mjs');
const { vendor, architecture, description } = adapter.info;
console.log(`on ${[vendor, architecture, description].filter(Boolean).join(', ')}`);
const device = await adapter.requestDevice({ requiredFeatures: adapter.features.has('subgroups') ? ['subgroups'] : [] });
const compiled = watchShaders(device);
const pipelines = new PipelineCache(device);

const [program, ...options] = process.argv.slice(2);
const { default: createTests } = await import(pathToFileURL(resolve(program)));
await createTests({
  gpu: executorsFor(device, pipelines, { GpuExecutor }),
  preRun: ({ FS }) => {
    FS.mkdir('/fixtures');
    FS.mount(FS.filesystems.NODEFS, { root: fileURLToPath(new URL('../../fixtures', import.meta.url)) }, '/fixtures');
  },
  arguments: options,
  finished: (code) => {
    console.log(`${pipelines.size} pipelines of the shaders ${[...compiled].sort().join(', ')}`);
    process.exit(code);
  },
});
