// The device that 'auto' chooses, with its reason; lost GPUs; GPU objects created by a warm call.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LoadRequest } from '../../../web/dist/engine/load_request.js';
import type { LoadReport } from '../../../web/dist/engine/models/load.js';
import { resolveSource } from '../../../web/dist/sources/source.js';
import { LocalHost } from '../../../web/dist/worker/local_host.js';
import type { EngineRuntime } from '../../../web/dist/worker/runtime.js';
import { nodeEngines } from '../../../web/dist/worker/runtime_node.js';
import { tinyText } from '../support/tiny.js';
import { readTiny } from '../support/tiny_files.js';
import { type WatchedGpu, watchGpu } from './watched_gpu.js';

const kOpen: LocalHost[] = [];
afterEach(() => {
  for (const host of kOpen.splice(0)) host.dispose();
});

async function load(
  wish: Partial<LoadRequest>,
  runtime: Partial<EngineRuntime>,
  name = 'convbert-sequence',
): Promise<{ host: LocalHost; report: LoadReport }> {
  const { files } = await readTiny(name);
  const host = new LocalHost(() => {}, { ...nodeEngines, ...runtime });
  kOpen.push(host);
  const report = await host.call('load', {
    task: { name: 'text-classification' },
    dtype: 'auto',
    source: await resolveSource(files, {}, { baseUrl: () => undefined, findFolder: async () => undefined }),
    choice: { variant: 'simd', threads: 1, reason: '' },
    device: 'webgpu',
    probes: {},
    ...wish,
  });
  return { host, report };
}

const remembered = (gpuMilliseconds: number, cpuMilliseconds: number) =>
  new Proxy({}, { get: () => ({ gpuMilliseconds, cpuMilliseconds }) }) as LoadRequest['probes'];

const kNever = new Promise<never>(() => {});

/** Replaces reading back results, so that the test determines the nth one. */
function readingBack(gpu: WatchedGpu, instead: (own: () => Promise<void>, nth: number) => Promise<void>): void {
  let reads = 0;
  gpu.tamper.set('createBuffer', (own) => (...all) => {
    const buffer = own(...all) as GPUBuffer;
    const mapAsync = buffer.mapAsync.bind(buffer);
    buffer.mapAsync = (...args) => instead(() => mapAsync(...args), ++reads) as ReturnType<typeof mapAsync>;
    return buffer;
  });
}

const text = (tokens: number) => tinyText(Array.from({ length: tokens }, (_, i) => (i * 7) % 40));
const run = (host: LocalHost, ...texts: string[]) =>
  host.call('run', { inputs: texts.map((one) => ({ text: one })), options: { top_k: null } });

