// Writes files to a folder in Node, under a temporary name until they are complete. Symbolic links are not followed: a link with the file's
// name is replaced, and a link in its path throws.
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { describeError, PeruseError, show } from '../errors.js';

/** Checks a folder name from a caller. A blank one, which would mean the current folder, throws 'invalid_argument'. */
export function checkFolderName(folder: unknown): string {
  if (typeof folder === 'string' && folder.trim() !== '') return folder;
  throw new PeruseError('invalid_argument', `Name a folder to write to; got ${show(folder)}.`);
}

/** Names the file or folder in errors of the file system, because Node's own errors of a full disk do not. Returns other errors as they are. */
export function notWritten(what: string, place: string, error: unknown, advice = ''): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  const message = `${what} can't be written to ${place}: ${describeError(error)}`;
  return new PeruseError('invalid_argument', advice === '' ? message : `${message}; ${advice}`, { cause: error });
}

export async function writeWhole(folder: string, name: string, content: Uint8Array | string | AsyncIterable<Uint8Array>): Promise<void> {
  const file = await NewFile.open(folder, name);
  try {
    await writeFile(file.handle, content);
    await file.keep();
  } catch (error) {
    await file.drop();
    throw error;
  }
}

const kPartials = new Set<string>();
const kDay = 24 * 3600 * 1000;
const kUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const kSuffix = '.partial';

/** Removes what this process has not completed, when a signal ends it. */
export function removePartialFiles(): void {
  for (const path of kPartials) {
    try {
      rmSync(path, { force: true, recursive: true, maxRetries: 3 }); // a write that is running may add a file to the folder meanwhile
    } catch {} // the other ones are removed nevertheless; a later write to this place finds this one
  }
}

/** Removes what killed processes have left of `name` in the folder, if it is more than a day old. */
export async function removeLeft(folder: string, name: string): Promise<void> {
  const left = (await readdir(folder).catch(() => [])).filter(
    (one) => one.startsWith(`${name}.`) && one.endsWith(kSuffix) && kUuid.test(one.slice(name.length + 1, -kSuffix.length)),
  );
  for (const path of left.map((one) => join(folder, one))) {
    const found = await lstat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > kDay) await rm(path, { force: true, recursive: true }).catch(() => {});
  }
}

/** Registers a temporary name for `name` in the folder, where nothing is left of earlier ones then. */
export async function newPartial(folder: string, name: string): Promise<string> {
  await removeLeft(folder, name);
  return partial(join(folder, `${name}.${randomUUID()}${kSuffix}`));
}

/** Registers a file or folder that removePartialFiles() removes. Returns its path. */
export function partial(path: string): string {
  kPartials.add(path);
  return path;
}

export function notPartial(path: string): void {
  kPartials.delete(path);
}

/** A file being written. Must be ended with keep() or drop(). */
export class NewFile {
  private constructor(
    readonly handle: FileHandle,
    private readonly partial_: string,
    private readonly path_: string,
  ) {}

  static async open(folder: string, name: string): Promise<NewFile> {
    await makeFolder(folder);
    await refuseLinks(folder, dirname(name));
    const path = join(folder, name);
    await makeFolder(dirname(path));
    const temporary = await newPartial(dirname(path), basename(path));
    try {
      return new NewFile(await open(temporary, 'wx'), temporary, path);
    } catch (error) {
      notPartial(temporary);
      throw error;
    }
  }

  async keep(): Promise<void> {
    await this.handle.close();
    await rename(this.partial_, this.path_);
    notPartial(this.partial_);
  }

  async drop(): Promise<void> {
    await this.handle.close().catch(() => {});
    await rm(this.partial_, { force: true });
    notPartial(this.partial_);
  }
}

/** Throws if `within`, a path in the folder, goes through a symbolic link. */
export async function refuseLinks(folder: string, within: string): Promise<void> {
  if (within === '.') return;
  await refuseLinks(folder, dirname(within));
  const path = join(folder, within);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSymbolicLink()) throw new PeruseError('invalid_argument', `${path} is a symbolic link: nothing is written through it.`);
}

/** Creates the folder and its parents. Node's `recursive` option never returns if creating folders is forbidden (/proc). */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !(await isFolder(parent))) await makeFolder(parent);
  await mkdir(path).catch(async (error: unknown) => {
    if (!(await isFolder(path))) throw error; // another process may have created it
  });
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
