import { browserWasm } from '../engine/wasm_browser.js';
import type { HostParts } from './host.js';
import { importGpu } from './import_gpu_browser.js';
import { importOnnx } from './import_onnx_browser.js';

export const browserHostParts: HostParts = { wasm: browserWasm, importGpu, importOnnx };
