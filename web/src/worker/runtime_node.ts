import { nodeWasm } from '../engine/wasm_node.js';
import { findGpuInNode } from '../gpu/gpu_node.js';
import { nodeFileAccess } from '../sources/file_access_node.js';
import type { EngineRuntime } from './runtime.js';

export const nodeEngines: EngineRuntime = {
  ...nodeFileAccess,
  findGpu: findGpuInNode,
  importGpu: () => import('../gpu/choose_device.js'),
  importDescribe: () => import('../engine/models/describe_model.js'),
  importOnnx: () => import('../onnx/part.js'),
  ...nodeWasm,
};
