import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { DiskCache } from '../cache/cache_node.js';
import { fetchInNode, nodeSha256 } from './fetching_node.js';
import type { FileAccess } from './file_access.js';
import * as folderKit from './folder_kit.js';
import { DiskFolder } from './folder_node.js';
import type { PathResolver } from './source.js';

export const nodeFileAccess: FileAccess = {
  openDiskFolder: (path) => new DiskFolder(path),
  openCache: async (folder) => new DiskCache(folder),
  fetchFile: fetchInNode,
  fetchesHere: true,
  sha256: nodeSha256,
  kit: async () => folderKit,
};

export const nodePaths: PathResolver = { baseUrl: () => undefined, findFolder };

async function findFolder(text: string): Promise<string | undefined> {
  const path = text.startsWith('file:') ? fileURLToPath(text) : text;
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? path : undefined;
}
