// How Node reads models' files: from folders on disk, by requests, and with its cache of downloads.

import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DiskCache } from '../cache/cache_node.js';
import type { Hasher } from '../cache/sha256.js';
import { describeError, PeruseError, throwIfAborted } from '../errors.js';
import { ownFetch } from '../own_fetch.js';
import type { FileAccess } from './file_access.js';
import * as folderKit from './folders/folder_kit.js';
import { commitOf, FetchFailure, type FetchFile, type FetchInit } from './http/fetching.js';
import type { MissingFile, ModelFile, ModelFolder, PathResolver } from './source.js';

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

const kMostRedirects = 10;

/** Follows redirects one by one, so that a token is sent only to its host, and headers of redirects are read. */
export const fetchInNode: FetchFile = async (url, init) => {
  const headers = { ...init.headers };
  let linkedEtag: string | undefined;
  let commit: string | undefined;
  let at = new URL(url);
  for (let hop = 0; ; ++hop) {
    const response = await request(at, { ...init, headers });
    linkedEtag ??= response.headers.get('x-linked-etag') ?? undefined;
    commit ??= commitOf(response);
    const location = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) {
      return { response, url: response.url || at.href, linkedEtag, commit };
    }
    await response.body?.cancel();
    if (hop === kMostRedirects) throw new FetchFailure(`more than ${kMostRedirects} redirects`, 0);
    const next = followed(location, at);
    if (next.origin !== at.origin) delete headers.Authorization;
    at = next;
  }
};

/** Checks the target of a redirect: fetch() would also read data: and blob:, and would print a password in its errors. */
function followed(location: string, from: URL): URL {
  let next: URL;
  try {
    next = new URL(location, from);
  } catch {
    throw new FetchFailure('a redirect leads to an address that is not a URL', 0);
  }
  if (!/^https?:$/.test(next.protocol)) {
    throw new FetchFailure(`a redirect leads to an address of the scheme '${next.protocol}', which is not followed`, 0);
  }
  if (next.username !== '' || next.password !== '') {
    throw new FetchFailure(`a redirect leads to ${next.host} with a user name or a password, which is not followed`, 0);
  }
  return next;
}

/** Codes of connections that broke or timed out; others, such as ENOTFOUND, do not pass by themselves. */
const kPassing = /^(ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EAI_AGAIN|UND_ERR_SOCKET|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

async function request(at: URL, init: FetchInit & { headers: Record<string, string> }): Promise<Response> {
  const ask = ownFetch() ?? fetch;
  try {
    return await ask(at.href, { ...init, redirect: 'manual' });
  } catch (error) {
    if (init.signal.aborted) throw error;
    const { code = '' } = ((error as Error | undefined)?.cause ?? {}) as { code?: string };
    throw new FetchFailure(describeError(error), kPassing.test(code) ? Infinity : 0, { cause: error });
  }
}

export function nodeSha256(): Hasher {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    hex: () => hash.digest('hex'),
  };
}

export const nodeFileAccess: FileAccess = {
  openDiskFolder: (path) => new DiskFolder(path),
  openCache: async (folder) => new DiskCache(folder),
  fetchFile: fetchInNode,
  fetchesHere: true,
  sha256: nodeSha256,
  kit: async () => folderKit,
};
