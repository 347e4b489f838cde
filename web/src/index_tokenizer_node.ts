import { compileRead } from './engine/read_wasm_node.js';
import { nodeFileAccess, nodePaths } from './sources/file_access_node.js';
import { setTokenizerRuntime } from './tokenizer/runtime.js';
import { kTokenizerBuild } from './tokenizer/wasm_node.js';

setTokenizerRuntime({
  paths: nodePaths,
  ...nodeFileAccess,
  compile: (_, folder) => compileRead(kTokenizerBuild, folder),
});

export * from './tokenizer/face.js';
