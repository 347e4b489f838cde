import { nodeWasm } from '../engine/wasm_node.js';
import { findGpuInNode } from '../gpu/gpu_node.js';
import { nodeFolderParts } from '../sources/folder_parts_node.js';
import type { HostParts } from './host.js';

export const nodeHostParts: HostParts = {
  ...nodeFolderParts,
  findGpu: findGpuInNode,
  importGpu: () => import('../gpu/choose_device.js'),
  importOnnx: () => import('../onnx/part.js'),
  wasm: nodeWasm,
};
