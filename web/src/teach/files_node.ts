import type { InstalledFile } from '../engine/installed_node.js';
import type { TeachBuild } from './open_trainer.js';

export const kTeachWorker: InstalledFile = {
  path: 'dist/node/teach_worker.mjs',
  own() {
    return new URL('../node/teach_worker.mjs', import.meta.url);
  },
};

export const kTeachBuilds: Record<TeachBuild, InstalledFile> = {
  teach: {
    path: 'bundle/peruse-teach.wasm',
    own() {
      return new URL('../../bundle/peruse-teach.wasm', import.meta.url);
    },
  },
  'teach-threads': {
    path: 'bundle/peruse-teach-threads.wasm',
    own() {
      return new URL('../../bundle/peruse-teach-threads.wasm', import.meta.url);
    },
  },
};
