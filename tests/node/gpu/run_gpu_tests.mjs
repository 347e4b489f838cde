#!/usr/bin/env node
// Runs peruse_gpu_tests.cjs on a GPUDevice: node run_gpu_tests.mjs <peruse_gpu_tests.cjs> [GoogleTest options]
// The library's own executor replays the commands (web/dist/gpu: build the TypeScript first).
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { GpuExecutor } from '../../../web/dist/gpu/executor.js';
import { PipelineCache } from '../../../web/dist/gpu/pipelines.js';
import { requestAdapter } from './gpu_device.mjs';

const adapter = await requestAdapter();
if (adapter === undefined) throw new Error('no WebGPU adapter: see tests/node/gpu/gpu_device.mjs');
const device = await adapter.requestDevice();
const pipelines = new PipelineCache(device);
const executors = new Map();
let last = 0;

const gpu = {
  create() {
    executors.set(++last, new GpuExecutor(device, pipelines));
    return last;
  },
  dispose(id) {
    executors.get(id).dispose();
    executors.delete(id);
  },
  async replay(id, memory, address, words) {
    try {
      await executors.get(id).replay(memory, { address, words });
      return 0;
    } catch (error) {
      console.error(`${error.code ?? ''} ${error.stack}`);
      return 1;
    }
  },
};

const [program, ...options] = process.argv.slice(2);
const createTests = createRequire(import.meta.url)(resolve(program));
await createTests({
  gpu,
  arguments: options,
  onExit: (code) => {
    console.log(`${pipelines.size} pipelines`);
    process.exit(code);
  },
});
