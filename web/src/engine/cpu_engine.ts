// Starts a build of the engine, and measures how many threads help. All builds with threads share a JavaScript loader, and so do all builds without.
import createPlain from '../../wasm/glue.mjs';
import createThreaded from '../../wasm/glue-threads.mjs';
import { letEventsIn } from '../events.js';
import { kExact } from '../precisions.js';
import { Engine, type EngineModule, type EngineModuleFactory } from './engine.js';
import type { LoadRequest } from './load_request.js';
import { type BuildAccess, type Started, startModule } from './start_module.js';
import type { Variant } from './variant.js';

/** The builds for the CPU, and 'webgpu', whose CPU part only records commands for a GPU. */
export type Build = Variant | 'webgpu';

export interface EngineRequest extends Pick<LoadRequest, 'choice' | 'device' | 'dtype' | 'probes' | 'wasm'> {
  config: Promise<Uint8Array>;
  builds: BuildAccess<Build>;
}

export type StartedBuild = Started<EngineModule>;

/** `reason` says why the CPU was chosen, if there was a choice. */
export async function startCpuEngine(request: Pick<EngineRequest, 'choice' | 'wasm' | 'builds'>, reason?: string): Promise<Engine> {
  const { module, lastWords } = await startCpuBuild(request);
  const deviceChoice = { device: 'cpu' as const, ...(reason === undefined ? {} : { reason }) };
  const { threads, threadsAreFree } = request.choice;
  const helpful = threadsAreFree && threads > 1 ? await threadsThatHelp(module, threads) : threads;
  return new Engine(module, helpful, lastWords, undefined, deviceChoice);
}

export function startCpuBuild({ choice, wasm, builds }: Pick<EngineRequest, 'choice' | 'wasm' | 'builds'>): Promise<StartedBuild> {
  const factory = choice.variant.endsWith('-threads') ? createThreaded : createPlain;
  return startBuild(factory, choice.variant, choice.threads, { wasm, builds });
}

export function startBuild(
  factory: EngineModuleFactory,
  build: Build,
  threads: number,
  { wasm, builds }: Pick<EngineRequest, 'wasm' | 'builds'>,
): Promise<StartedBuild> {
  return startModule(factory, build, threads, wasm, builds);
}

/** A layer of a small encoder, because threads cost short operations most. */
const kSmallModel = JSON.stringify({
  model_type: 'bert',
  vocab_size: 64,
  hidden_size: 256,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  intermediate_size: 1024,
  max_position_embeddings: 512,
  type_vocab_size: 2,
});
/** Runs of one measurement: at most kRuns, and at least two, within kMilliseconds. */
const kRuns = 8;
const kMilliseconds = 12;
/** More threads must take less than this share of the time of fewer. */
const kGain = 0.95;

/** Measured numbers, by the most threads: every engine in this thread of JavaScript runs on the same machine. */
const kMeasured = new Map<number, Promise<number>>();

/**
 * Returns the number of threads, at most `most`, that is worth using. The first call measures it, by timing a small layer for some tens of
 * milliseconds: processors that share a core do not report it, and make short operations slower.
 */
export function threadsThatHelp(module: EngineModule, most: number, measured = kMeasured): Promise<number> {
  const known = measured.get(most);
  if (known !== undefined) return known;
  const found = fewestFast(most, async (threads) => {
    const time = timeOf(module, threads);
    await letEventsIn(); // the threads of an ended session become free in an event
    return time;
  });
  measured.set(most, found);
  found.catch(() => measured.delete(most));
  return found;
}

/**
 * Returns the smallest number among `most`, its half, its quarter and so on that is about as fast as more threads. `time` measures one run.
 */
export async function fewestFast(most: number, time: (threads: number) => Promise<number>): Promise<number> {
  let best = 1;
  let bestTime = await time(1);
  for (const threads of halvesOf(most)) {
    const found = Math.min(await time(threads), await time(threads));
    bestTime = Math.min(bestTime, best === 1 ? await time(1) : bestTime);
    if (found >= kGain * bestTime) continue;
    best = threads;
    bestTime = found;
  }
  return best;
}

function halvesOf(most: number): number[] {
  const counts: number[] = [];
  for (let threads = most; threads > 1; threads = Math.floor(threads / 2)) counts.unshift(threads);
  return counts;
}

function timeOf(module: EngineModule, threads: number): number {
  const engine = new Engine(module, threads);
  try {
    engine.addFile('config.json', new TextEncoder().encode(kSmallModel));
    engine.probe(1, kExact); // creates the weights before time is measured
    const end = performance.now() + kMilliseconds;
    let best = Infinity;
    for (let run = 0; run < kRuns && (run < 2 || performance.now() < end); ++run) {
      const start = performance.now();
      engine.probe(1, kExact);
      best = Math.min(best, performance.now() - start);
    }
    return best;
  } finally {
    engine.release();
  }
}
