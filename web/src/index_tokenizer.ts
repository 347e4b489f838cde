// `peruse/tokenizer` in browsers, their workers and wherever files are fetched.
import { compileFetched } from './engine/fetch_wasm.js';
import { webPaths } from './platform/platform.js';
import { setTokenizerParts } from './tokenizer/parts.js';

setTokenizerParts({
  paths: webPaths,
  folders: {},
  compile: (folder) =>
    // Spelled out so that bundlers find the file.
    compileFetched('peruse-tokenizer.wasm', () => new URL('./peruse-tokenizer.wasm', import.meta.url), folder),
});

export * from './tokenizer/face.js';
