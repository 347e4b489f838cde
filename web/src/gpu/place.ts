// Chooses between CPU and GPU and starts the engine there. With device 'webgpu' it must be the GPU; with 'auto' it is
// whichever a short timed probe finds faster, and the CPU where there is no GPU that works.
import { Engine, type EngineModule } from '../engine/engine.js';
import { describe } from '../errors.js';
import type { Placement, ProbeReport } from '../engine/placement.js';
import type { EngineRequest, StartedModule } from '../engine/wasm_modules.js';
import { openGpu, type OpenedGpu } from './device.js';
import { GpuEngine, OwningGpuEngine } from './gpu_engine.js';

const kTimedRuns = 3;
const kLongRun = 100;  // milliseconds; after one of these no other is needed

export async function startWithGpu(
  request: EngineRequest, findGpu: () => Promise<GPU | undefined>, startModule: (gpu: boolean) => Promise<StartedModule>,
): Promise<Engine> {
  const onCpu = async (reason: string) => {
    const { module, lastWords } = await startModule(false);
    return new Engine(module, request.choice.threads, lastWords, undefined, { device: 'cpu', reason });
  };
  if (request.device === 'auto' && request.dtype === 'q8') return onCpu("the CPU, because dtype 'q8' is for it alone.");
  let gpu: OpenedGpu;
  try {
    gpu = await openGpu(await findGpu(), request.shaderF16);
  } catch (error) {
    if (request.device === 'webgpu') throw error;
    return onCpu(`the CPU, because the GPU can't be used: ${describe(error)}`);
  }
  try {
    const started = await startModule(true);
    return await place(request, gpu, started);
  } catch (error) {
    gpu.device.destroy();
    throw error;
  }
}

async function place(request: EngineRequest, gpu: OpenedGpu, { module, lastWords }: StartedModule): Promise<Engine> {
  const asked: Placement = { device: 'webgpu', reason: 'the GPU was asked for.', gpu: gpu.report };
  if (request.device === 'webgpu') return new OwningGpuEngine(module, gpu, lastWords, asked);

  const placement = await decide(request, gpu, module);
  if (placement.device === 'webgpu') {
    module.PThread?.terminateAllThreads();  // The CPU's helpers are of no use now.
    return new OwningGpuEngine(module, gpu, lastWords, placement);
  }
  gpu.device.destroy();
  return new Engine(module, request.choice.threads, lastWords, undefined, placement);
}

async function decide(request: EngineRequest, gpu: OpenedGpu, module: EngineModule): Promise<Placement> {
  const config = await request.config;
  const probeKey = keyOf(request, gpu, config);
  let probe = request.probes[probeKey];
  try {
    probe ??= await compare(request, gpu, module, config);
  } catch (error) {
    // A fault of config.json shows again, and better, when the CPU opens it.
    return { device: 'cpu', reason: `the CPU, because the GPU failed its probe: ${describe(error)}` };
  }
  const device = probe.gpuMilliseconds < probe.cpuMilliseconds ? 'webgpu' : 'cpu';
  const [ours, other] = device === 'cpu' ? ['CPU', 'GPU'] : ['GPU', 'CPU'];
  const [mine, its] = device === 'cpu' ? [probe.cpuMilliseconds, probe.gpuMilliseconds] : [probe.gpuMilliseconds, probe.cpuMilliseconds];
  const reason = `the ${ours}, because a short text takes it ${mine.toFixed(1)} ms and the ${other} ${its.toFixed(1)} ms (probe).`;
  return { device, reason, probe, probeKey, ...(device === 'webgpu' ? { gpu: gpu.report } : {}) };
}

/** What the speed depends on: the sizes that config.json names, and the machine. */
function keyOf(request: EngineRequest, gpu: OpenedGpu, config: Uint8Array): string {
  let sizes: unknown[] = [];
  try {
    const json = JSON.parse(new TextDecoder().decode(config)) as Record<string, unknown>;
    sizes = ['hidden_size', 'num_hidden_layers', 'intermediate_size', 'num_attention_heads'].map((name) => json[name]);
  } catch {
    // The engine will say what is wrong with it.
  }
  const { vendor, architecture, description } = gpu.report;
  return JSON.stringify([...sizes, request.dtype, request.choice.variant, request.choice.threads, vendor, architecture, description]);
}

async function compare(request: EngineRequest, gpu: OpenedGpu, module: EngineModule, config: Uint8Array): Promise<ProbeReport> {
  const onGpu = new GpuEngine(module, gpu, () => '', { device: 'webgpu' });
  let layers: number;
  let gpuMilliseconds: number;
  try {
    onGpu.addFile('config.json', config);
    const dtype = request.dtype === 'auto' ? 'f16' : request.dtype;
    layers = await onGpu.probe(0, dtype);
    gpuMilliseconds = await shortest(() => onGpu.probe(0, dtype));
  } finally {
    onGpu.dispose();
  }
  // Layers follow one another on the CPU without waits, so one of them tells.
  const onCpu = new Engine(module, request.choice.threads, () => '');
  try {
    onCpu.addFile('config.json', config);
    const dtype = request.dtype === 'auto' ? 'f32' : request.dtype;
    await onCpu.probe(1, dtype);
    return { gpuMilliseconds, cpuMilliseconds: layers * (await shortest(() => onCpu.probe(1, dtype))) };
  } finally {
    onCpu.release();
  }
}

async function shortest(run: () => unknown): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < kTimedRuns && best > 0; i++) {
    const start = performance.now();
    await run();
    const time = performance.now() - start;
    best = Math.min(best, time);
    if (time > kLongRun) break;
  }
  return best;
}
