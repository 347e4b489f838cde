// The origin's private file system with the web's Cache interface. Each entry is one file: four bytes with the length of a JSON header, the header,
// and the body. A writable of this file system takes effect when it is closed, so every file is complete.
import type { CustomCache } from '../env_transformers_js.js';
import { PeruseError } from '../errors.js';

const kFolder = 'peruse-models-v';

interface Header {
  url: string;
  status: number;
  headers: [string, string][];
}

/** What TypeScript's DOM library declares in another library. */
interface Listing {
  values(): AsyncIterable<FileSystemHandle>;
}

/** Opens the store. Throws if the browser or the page has no such file system. */
export async function openOpfs(version: number): Promise<CustomCache> {
  const root = await globalThis.navigator?.storage?.getDirectory?.().catch(() => undefined);
  if (root === undefined || !('createWritable' in FileSystemFileHandle.prototype)) {
    throw new PeruseError('unsupported', "env.cache is 'opfs', and this place has no private file system to write to");
  }
  for (let old = 1; old < version; ++old) await root.removeEntry(kFolder + old, { recursive: true }).catch(() => {});
  return new OpfsCache(await root.getDirectoryHandle(kFolder + version, { create: true }));
}

class OpfsCache implements Required<CustomCache> {
  constructor(private readonly folder_: FileSystemDirectoryHandle) {}

  async match(url: string): Promise<Response | undefined> {
    const handle = await this.handleOf(url);
    const found = handle && (await read(handle));
    if (found?.header.url !== url) return undefined;
    const { status, headers: pairs } = found.header;
    const headers = new Headers(pairs);
    if (status !== 200) return new Response(null, { status, headers });
    headers.set('content-length', String(found.body.size)); // the actual length, whatever the server sent
    return new Response(found.body, { status, headers });
  }

  async put(url: string, response: Response): Promise<void> {
    const header: Header = { url, status: response.status, headers: [...response.headers] };
    const json = new TextEncoder().encode(JSON.stringify(header));
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, json.length);
    const handle = await this.folder_.getFileHandle(await nameOf(url), { create: true });
    const file = await handle.createWritable();
    await file.write(length);
    await file.write(json);
    try {
      if (response.body === null) await file.close();
      else await response.body.pipeTo(file); // closes the file, or aborts it if the body fails
    } catch (error) {
      if ((await handle.getFile().catch(() => undefined))?.size === 0) await this.delete(url); // there was no entry before
      throw error;
    }
  }

  async delete(url: string): Promise<boolean> {
    const name = await nameOf(url);
    return this.folder_.removeEntry(name).then(
      () => true,
      () => false,
    );
  }

  async keys(): Promise<string[]> {
    const urls: string[] = [];
    for await (const handle of (this.folder_ as unknown as Listing).values()) {
      const found = handle.kind === 'file' ? await read(handle as FileSystemFileHandle).catch(() => undefined) : undefined;
      if (found !== undefined) urls.push(found.header.url);
    }
    return urls;
  }

  private async handleOf(url: string): Promise<FileSystemFileHandle | undefined> {
    return this.folder_.getFileHandle(await nameOf(url)).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'NotFoundError') return undefined;
      throw error;
    });
  }
}

/** Returns undefined for a file that is not complete: its first write was not closed. */
async function read(handle: FileSystemFileHandle): Promise<{ header: Header; body: Blob } | undefined> {
  const file = await handle.getFile();
  if (file.size < 4) return undefined;
  const begin = 4 + new DataView(await file.slice(0, 4).arrayBuffer()).getUint32(0);
  if (begin > file.size) return undefined;
  try {
    return { header: JSON.parse(await file.slice(4, begin).text()) as Header, body: file.slice(begin) };
  } catch {
    return undefined;
  }
}

async function nameOf(url: string): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(url)));
  return Array.from(digest.subarray(0, 20), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
