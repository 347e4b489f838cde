// What a host needs from Node, in the caller's thread and in a worker alike.
import { nodeWasm } from '../engine/wasm_node.js';
import { findGpuInNode } from '../gpu/gpu_node.js';
import { nodeFolderParts } from '../sources/folder_parts_node.js';
import type { HostParts } from './host.js';

export const nodeHostParts: HostParts = {
  ...nodeFolderParts,
  findGpu: findGpuInNode,
  importGpu: () => import('../gpu/choose_device.js'),
  wasm: nodeWasm,
};
