// What a host needs from Node, in the caller's thread and in a worker alike.
import { DiskCache } from '../cache/cache_node.js';
import { fetchInNode, nodeSha256 } from '../sources/fetching_node.js';
import { DiskFolder } from '../sources/folder_node.js';
import { nodeWasm } from '../engine/wasm_node.js';
import { findGpuInNode } from '../gpu/gpu_node.js';
import type { HostParts } from './host.js';

export const nodeHostParts: HostParts = {
  openDiskFolder: (path) => new DiskFolder(path),
  openCache: async (folder) => new DiskCache(folder),
  fetchFile: fetchInNode,
  sha256: nodeSha256,
  findGpu: findGpuInNode,
  wasm: nodeWasm,
};
