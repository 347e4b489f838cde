import { browserWasm } from '../engine/wasm_browser.js';
import { importGpu } from './import_gpu_browser.js';
import { importOnnx } from './import_onnx_browser.js';
import type { Runtime } from './runtime.js';

export const browserRuntime: Runtime = { ...browserWasm, importGpu, importOnnx };
