import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
