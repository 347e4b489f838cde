import { compileRead, type InstalledFile } from './engine/installed_node.js';
import { nodeFileAccess, nodePaths } from './sources/file_access_node.js';
import { readHere } from './tokenizer/read_here.js';
import { setTokenizerRuntime } from './tokenizer/tokenizer.js';

const kTokenizerBuild: InstalledFile = {
  path: 'bundle/peruse-tokenizer.wasm',
  own() {
    return new URL('../bundle/peruse-tokenizer.wasm', import.meta.url);
  },
};

setTokenizerRuntime({
  paths: nodePaths,
  withFolder: readHere(nodeFileAccess),
  compile: (_, folder) => compileRead(kTokenizerBuild, folder),
});

export * from './tokenizer/face.js';
