// Saves a trained model to a folder in Node, but not over the model that it was trained from.
import { refuseSource, saveToDisk } from '../sources/staged_folder_node.js';
import { type Origin, type SaveToDisk, specOf } from './taught.js';

export async function refuseSources(sources: readonly Origin[], folder: string): Promise<void> {
  for (const source of sources) await refuseSource(await specOf(source), folder);
}

export const saveTaught: SaveToDisk = async (folder, files, options, madeFrom) => {
  await refuseSources(madeFrom, folder);
  await saveToDisk(folder, files, options);
};
