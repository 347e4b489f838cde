// Saves a taught model to a folder on disk.
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../cache/make_folder_node.js';
import { describe, PeruseError } from '../errors.js';

/** Each file gets its name when it is whole; config.json, which makes a model of a folder, is the last. */
export async function saveToDisk(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const names = [...files.keys()].sort((a, b) => Number(a === 'config.json') - Number(b === 'config.json'));
  try {
    for (const name of names) {
      await makeFolder(dirname(join(folder, name)));
      await saveFile(join(folder, name), files.get(name)!);
    }
  } catch (error) {
    throw new PeruseError('invalid_argument', `The model can't be written to ${folder}: ${describe(error)}`, { cause: error });
  }
}

async function saveFile(path: string, content: Uint8Array): Promise<void> {
  const partial = `${path}.partial`;
  try {
    await writeFile(partial, content);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
