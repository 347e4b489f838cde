import { availableParallelism } from 'node:os';
import { compileRead, embedWorker, isInstalled } from '../engine/installed_node.js';
import type { Features } from '../engine/variant.js';
import { detectFeatures } from '../engine/variant.js';
import { kNodeBuilds, kNodeWorker } from '../engine/wasm_node.js';
import { env } from '../env.js';
import { PeruseError } from '../errors.js';
import { describeBlank, describeCuts, explain, streamOf } from '../extras.js';
import { kModelKit } from '../redact/model_kit.js';
import { loadIndex, newIndex, saveIndex } from '../search/kit.js';
import { nodePaths } from '../sources/file_access_node.js';
import { LocalHost } from '../worker/local_host.js';
import type { CallerRuntime } from '../worker/runtime.js';
import { nodeEngines } from '../worker/runtime_node.js';
import { takeNodeWorker } from '../worker/start_worker_node.js';

/**
 * Whether this is Node itself, which sends compiled modules to workers: this thread compiles while the worker starts, and all workers share the
 * code. If a build can't be read here, the worker reports the reason. A function, because peruse/inline contains this file in pages, too.
 */
const isNode = () => process.versions.bun === undefined && !('Deno' in globalThis);

export const nodeRuntime: CallerRuntime = {
  ...nodeEngines,
  startsWorkers: () => true,
  features,
  startWorker: async () => {
    if (!mayStartWorkers()) throw new PeruseError('unsupported', kForbidden);
    await useEmbeddedWorker();
    return takeNodeWorker(kNodeWorker, Object.values(kNodeBuilds));
  },
  startHere: async (report) => {
    await useEmbeddedWorker(); // enables threads, which run the same worker
    return new LocalHost(report, nodeEngines);
  },
  filesFolder: async () => env.filesPath?.toString(),
  build: async (variant, device) => {
    if (!hasFiles()) return (await embedded()).embeddedBuild(variant);
    return device === 'cpu' && isNode() ? compileRead(kNodeBuilds[variant], undefined).catch(() => undefined) : undefined;
  },
  redaction: async () => kModelKit,
  search: async () => ({ loadIndex, newIndex, saveIndex }),
  extras: async () => ({ describeBlank, describeCuts, explain, streamOf }),
  paths: nodePaths,
};

const kForbidden = "Node's permission model forbids workers (run node with --allow-worker).";

function mayStartWorkers(): boolean {
  // absent without the permission model
  return (process.permission as typeof process.permission | undefined)?.has('worker') ?? true;
}

function features(): Features {
  const threads = mayStartWorkers() ? {} : { whyNoThreads: kForbidden.slice(0, -1) };
  const found = { ...detectFeatures({ inWorker: true, processors: availableParallelism(), sharedMemory: true }), ...threads };
  return hasFiles() ? found : { ...found, relaxedSimd: false, whyPlain: "the package's files are not next to the program" };
}

/** Whether worker and builds are files: not in programs of a single file, or after some bundlers. */
function hasFiles(): boolean {
  const { simd, relaxed, 'simd-threads': simdThreads, 'relaxed-threads': relaxedThreads } = kNodeBuilds;
  return [kNodeWorker, simd, relaxed, simdThreads, relaxedThreads].every(isInstalled);
}

/** Loads peruse/inline, which every bundler includes because it is an imported script. */
async function embedded() {
  const inline = await import('../../bundle/peruse-inline.js');
  return inline._internals;
}

async function useEmbeddedWorker(): Promise<void> {
  if (!hasFiles()) embedWorker(await (await embedded()).workerCode('node'));
}
