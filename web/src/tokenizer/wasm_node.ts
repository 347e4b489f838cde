import type { InstalledFile } from '../engine/installed_node.js';

export const kTokenizerBuild: InstalledFile = {
  path: 'bundle/peruse-tokenizer.wasm',
  own() {
    return new URL('../../bundle/peruse-tokenizer.wasm', import.meta.url);
  },
};
