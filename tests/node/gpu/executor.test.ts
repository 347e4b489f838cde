import { afterEach, describe, expect, test } from 'vitest';
import { openGpu } from '../../../web/src/gpu/device.js';
import { GpuExecutor } from '../../../web/src/gpu/executor.js';
import { requestAdapter } from './gpu_device.mjs';

const kDouble = `
@group(0) @binding(0) var<uniform> count: vec4u;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < count.x) { out[id.x] = 2.0 * x[id.x]; }
}`;

class Heap {
  readonly bytes = new Uint8Array(1 << 16);
  private words_: number[] = [];

  record(opcode: number, ...payload: number[]): this {
    this.words_.push(opcode, payload.length + 2, ...payload);
    return this;
  }
  shader(id: number, text: string): this {
    const bytes = new TextEncoder().encode(text.padEnd(Math.ceil(text.length / 4) * 4));
    return this.record(1, id, bytes.length, ...new Uint32Array(bytes.buffer));
  }
  write(id: number, values: number[]): this {
    return this.record(5, id, 0, values.length * 4, ...new Uint32Array(new Float32Array(values).buffer));
  }
  span() {
    new Uint32Array(this.bytes.buffer, 4096).set(this.words_);
    const span = { address: 4096, words: this.words_.length };
    this.words_ = [];
    return span;
  }
  floats(address: number, count: number): number[] {
    return [...new Float32Array(this.bytes.buffer, address, count)];
  }
}

const devices: GPUDevice[] = [];
afterEach(() => {
  for (const device of devices.splice(0)) device.destroy();
});

async function open(): Promise<{ device: GPUDevice; executor: GpuExecutor; heap: Heap }> {
  const device = await (await requestAdapter())!.requestDevice();
  devices.push(device);
  return { device, executor: new GpuExecutor(device), heap: new Heap() };
}

function doubling(heap: Heap, values: number[]): Heap {
  return heap
    .write(0, values)
    .record(6, 0, 1, 1, 1, 1, values.length, 2, 0, 1)
    .record(7, 1, values.length * 4, 64)
    .record(8);
}

const setUp = (heap: Heap) => heap.shader(0, kDouble).record(2, 0, 0, 0).record(3, 0, 256).record(3, 1, 256);

test('a run computes; a second one makes nothing new', async () => {
  const { executor, heap } = await open();
  await executor.replay(() => heap.bytes, doubling(setUp(heap), [1, 2, 3]).span());
  expect(heap.floats(64, 4)).toEqual([2, 4, 6, 0]);
  const made = { ...executor.counts };
  await executor.replay(() => heap.bytes, doubling(heap, [5, -1, 0.5]).span());
  expect(heap.floats(64, 3)).toEqual([10, -2, 1]);
  expect(executor.counts).toEqual({ ...made, submits: made.submits + 1, dispatches: made.dispatches + 1 });
});

test('a run that was never submitted comes to nothing', async () => {
  const { executor, heap } = await open();
  await executor.replay(() => heap.bytes, setUp(heap).write(0, [1]).record(6, 0, 1, 1, 1, 1, 1, 2, 0, 1).record(7, 1, 4, 64).span());
  expect(heap.floats(64, 1)).toEqual([0]);
  await executor.replay(() => heap.bytes, doubling(heap, [4]).span());
  expect(heap.floats(64, 1)).toEqual([8]);
});

test('disposed of in the middle of a run: it reads and writes the memory no more', async () => {
  const { device, heap } = await open();
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    const createBuffer = device.createBuffer.bind(device);
    device.createBuffer = (descriptor) => {
      const buffer = createBuffer(descriptor);
      buffer.destroy = () => undefined; // otherwise the mapping itself would fail
      buffer.mapAsync = (...all) =>
        new Promise((mapped) => {
          GPUBuffer.prototype.mapAsync.apply(buffer, all).then(
            () => {
              answer = mapped as () => void;
              resolve();
            },
            () => undefined,
          );
        });
      return buffer;
    };
  });
  const executor = new GpuExecutor(device);
  const running = executor.replay(() => heap.bytes, doubling(setUp(heap), [1, 2]).span());
  const refused = expect(running).rejects.toMatchObject({ code: 'aborted' });
  await asked;
  executor.dispose();
  await refused;
  heap.bytes.fill(0xab); // other code uses the memory now
  answer();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(heap.bytes.every((byte) => byte === 0xab)).toBe(true);
});

