import { openOpfs } from './cache/cache_opfs.js';
import { compileFetched, filesFolder } from './engine/files_browser.js';
import { webPaths } from './platform/paths.js';
import { readHere } from './tokenizer/read_here.js';
import { setTokenizerRuntime } from './tokenizer/tokenizer.js';

setTokenizerRuntime({
  paths: webPaths,
  withFolder: readHere({ openOpfs }),
  compile: async (_, folder) => {
    const own = () => new URL('./peruse-tokenizer.wasm', import.meta.url); // this form lets bundlers find the file
    return compileFetched('peruse-tokenizer.wasm', own, folder ?? (await filesFolder(import.meta.url)));
  },
});

export * from './tokenizer/face.js';
