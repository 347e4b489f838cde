// Measures whether CPU or GPU is faster for a model size. After the CPU, the GPU has a limited time to beat it.
import { Engine, type EngineModule } from '../engine/engine.js';
import type { ProbeReport } from '../engine/load_request.js';
import { resultWithin } from '../patience.js';
import type { OpenedGpu } from './device.js';
import { GpuEngine } from './gpu_engine.js';

/** Limit in milliseconds for the GPU, with shader compilation. A GPU needs a tenth of it; software adapters may take minutes. */
export const kGpuLimit = 3000;
const kHopeless = 2; // factor: the probe ends if a run on the GPU takes this many times the CPU's time
const kShortestChance = 20; // milliseconds that the GPU gets at least, because its first run creates resources
const kTimedRuns = 3;
const kLongRun = 100; // milliseconds; one run of this length suffices

export interface ProbeJob {
  cpuModule: EngineModule;
  gpu: OpenedGpu;
  startGpuBuild: () => Promise<EngineModule>;
  threads: number;
  config: Uint8Array;
  dtype: string;
}

type GpuTime = Pick<ProbeReport, 'gpuMilliseconds' | 'gaveUp'>;

export async function probeSpeed(job: ProbeJob): Promise<ProbeReport> {
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