describe('faults', () => {
  test('a lost device', async () => {
    const { device, executor, heap } = await open();
    await executor.replay(() => heap.bytes, doubling(setUp(heap), [1]).span());
    const running = executor.replay(() => heap.bytes, doubling(heap, [2]).span());
    device.destroy();
    await expect(running).rejects.toMatchObject({ code: 'gpu_lost' });
    await expect(executor.replay(() => heap.bytes, doubling(heap, [3]).span())).rejects.toMatchObject({ code: 'gpu_lost' });
  });

  test('a shader that does not compile', async () => {
    const { executor, heap } = await open();
    const stream = heap.shader(0, 'fn main() { nonsense }').record(2, 0, 0, 0).record(3, 0, 256).record(3, 1, 256);
    await expect(executor.replay(() => heap.bytes, doubling(stream, [1]).span())).rejects.toMatchObject({ code: 'gpu_failed' });
  });

  test('more memory than there is', async () => {
    const { device, heap } = await open();
    // Simulates the driver's report, because filling a real GPU would take the machine's memory.
    class GPUOutOfMemoryError {
      message = '';
    }
    const full = new Proxy(device, {
      get(target, name) {
        if (name === 'popErrorScope')
          return async () => {
            await target.popErrorScope();
            return new GPUOutOfMemoryError();
          };
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value as (...all: unknown[]) => unknown).bind(target) : value;
      },
    });
    const executor = new GpuExecutor(full);
    await expect(executor.replay(() => heap.bytes, setUp(heap).span())).rejects.toMatchObject({ code: 'out_of_memory' });
  });

  test('a stream that makes no sense', async () => {
    for (const words of [
      [99, 2],
      [6, 3, 0],
      [3, 0],
      [8, 77],
    ] as const) {
      const { executor, heap } = await open();
      new Uint32Array(heap.bytes.buffer, 4096).set(words);
      await expect(executor.replay(() => heap.bytes, { address: 4096, words: words.length })).rejects.toMatchObject({ code: 'gpu_failed' });
    }
  });

  test('no WebGPU, no adapter, no device', async () => {
    await expect(openGpu(undefined)).rejects.toMatchObject({ code: 'no_gpu' });
    const none = { requestAdapter: async () => null } as unknown as GPU;
    await expect(openGpu(none)).rejects.toMatchObject({ code: 'no_gpu' });
    const refuses = {
      requestAdapter: async () => ({
        limits: {},
        info: {},
        features: new Set(),
        requestDevice: async () => {
          throw new Error('busy');
        },
      }),
    } as unknown as GPU;
    await expect(openGpu(refuses)).rejects.toMatchObject({ code: 'no_gpu' });
  });
});

// Shaders with subgroups exchange values between eight threads.
test.each([
  ['subgroups of at least eight threads', ['subgroups'], ['subgroup_id'], 8, true],
  ['subgroups of four threads', ['subgroups'], ['subgroup_id'], 4, false],
  ['no subgroups', [], ['subgroup_id'], 32, false],
  ['subgroups without numbers', ['subgroups'], [], 32, false],
  ['a browser that does not report sizes', ['subgroups'], ['subgroup_id'], undefined, false],
])('a device with %s', async (_, features, language, subgroupMinSize, used) => {
  const required: unknown[] = [];
  const adapter = {
    limits: { maxStorageBufferBindingSize: 2 ** 27, maxBufferSize: 2 ** 28 },
    info: { vendor: '', architecture: '', description: '', subgroupMinSize },
    features: new Set(features),
    requestDevice: async ({ requiredFeatures }: GPUDeviceDescriptor) => {
      required.push(...requiredFeatures!);
      return {} as GPUDevice;
    },
  };
  const gpu = { requestAdapter: async () => adapter, wgslLanguageFeatures: new Set(language) } as unknown as GPU;
  expect((await openGpu(gpu)).report.subgroups).toBe(used);
  expect(required).toEqual(used ? ['subgroups'] : []);
});
