// Writes a model to a folder in Node. The files are complete in a temporary folder before any file of an older model goes.
import { mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { lockFile } from '../cache/lock_node.js';
import {
  checkFolderName,
  makeFolder,
  newPartial,
  notPartial,
  notWritten,
  partial,
  refuseLinks,
  removeLeft,
  writeWhole,
} from '../cache/write_file_node.js';
import { PeruseError } from '../errors.js';
import { planSave, refuseModel, type SaveOptions } from './save_plan.js';
import type { SourceSpec } from './source.js';

/** Writes the files of a model to a folder. */
export async function saveToDisk(folder: string, files: ReadonlyMap<string, Uint8Array>, options: SaveOptions = {}): Promise<void> {
  await writeStaged('The model', folder, options, async (staged) => {
    for (const [name, content] of files) await writeWhole(staged, name, content);
  });
}

/** Throws if the folder holds a model. */
export async function refuseOccupied(folder: string): Promise<void> {
  refuseModel((await namesIn(folder)) ?? [], folder);
}

/** Throws if the folder is that of the source, because neither would be whole if the write fails, and an adapter would lose its model. */
export async function refuseSource(spec: SourceSpec, folder: string): Promise<void> {
  const real = (path: string) => realpath(path).catch(() => undefined);
  if (spec.kind !== 'folder' || (await real(folder)) === undefined || (await real(spec.path)) !== (await real(folder))) return;
  throw new PeruseError('invalid_argument', `A model can't be written over the one that it is made from: ${folder}. Name another folder.`);
}

/**
 * Calls `write` with a temporary folder, whose files then replace the model in `folder`, in the order of save_plan.ts. If `write` throws,
 * `folder` stays as it is. One call for a folder at a time. `what` names the files in errors.
 */
export async function writeStaged<T>(
  what: string,
  folder: string,
  options: SaveOptions,
  write: (staged: string) => Promise<T>,
): Promise<T> {
  const target = resolve(checkFolderName(folder));
  try {
    await makeFolder(dirname(target));
    const lock = join(dirname(target), `.${basename(target)}.saving`);
    const unlock = await lockFile(lock, new AbortController().signal);
    partial(lock);
    try {
      if (options.overwrite !== true) await refuseOccupied(folder);
      // A folder that exists may be a mounted disk, to which files of its parent folder can't be moved.
      const exists = (await namesIn(target)) !== undefined;
      if (exists) await removeLeft(dirname(target), `.${basename(target)}`); // from when it did not exist
      const staged = await newPartial(exists ? target : dirname(target), `.${basename(target)}`);
      try {
        await mkdir(staged);
        const result = await write(staged);
        await moveInto(target, staged, folder, options);
        return result;
      } finally {
        await rm(staged, { recursive: true, force: true });
        notPartial(staged);
      }
    } finally {
      notPartial(lock);
      unlock();
    }
  } catch (error) {
    throw notWritten(what, folder, error);
  }
}

async function namesIn(folder: string): Promise<string[] | undefined> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

async function moveInto(target: string, staged: string, where: string, options: SaveOptions): Promise<void> {
  const present = await namesIn(target);
  if (present === undefined) return rename(staged, target);
  const entries = await readdir(staged, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => relative(staged, join(parentPath, name)));
  for (const name of files) await refuseLinks(target, dirname(name));
  const names = files.map((name) => name.replaceAll(sep, '/'));
  const { removed, written } = planSave(names, present, where, options);
  for (const name of removed) await rm(join(target, name));
  for (const name of written) {
    await makeFolder(dirname(join(target, name)));
    await rename(join(staged, name), join(target, name)); // replaces a link of this name instead of following it
  }
}
