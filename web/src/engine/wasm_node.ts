// The engine's files and threads in Node.
import type { WasmParts } from './builds.js';
import { startNodeHelper } from './helper_node.js';
import { compileRead } from './read_wasm_node.js';

export const nodeWasm: WasmParts = {
  compile: (build, folder) => compileRead(`peruse-${build}.wasm`, folder),
  startHelper: () => startNodeHelper('dist/worker/worker_node.js'),
};
