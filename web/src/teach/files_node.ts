// Files of training in Node: the package's worker and builds, and the folder in which a trained model is saved.
import type { InstalledFile } from '../engine/installed_node.js';
import { refuseSource, saveToDisk } from '../sources/staged_folder_node.js';
import type { TeachBuild } from './open_trainer.js';
import { type Origin, type SaveToDisk, specOf } from './taught.js';

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

export async function refuseSources(sources: readonly Origin[], folder: string): Promise<void> {
  for (const source of sources) await refuseSource(await specOf(source), folder);
}

/** Saves a trained model to a folder, but not over the model that it was trained from. */
export const saveTaught: SaveToDisk = async (folder, files, options, madeFrom) => {
  await refuseSources(madeFrom, folder);
  await saveToDisk(folder, files, options);
};
