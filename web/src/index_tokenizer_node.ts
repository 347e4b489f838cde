// `peruse/tokenizer` in Node.
import { compileRead } from './engine/read_wasm_node.js';
import { nodePaths } from './platform/paths_node.js';
import { nodeFolderParts } from './sources/folder_parts_node.js';
import { setTokenizerParts } from './tokenizer/parts.js';

setTokenizerParts({
  paths: nodePaths,
  folders: nodeFolderParts,
  compile: (folder) => compileRead('peruse-tokenizer.wasm', folder),
});

export * from './tokenizer/face.js';
