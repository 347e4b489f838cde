import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { PathResolver } from '../sources/source.js';

export const nodePaths: PathResolver = { baseUrl: () => undefined, findFolder };

async function findFolder(text: string): Promise<string | undefined> {
  const path = text.startsWith('file:') ? fileURLToPath(text) : text;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : undefined;
}
