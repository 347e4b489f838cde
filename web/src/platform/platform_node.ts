// Node: folders on disk, and worker_threads.
import { readdir, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { detectFeatures } from '../engine/features.js';
import { nodeFolderParts } from '../sources/folder_parts_node.js';
import type { SourceSpec } from '../sources/source.js';
import { LocalHost } from '../worker/host.js';
import { nodeHostParts } from '../worker/host_parts_node.js';
import { takeNodeWorker } from '../worker/resting_node.js';
import { nodePaths } from './paths_node.js';
import type { Platform } from './platform.js';

const kWeights = /\.(safetensors|bin)$/;

/** Weights of so many bytes make a call long enough (tens of milliseconds) that a server should not wait for it. */
const kLongWork = 64 << 20;

export const nodePlatform: Platform = {
  worksInWorker: async (source) => (await weightBytes(source)) > kLongWork,
  // In Node every thread may block, and memory can always be shared.
  features: () => detectFeatures({ inWorker: true, processors: availableParallelism(), sharedMemory: true }),
  startWorker: () => takeNodeWorker('dist/worker/worker_node.js'),
  startHere: async (report) => new LocalHost(report, nodeHostParts),
  paths: nodePaths,
  folderParts: nodeFolderParts,
};

/** Bytes of the files that hold weights. What a server has is not known yet; models on a hub are seldom small. */
async function weightBytes(source: SourceSpec): Promise<number> {
  if (source.kind === 'bytes') {
    return sum(
      [...source.files]
        .filter(([name]) => kWeights.test(name))
        .map(([, content]) => (content instanceof Blob ? content.size : content.length)),
    );
  }
  if (source.kind !== 'folder') return Infinity;
  const names = (await readdir(source.path).catch(() => [])).filter((name) => kWeights.test(name));
  return sum(await Promise.all(names.map(async (name) => (await stat(join(source.path, name)).catch(() => undefined))?.size ?? 0)));
}

function sum(sizes: number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
