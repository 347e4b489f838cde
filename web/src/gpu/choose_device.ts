// Chooses between CPU and GPU, for `auto` by a timed probe, and starts the engine there.
import createGpu from '../../wasm/glue-webgpu.mjs';
import { type EngineRequest, type StartedBuild, startBuild, startCpuBuild, startCpuEngine } from '../engine/cpu_engine.js';
import { Engine, type EngineModule } from '../engine/engine.js';
import type { DeviceChoice, ProbeReport } from '../engine/load_request.js';
import { describeError, PeruseError } from '../errors.js';
import { patience, resultWithin } from '../patience.js';
import { parseObject } from '../sources/json.js';
import { type OpenedGpu, openGpu } from './device.js';
import { GpuEngine, OwningGpuEngine } from './gpu_engine.js';

export async function startWithGpu(request: EngineRequest, findGpu: () => Promise<GPU | undefined>): Promise<Engine> {
  const onCpu = (reason: string) => startCpuEngine(request, `the CPU, because ${reason}`);
  if (request.device === 'webgpu') return startOnGpu(request, await openInTime(findGpu, patience.gpu));
  // A second probe would compile the same shaders again, and delay all other work.
  if (Object.values(request.probes ?? {}).some(({ gaveUp }) => gaveUp === 'unfinished')) {
    return onCpu(`the GPU could not run a short text within ${kGpuLimit / 1000} s when it was asked first (probe).`);
  }
  let gpu: OpenedGpu;
  try {
    gpu = await openInTime(findGpu, patience.gpuOfChoice);
  } catch (error) {
    return onCpu(`the GPU can't be used: ${describeError(error)}`);
  }
  try {
    return await startWhereFaster(request, gpu);
  } catch (error) {
    gpu.device.destroy();
    throw error;
  }
}

async function startOnGpu(request: EngineRequest, gpu: OpenedGpu): Promise<Engine> {
  try {
    const { module, lastWords } = await startGpuBuild(request);
    return new OwningGpuEngine(module, gpu, lastWords, { device: 'webgpu', reason: 'the GPU was asked for.', gpu: gpu.report });
  } catch (error) {
    gpu.device.destroy();
    throw error;
  }
}

function startGpuBuild(request: EngineRequest): Promise<StartedBuild> {
  return startBuild(createGpu, 'webgpu', 1, request);
}

/** Opens a device. A driver may never answer. */
async function openInTime(findGpu: () => Promise<GPU | undefined>, limit: number): Promise<OpenedGpu> {
  const opening = findGpu().then((found) => openGpu(found));
  const gpu = await resultWithin(limit, opening);
  if (gpu !== undefined) return gpu;
  opening.then(
    ({ device }) => {
      device.destroy();
    },
    () => undefined,
  );
  throw new PeruseError('no_gpu', `WebGPU returned no device within ${limit / 1000} s.`);
}

async function startWhereFaster(request: EngineRequest, gpu: OpenedGpu): Promise<Engine> {
  const modules: { cpu?: StartedBuild; gpu?: StartedBuild } = {};
  const deviceChoice = await decide(request, gpu, {
    cpu: async () => {
      modules.cpu = await startCpuBuild(request);
      return modules.cpu.module;
    },
    gpu: async () => {
      modules.gpu = await startGpuBuild(request);
      return modules.gpu.module;
    },
  });
  if (deviceChoice.device === 'webgpu') {
    modules.cpu?.module.PThread?.terminateAllThreads(); // the CPU engine's threads are not needed any more
    const { module, lastWords } = modules.gpu ?? (await startGpuBuild(request));
    return new OwningGpuEngine(module, gpu, lastWords, deviceChoice);
  }
  // Waits before it destroys the device, because that blocks until all shaders are compiled: in Node this thread, in Chromium one that all
  // pages share.
  void gpu.pipelines.settled().then(() => {
    gpu.device.destroy();
  });
  const { module, lastWords } = modules.cpu ?? (await startCpuBuild(request));
  return new Engine(module, request.choice.threads, lastWords, undefined, deviceChoice);
}

async function decide(
  request: EngineRequest,
  gpu: OpenedGpu,
  start: Record<'cpu' | 'gpu', () => Promise<EngineModule>>,
): Promise<DeviceChoice> {
  const config = await request.config;
  const probeKey = keyOf(request, gpu, config);
  let probe = request.probes?.[probeKey];
  if (probe === undefined) {
    const cpuModule = await start.cpu();
    try {
      probe = await probeSpeed({
        cpuModule,
        gpu,
        startGpuBuild: start.gpu,
        config,
        threads: request.choice.threads,
        dtype: request.dtype,
      });
    } catch (error) {
      // If config.json is invalid, the CPU engine reports that more clearly.
      return { device: 'cpu', reason: `the CPU, because the GPU failed its probe: ${describeError(error)}` };
    }
  }
  const device = probe.gaveUp === undefined && probe.gpuMilliseconds < probe.cpuMilliseconds ? 'webgpu' : 'cpu';
  return { device, reason: reasonOf(device, probe), probe, probeKey, ...(device === 'webgpu' ? { gpu: gpu.report } : {}) };
}

