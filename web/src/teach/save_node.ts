// Saves a taught model to a folder on disk.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lockFile } from '../cache/lock_node.js';
import { makeFolder } from '../cache/make_folder_node.js';
import { checkFolderName, writeWhole } from '../cache/write_file_node.js';
import { describe, PeruseError } from '../errors.js';
import { planSave } from './save_plan.js';

/**
 * Writes the files to a new folder next to the target first. A target that does not exist becomes that folder in one step; in one that exists
 * the files get their names one by one (save_plan.ts). Saves to one folder wait for each other.
 */
export async function saveToDisk(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const target = resolve(checkFolderName(folder));
  const staged = join(dirname(target), `.${basename(target)}.${randomUUID()}.partial`);
  try {
    await makeFolder(dirname(target));
    const unlock = await lockFile(join(dirname(target), `.${basename(target)}.saving`), new AbortController().signal);
    try {
      await mkdir(staged);
      for (const [name, content] of files) await writeWhole(staged, name, content);
      await moveInto(target, staged, files, folder);
    } finally {
      await rm(staged, { recursive: true, force: true });
      unlock();
    }
  } catch (error) {
    if (error instanceof PeruseError) throw error;
    throw new PeruseError('invalid_argument', `The model can't be written to ${folder}: ${describe(error)}`, { cause: error });
  }
}

async function moveInto(target: string, staged: string, files: ReadonlyMap<string, Uint8Array>, where: string): Promise<void> {
  const present = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (present === undefined) return rename(staged, target);
  const { removed, written } = planSave(files, present, where);
  for (const name of removed) await rm(join(target, name));
  for (const name of written) {
    await makeFolder(dirname(join(target, name)));
    await rename(join(staged, name), join(target, name)); // A link of this name is replaced, not followed.
  }
}
