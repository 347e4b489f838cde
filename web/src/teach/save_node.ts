// Saves a trained model to a folder in Node, but not over the model that it was trained from.
import { platform } from '../platform/current.js';
import { resolveSource, type Source } from '../sources/source.js';
import { refuseSource, saveToDisk } from '../sources/staged_folder_node.js';
import type { SaveToDisk } from './taught.js';

export async function refuseSources(sources: readonly Source[], folder: string): Promise<void> {
  for (const source of sources) await refuseSource(await resolveSource(source, {}, platform().paths), folder);
}

export const saveTaught: SaveToDisk = async (folder, files, options, madeFrom) => {
  await refuseSources(madeFrom, folder);
  await saveToDisk(folder, files, options);
};
