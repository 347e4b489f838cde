import { compileRead } from './engine/read_wasm_node.js';
import { nodePaths } from './platform/paths_node.js';
import { nodeFolderParts } from './sources/folder_parts_node.js';
import { setTokenizerParts } from './tokenizer/parts.js';
import { kTokenizerBuild } from './tokenizer/wasm_node.js';

setTokenizerParts({
  paths: nodePaths,
  folders: nodeFolderParts,
  compile: (folder) => compileRead(kTokenizerBuild, folder),
});

export * from './tokenizer/face.js';
