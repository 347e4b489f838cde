import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes the folder and those above it. Node's own way (`recursive`) never returns where the system lets nobody make one (/proc). */
export async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const parent = dirname(path);
  if (parent !== path && !(await isFolder(parent))) await makeFolder(parent);
  await mkdir(path).catch(async (error: unknown) => {
    if (!(await isFolder(path))) throw error; // Else somebody else was faster.
  });
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
