// Measures whether CPU or GPU is faster for a model size. Times the CPU first; the GPU then has a limited time to beat it.
import { Engine, type EngineModule } from '../engine/engine.js';
import type { ProbeReport } from '../engine/reports.js';
import type { OpenedGpu } from './device.js';
import { GpuEngine } from './gpu_engine.js';

/**
 * Limit in milliseconds for the GPU's part, including shader compilation. A GPU needs a tenth of it; a software implementation may take
 * minutes.
 */
export const kGpuLimit = 3000;
const kHopeless = 2; // A GPU run that takes this many times the CPU's time ends the probe ...
const kShortestChance = 20; // ... but not before this many milliseconds, because a first run creates resources.
const kTimedRuns = 3;
const kLongRun = 100; // milliseconds; one run of this length is enough

export interface ProbeJob {
  cpuModule: EngineModule;
  gpu: OpenedGpu;
  /** Called when the CPU's time is known. */
  startGpuBuild: () => Promise<EngineModule>;
  /** Number of CPU threads. */
  threads: number;
  /** The content of config.json. */
  config: Uint8Array;
  /** The engine's name, or 'auto'. */
  dtype: string;
}

type GpuTime = Pick<ProbeReport, 'gpuMilliseconds' | 'gaveUp'>;

export async function probeSpeed(job: ProbeJob): Promise<ProbeReport> {
  const cpuMilliseconds = await timeCpu(job);
  const engine = new GpuEngine(await job.startGpuBuild(), job.gpu, () => '', { device: 'webgpu' });
  try {
    engine.addFile('config.json', job.config);
    const time = await within(kGpuLimit, timeGpu(engine, job.dtype, cpuMilliseconds));
    return { cpuMilliseconds, ...(time ?? { gpuMilliseconds: kGpuLimit, gaveUp: 'unfinished' }) };
  } finally {
    engine.release(); // cancels unfinished work
  }
}

async function timeCpu({ cpuModule, threads, config, dtype }: ProbeJob): Promise<number> {
  const engine = new Engine(cpuModule, threads);
  try {
    engine.addFile('config.json', config);
    const layers = await engine.probe(1, dtype);
    // Layers run one after another on the CPU, so one is representative.
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
  await engine.probe(1, dtype); // compiles the shaders
  const chance = Math.max(kHopeless * toBeat, kShortestChance);
  let best = Infinity;
  for (const layers of [1, ...Array<number>(kTimedRuns).fill(0)]) {
    const time = await within(
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

/** Returns the result of `work`, or undefined if it takes longer; `work` is not cancelled. */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      resolve(undefined);
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