describe('device auto', () => {
  test('without an adapter: the CPU, and why', async () => {
    const { report, host } = await load({ device: 'auto' }, { findGpu: async () => undefined });
    expect(report).toMatchObject({ dtype: 'f32', deviceChoice: { device: 'cpu' } });
    expect(report.deviceChoice.reason).toMatch(/^the CPU, because the GPU can't be used: There is no WebGPU here/);
    expect(await run(host, text(3))).toHaveLength(1);
  });

  test('takes what the probe finds faster', async () => {
    const { report } = await load({ device: 'auto' }, watchGpu());
    const { probe, device, reason } = report.deviceChoice;
    expect(probe!.gpuMilliseconds).toBeGreaterThan(0);
    expect(probe!.cpuMilliseconds).toBeGreaterThan(0);
    expect(device).toBe(probe!.gaveUp === undefined && probe!.gpuMilliseconds < probe!.cpuMilliseconds ? 'webgpu' : 'cpu');
    // On a busy machine, the probe may give up on a software adapter.
    const end = {
      none: '[\\d.]+ ms',
      slower: 'more than [\\d.]+ ms',
      unfinished: "could not run one within 3 s, its shaders' compilation included",
    };
    expect(reason).toMatch(
      new RegExp(
        `^the (CPU|GPU), because a short text takes it [\\d.]+ ms and the (GPU|CPU) ${end[probe!.gaveUp ?? 'none']} \\(probe\\)\\.$`,
      ),
    );
  });

  // The abandoned load is still using the GPU session's memory when the CPU starts.
  describe('gives a GPU up', () => {
    let unhandled: unknown[];
    const note = (error: unknown) => {
      unhandled.push(error);
    };
    beforeEach(() => {
      unhandled = [];
      process.on('unhandledRejection', note);
    });
    afterEach(() => {
      process.off('unhandledRejection', note);
    });

    async function expectCpu(gpu: WatchedGpu, reason: RegExp, end: () => void): Promise<void> {
      const { report, host } = await load({ device: 'auto' }, gpu);
      expect(report).toMatchObject({ dtype: 'f32', deviceChoice: { device: 'cpu', reason: expect.stringMatching(reason) } });
      const answers = async () => [await run(host, text(3)), await run(host, text(7), text(11))];
      const before = await answers();
      end();
      await gpu.devices[0]!.lost; // resolves when the device is destroyed
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(await answers()).toEqual(before);
      const { host: other } = await load({ device: 'cpu' }, {});
      expect(await run(other, text(3))).toEqual(before[0]);
      expect(unhandled).toEqual([]);
    }

    test('whose shaders do not compile in time', async () => {
      const gpu = watchGpu();
      const late: (() => void)[] = [];
      gpu.tamper.set(
        'createComputePipelineAsync',
        () => () =>
          new Promise((resolve) => {
            late.push(() => {
              resolve({});
            });
          }),
      );
      await expectCpu(gpu, /could not run one within 3 s, its shaders' compilation included/, () => {
        for (const one of late) one();
      });
    });

    test('that never answers', async () => {
      const gpu = watchGpu();
      readingBack(gpu, () => kNever);
      await expectCpu(gpu, /could not run one within 3 s/, () => {});
    });

    test('whose answer comes too late', async () => {
      const gpu = watchGpu();
      const late: (() => void)[] = [];
      readingBack(gpu, (own, nth) =>
        nth === 1
          ? own()
          : new Promise((resolve) => {
              late.push(resolve);
            }),
      );
      // On a busy machine, shaders may not compile in time.
      const reason =
        /^the CPU, because a short text takes it [\d.]+ ms and the GPU (more than [\d.]+ ms|could not run one within 3 s.*) \(probe\)\.$/;
      await expectCpu(gpu, reason, () => {
        for (const one of late) one();
      });
    });

    test('that gives no device', async () => {
      const gpu = { requestAdapter: () => kNever } as unknown as GPU;
      const { report, host } = await load({ device: 'auto' }, { findGpu: async () => gpu });
      expect(report.deviceChoice).toMatchObject({ device: 'cpu', reason: expect.stringMatching(/no device within 2 s/) });
      expect(await run(host, text(3))).toHaveLength(1);
      expect(unhandled).toEqual([]);
    });

    test('and remembers it', async () => {
      const gpu = watchGpu();
      const probes = { 'of another size': { gpuMilliseconds: 3000, cpuMilliseconds: 5000, gaveUp: 'unfinished' } } as const;
      const { report } = await load({ device: 'auto', probes }, gpu);
      expect(report.deviceChoice).toMatchObject({
        device: 'cpu',
        reason: expect.stringMatching(/^the CPU, because the GPU could not run a short text within 3 s/),
      });
      expect(gpu.devices).toEqual([]);
    });
  });

  test.each([
    [1, 'webgpu', 'f16'],
    [3, 'cpu', 'f32'],
  ] as const)('goes by an earlier probe of the session: %s ms to 2', async (gpuMilliseconds, device, dtype) => {
    const gpu = watchGpu();
    const { report, host } = await load({ device: 'auto', probes: remembered(gpuMilliseconds, 2) }, gpu);
    expect(report).toMatchObject({ dtype, deviceChoice: { device, probe: { gpuMilliseconds, cpuMilliseconds: 2 } } });
    expect(await run(host, text(3))).toHaveLength(1);
    expect(gpu.calls.get('createCommandEncoder') ?? 0).toBe(device === 'webgpu' ? 1 : 0); // no probe ran
  });

  test('a GPU that fails its probe means the CPU', async () => {
    const gpu = watchGpu();
    gpu.tamper.set('createComputePipelineAsync', () => async () => {
      throw new Error('the driver is old');
    });
    const { report } = await load({ device: 'auto' }, gpu);
    expect(report.deviceChoice).toMatchObject({ device: 'cpu', reason: expect.stringMatching(/failed its probe.*the driver is old/) });
  });

  test('a GPU that can not hold the model means the CPU', async () => {
    const gpu = watchGpu();
    class GPUOutOfMemoryError {
      message = '';
    }
    gpu.tamper.set('popErrorScope', (own) => async () => {
      await own();
      return new GPUOutOfMemoryError();
    });
    gpu.tamper.set('createComputePipelineAsync', () => () => new Promise(() => {}));
    const { report, host } = await load({ device: 'auto', probes: remembered(1, 2) }, gpu);
    expect(report.deviceChoice).toMatchObject({ device: 'cpu', reason: expect.stringMatching(/could not take the model.*memory/) });
    expect(await run(host, text(3))).toHaveLength(1);
  });

  test('dtype q8 is probed like any other', async () => {
    const { report, host } = await load({ device: 'auto', dtype: 'q8', probes: remembered(1, 2) }, watchGpu());
    expect(report).toMatchObject({ dtype: 'q8', deviceChoice: { device: 'webgpu' } });
    expect(await run(host, text(3))).toHaveLength(1);
  });
});

