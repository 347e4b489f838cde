// Drivers that do not answer, or throw. No GPU is needed.
import { afterEach, expect, test, vi } from 'vitest';
import { startWithGpu } from '../../web/src/gpu/choose_device.js';
import { GpuExecutor } from '../../web/src/gpu/executor.js';
import { patience } from '../../web/src/patience.js';

const { gpu } = patience;
afterEach(() => {
  patience.gpu = gpu;
});

const kRequest = {
  choice: { variant: 'simd' as const, threads: 1, reason: '' },
  dtype: 'auto' as const,
  config: Promise.resolve(new Uint8Array()),
  builds: { compile: () => Promise.reject(new Error('not needed')) },
};

const limits = { maxStorageBufferBindingSize: 1 << 27, maxBufferSize: 1 << 28 };

test.each(['requestAdapter', 'requestDevice'])(
  'a %s() that never answers ends the load with no_gpu; a late device is destroyed',
  async (silent) => {
    patience.gpu = 50;
    const destroy = vi.fn();
    let answer: (device: unknown) => void = () => {};
    const device = new Promise((resolve) => {
      answer = resolve;
    });
    const info = { vendor: '', architecture: '', description: '' };
    const adapter = { limits, info, features: new Set(), requestDevice: () => device };
    const found = { requestAdapter: () => (silent === 'requestAdapter' ? new Promise(() => {}) : Promise.resolve(adapter)) };
    const starting = startWithGpu({ ...kRequest, device: 'webgpu' }, async () => found as unknown as GPU);
    await expect(starting).rejects.toMatchObject({ code: 'no_gpu', message: expect.stringContaining('within 0.05 s') });
    answer({ destroy });
    if (silent === 'requestDevice') await vi.waitFor(() => expect(destroy).toHaveBeenCalled());
  },
);

test('a createBuffer() that throws is out_of_memory', async () => {
  const device = {
    lost: new Promise(() => {}),
    pushErrorScope: () => {},
    popErrorScope: async () => null,
    createBuffer: () => {
      throw new RangeError('createBuffer failed, size is too large');
    },
  };
  const executor = new GpuExecutor(device as unknown as GPUDevice);
  const words = new Uint32Array([3, 4, 1, 1 << 20]);
  const replay = executor.replay(() => new Uint8Array(words.buffer), { address: 0, words: words.length });
  await expect(replay).rejects.toMatchObject({ code: 'out_of_memory', message: expect.stringContaining('1048576 bytes') });
  expect(executor.failure?.code).toBe('out_of_memory');
});
