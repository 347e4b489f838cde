import { DiskCache } from '../cache/cache_node.js';
import { fetchInNode, nodeSha256 } from './fetching_node.js';
import { DiskFolder } from './folder_node.js';
import type { FolderParts } from './open_folder.js';

export const nodeFolderParts: FolderParts = {
  openDiskFolder: (path) => new DiskFolder(path),
  openCache: async (folder) => new DiskCache(folder),
  fetchFile: fetchInNode,
  sha256: nodeSha256,
};