describe('a lost device', () => {
  const lose = async (device: GPUDevice) => {
    device.destroy();
    await device.lost;
  };

  test('the next call recovers, as soon as there is a GPU again', async () => {
    const gpu = watchGpu();
    let there = true;
    const { host } = await load({}, { findGpu: async () => (there ? gpu.findGpu() : undefined) });
    const before = await run(host, text(5));
    await lose(gpu.devices[0]!);
    there = false;
    await expect(run(host, text(5))).rejects.toMatchObject({ code: 'no_gpu' });
    await expect(run(host, text(5))).rejects.toMatchObject({ code: 'no_gpu' });
    there = true;
    expect(await run(host, text(5))).toEqual(before);
    expect(await run(host, text(5))).toEqual(before);
    expect(gpu.devices).toHaveLength(2);

    const running = run(host, ...Array.from({ length: 40 }, () => text(20)));
    const refused = expect(running).rejects.toMatchObject({ code: 'gpu_lost' });
    gpu.devices[1]!.destroy();
    await refused;
    expect(await run(host, text(5))).toEqual(before);
    expect(gpu.devices).toHaveLength(3);
  });
});

test.each(['convbert-sequence', 'deberta-v2-sequence'])(
  '%s: pipelines compile while weights arrive; a warm call makes nothing and submits once',
  async (name) => {
    const gpu = watchGpu();
    const calls = (...methods: string[]) => methods.map((method) => gpu.calls.get(method) ?? 0);
    const kMaking = ['createBuffer', 'createBindGroup', 'createShaderModule', 'createComputePipelineAsync'];
    let pipelines = 0; // requested before the first weights arrived
    gpu.tamper.set('createBuffer', (own) => (...all) => {
      pipelines ||= calls('createComputePipelineAsync')[0]!;
      return own(...all);
    });
    const { host } = await load({}, gpu, name);
    expect(pipelines).toBeGreaterThan(5);
    await run(host, text(20));
    const made = calls(...kMaking);
    const encoders = calls('createCommandEncoder')[0]!;
    for (const tokens of [20, 24, 30, 20]) await run(host, text(tokens)); // all of one bucket
    expect(calls(...kMaking)).toEqual(made);
    expect(calls('createCommandEncoder')[0]! - encoders).toBe(4);
    await run(host, ...Array.from({ length: 12 }, () => text(20)));
    expect(calls('createComputePipelineAsync')[0]).toBe(pipelines);
  },
);
