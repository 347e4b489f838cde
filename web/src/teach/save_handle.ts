import { PeruseError, show } from '../errors.js';
import { planSave, type SaveOptions } from '../sources/save_plan.js';

/** The part of FileSystemDirectoryHandle that save() uses. */
export interface WritableDirectory {
  /** Creates a subfolder, for generators and sentence embedders. */
  getDirectoryHandle?(name: string, options: { create: true }): Promise<WritableDirectory>;
  getFileHandle(
    name: string,
    options: { create: true },
  ): Promise<{ createWritable(): Promise<{ write(content: Uint8Array<ArrayBuffer>): Promise<void>; close(): Promise<void> }> }>;
  /** With `keys` and `removeEntry`, save() detects another model in the directory. */
  keys?(): AsyncIterable<string>;
  removeEntry?(name: string): Promise<void>;
}

/** Completes when the last save of this thread has ended: two handles may name the same directory. */
let last: Promise<void> = Promise.resolve();

export async function saveToHandle(
  directory: WritableDirectory,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  options: SaveOptions = {},
): Promise<void> {
  if (typeof directory?.getFileHandle !== 'function') {
    throw new PeruseError('invalid_argument', `save() takes a directory handle or the path of a folder, not ${show(directory)}.`);
  }
  const own = last.then(() => writeAll(directory, files, options));
  last = own.catch(() => {});
  return own;
}

async function writeAll(
  directory: WritableDirectory,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
  options: SaveOptions,
): Promise<void> {
  const present: string[] = [];
  if (directory.keys && directory.removeEntry) for await (const name of directory.keys()) present.push(name);
  const { removed, written } = planSave([...files.keys()], present, 'The directory', options);
  for (const path of written) {
    if (path.includes('/') && !directory.getDirectoryHandle) {
      throw new PeruseError('invalid_argument', `The directory handle has no getDirectoryHandle(), which ${path} needs.`);
    }
  }
  for (const name of removed) await directory.removeEntry!(name);
  for (const path of written) {
    const [name, folder] = path.split('/').reverse() as [string, string?];
    const within = folder === undefined ? directory : await directory.getDirectoryHandle!(folder, { create: true });
    const stream = await (await within.getFileHandle(name, { create: true })).createWritable();
    await stream.write(files.get(path)!);
    await stream.close(); // the file appears in the folder only now
  }
}