function reasonOf(device: DeviceChoice['device'], { cpuMilliseconds, gpuMilliseconds, gaveUp }: ProbeReport): string {
  const cpu = `${cpuMilliseconds.toFixed(1)} ms`;
  if (gaveUp === 'unfinished') {
    return (
      `the CPU, because a short text takes it ${cpu} and the GPU could not run one within ${kGpuLimit / 1000} s, ` +
      "its shaders' compilation included (probe)."
    );
  }
  const gpu = `${gaveUp === 'slower' ? 'more than ' : ''}${gpuMilliseconds.toFixed(1)} ms`;
  return device === 'cpu'
    ? `the CPU, because a short text takes it ${cpu} and the GPU ${gpu} (probe).`
    : `the GPU, because a short text takes it ${gpu} and the CPU ${cpu} (probe).`;
}

function keyOf(request: EngineRequest, gpu: OpenedGpu, config: Uint8Array): string {
  let sizes: unknown[] = [];
  try {
    const json = parseObject('config.json', config);
    sizes = ['hidden_size', 'num_hidden_layers', 'intermediate_size', 'num_attention_heads'].map((name) => json[name]);
  } catch {
    // the engine reports the invalid config.json
  }
  const { vendor, architecture, description } = gpu.report;
  return JSON.stringify([...sizes, request.dtype, request.choice.variant, request.choice.threads, vendor, architecture, description]);
}

// The probe: measures whether CPU or GPU is faster for a model size. After the CPU, the GPU has a limited time to beat it.

/** Limit in milliseconds for the GPU, with shader compilation. A GPU needs a tenth of it; software adapters may take minutes. */
const kGpuLimit = 3000;
const kHopeless = 2; // factor: the probe ends if a run on the GPU takes this many times the CPU's time
const kShortestChance = 20; // milliseconds that the GPU gets at least, because its first run creates resources
const kTimedRuns = 3;
const kLongRun = 100; // milliseconds; one run of this length suffices

interface ProbeJob {
  cpuModule: EngineModule;
  gpu: OpenedGpu;
  startGpuBuild: () => Promise<EngineModule>;
  threads: number;
  config: Uint8Array;
  dtype: string;
}

type GpuTime = Pick<ProbeReport, 'gpuMilliseconds' | 'gaveUp'>;

async function probeSpeed(job: ProbeJob): Promise<ProbeReport> {
  const cpuMilliseconds = await timeCpu(job);
  const engine = new GpuEngine(await job.startGpuBuild(), job.gpu, () => '', { device: 'webgpu' });
  try {
    engine.addFile('config.json', job.config);
    const time = await resultWithin(kGpuLimit, timeGpu(engine, job.dtype, cpuMilliseconds));
    return { cpuMilliseconds, ...(time ?? { gpuMilliseconds: kGpuLimit, gaveUp: 'unfinished' }) };
  } finally {
    engine.release(); // cancels work that is not finished
  }
}

async function timeCpu({ cpuModule, threads, config, dtype }: ProbeJob): Promise<number> {
  const engine = new Engine(cpuModule, threads);
  try {
    engine.addFile('config.json', config);
    const layers = await engine.probe(1, dtype);
    // One layer is representative: the CPU runs layers one after another.
    let best = Infinity;
    for (let i = 0; i < kTimedRuns && (i === 0 || best <= kLongRun); i++) {
      best = Math.min(best, await timed(() => engine.probe(1, dtype)));
    }
    return layers * best;
  } finally {
    engine.release();
  }
}

async function timeGpu(engine: GpuEngine, dtype: string, toBeat: number): Promise<GpuTime> {
  await engine.probe(1, dtype); // compiles the shaders before time is measured
  const chance = Math.max(kHopeless * toBeat, kShortestChance);
  let best = Infinity;
  for (const layers of [1, ...Array<number>(kTimedRuns).fill(0)]) {
    const time = await resultWithin(
      chance,
      timed(() => engine.probe(layers, dtype)),
    );
    if (time === undefined) return { gpuMilliseconds: chance, gaveUp: 'slower' };
    if (layers === 0) best = Math.min(best, time);
    if (layers === 0 && time > kLongRun) break;
  }
  return { gpuMilliseconds: best };
}

async function timed(run: () => unknown): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
