import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DiskCache } from '../cache/cache_node.js';
import { describeError, PeruseError, throwIfAborted } from '../errors.js';
import { fetchInNode, nodeSha256 } from './fetching_node.js';
import type { FileAccess } from './file_access.js';
import * as folderKit from './folder_kit.js';
import type { MissingFile, ModelFile, ModelFolder, PathResolver } from './source.js';

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

const kChunkBytes = 1 << 20;

export class DiskFolder implements ModelFolder {
  constructor(private readonly path_: string) {}

  async open(file: string, signal: AbortSignal): Promise<ModelFile | MissingFile> {
    throwIfAborted(signal);
    const where = join(this.path_, file);
    try {
      const found = await stat(where);
      if (!found.isFile()) return { found: false, where, why: 'it is not a file' };
      return {
        found: true,
        where,
        size: found.size,
        version: `${found.mtimeMs} ${found.size}`,
        chunks: () => readFile(where),
        close: async () => {},
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { found: false, where, why: 'there is no such file' };
      throw cannotRead(where, error);
    }
  }
}

async function* readFile(where: string): AsyncGenerator<Uint8Array> {
  const file = await open(where, 'r').catch((error: unknown) => {
    throw cannotRead(where, error);
  });
  // Two buffers: the next chunk is read while the engine uses the current one.
  const read = (buffer: Uint8Array) => {
    const reading = file.read(buffer, 0, buffer.length);
    reading.catch(() => {}); // the error is thrown when it is awaited
    return { buffer, reading };
  };
  try {
    let other: Uint8Array = new Uint8Array(kChunkBytes);
    for (let next = read(new Uint8Array(kChunkBytes)); ; ) {
      const { buffer, reading } = next;
      const { bytesRead } = await reading.catch((error: unknown) => {
        throw cannotRead(where, error);
      });
      if (bytesRead === 0) return;
      next = read(other);
      other = buffer;
      yield buffer.subarray(0, bytesRead); // valid until the next chunk is requested
    }
  } finally {
    await file.close(); // waits for running reads
  }
}

function cannotRead(where: string, error: unknown): PeruseError {
  return new PeruseError('not_found', `${where} can't be read: ${describeError(error)}.`, { cause: error });
}
