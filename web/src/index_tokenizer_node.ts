// `peruse/tokenizer` in Node.
import { compileRead } from './engine/read_wasm_node.js';
import { nodePlaces } from './platform/places_node.js';
import { nodeFolderParts } from './sources/folder_parts_node.js';
import { setTokenizerParts } from './tokenizer/parts.js';

setTokenizerParts({
  places: nodePlaces,
  folders: nodeFolderParts,
  compile: (folder) => compileRead('peruse-tokenizer.wasm', folder),
});

export * from './tokenizer/face.js';
