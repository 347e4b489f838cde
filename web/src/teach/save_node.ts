import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { lockFile } from '../cache/lock_node.js';
import { makeFolder } from '../cache/make_folder_node.js';
import { checkFolderName, notWritten, writeWhole } from '../cache/write_file_node.js';
import { planSave, refuseModel, type SaveOptions } from './save_plan.js';

/** Writes to a temporary folder, then renames it; if the target exists, moves the files in save_plan.ts's order. One save at a time. */
export async function saveToDisk(folder: string, files: ReadonlyMap<string, Uint8Array>, options: SaveOptions = {}): Promise<void> {
  const target = resolve(checkFolderName(folder));
  const staged = join(dirname(target), `.${basename(target)}.${randomUUID()}.partial`);
  try {
    await makeFolder(dirname(target));
    const unlock = await lockFile(join(dirname(target), `.${basename(target)}.saving`), new AbortController().signal);
    try {
      await mkdir(staged);
      for (const [name, content] of files) await writeWhole(staged, name, content);
      await moveInto(target, staged, files, folder, options);
    } finally {
      await rm(staged, { recursive: true, force: true });
      unlock();
    }
  } catch (error) {
    throw notWritten('The model', folder, error);
  }
}

/** Throws if saveToDisk() would throw because the folder holds a model. */
export async function refuseOccupied(folder: string): Promise<void> {
  refuseModel((await namesIn(folder)) ?? [], folder);
}

async function namesIn(folder: string): Promise<string[] | undefined> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

async function moveInto(
  target: string,
  staged: string,
  files: ReadonlyMap<string, Uint8Array>,
  where: string,
  options: SaveOptions,
): Promise<void> {
  const present = await namesIn(target);
  if (present === undefined) return rename(staged, target);
  const { removed, written } = planSave(files, present, where, options);
  for (const name of removed) await rm(join(target, name));
  for (const name of written) {
    await makeFolder(dirname(join(target, name)));
    await rename(join(staged, name), join(target, name)); // replaces a link of this name instead of following it
  }
}
