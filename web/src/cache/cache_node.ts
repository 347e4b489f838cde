// A folder on disk with the web's Cache interface. An entry is a JSON file that names the file with the body. It is written last, and
// renamed, so that every entry is complete.
import { createHash, randomUUID } from 'node:crypto';
import { lstat, open, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { kStoreVersion, type LockingCache } from './file_store.js';
import { lockFile } from './lock_node.js';
import { makeFolder } from './write_file_node.js';

const kChunkBytes = 1 << 20;
const kDay = 24 * 3600 * 1000;
/** Number of entries to read in parallel, limited because each needs a file handle. */
const kAtOnce = 32;

// Names of this cache's files. It never removes others.
const kEntry = /^[0-9a-f]{40}\.json$/;
const kBody = /^[0-9a-f]{40}-[0-9a-f-]{36}\.body$/;
const kPassing = /^[0-9a-f]{40}(-[0-9a-f-]{36}\.body\.part|\.json\.[0-9a-f]{40}-[0-9a-f-]{36}\.body|\.lock)$/;

interface Entry {
  url: string;
  status: number;
  headers: [string, string][];
  body: string;
  bytes: number;
  /** Hash of the JSON of the members above. */
  sha256?: string;
}

/** Relative paths in the environment are ignored, as its specification demands: they would be folders of the program's. */
export function defaultCacheFolder(): string {
  const { XDG_CACHE_HOME: named = '' } = process.env;
  if (isAbsolute(named)) return join(named, 'peruse', 'models');
  const home = homedir();
  return join(isAbsolute(home) ? home : userInfo().homedir, '.cache', 'peruse', 'models');
}

export class DiskCache implements LockingCache {
  private readonly folder_: string;
  private tidied_ = false;

  constructor(folder: string = defaultCacheFolder()) {
    this.folder_ = join(folder, `v${kStoreVersion}`);
  }

  async match(url: string): Promise<Response | undefined> {
    const entry = await this.readEntry(this.entryPath(url));
    if (entry === undefined || entry.url !== url) return undefined;
    const path = join(this.folder_, entry.body);
    const found = await stat(path).catch(() => undefined);
    if (found?.size !== entry.bytes) {
      await this.delete(url);
      return undefined;
    }
    const headers = new Headers(entry.headers);
    if (entry.status === 200) headers.set('content-length', String(entry.bytes)); // the actual length, whatever the server sent
    return new Response(entry.status === 200 ? readLazily(path) : null, { status: entry.status, headers });
  }

  async put(url: string, response: Response): Promise<void> {
    await makeFolder(this.folder_);
    await this.tidyOnce();
    const path = this.entryPath(url);
    const old = await this.readEntry(path);
    const body = `${key(url)}-${randomUUID()}.body`;
    const partial = join(this.folder_, `${body}.part`);
    try {
      const bytes = await writeBody(partial, response.body);
      await rename(partial, join(this.folder_, body));
      const entry: Entry = { url, status: response.status, headers: [...response.headers], body, bytes };
      await writeFile(`${path}.${body}`, `${JSON.stringify({ ...entry, sha256: digest(entry) })}\n`);
      await rename(`${path}.${body}`, path);
    } catch (error) {
      await Promise.all([partial, join(this.folder_, body), `${path}.${body}`].map((file) => rm(file, { force: true }).catch(() => {})));
      throw error;
    }
    if (old !== undefined) await rm(join(this.folder_, old.body), { force: true }).catch(() => {});
  }

  async delete(url: string): Promise<boolean> {
    const path = this.entryPath(url);
    const entry = await this.readEntry(path);
    await rm(path, { force: true });
    if (entry !== undefined) await rm(join(this.folder_, entry.body), { force: true });
    return entry !== undefined;
  }

  async keys(): Promise<string[]> {
    const names = (await namesIn(this.folder_)).filter((name) => kEntry.test(name));
    const urls: string[] = [];
    for (let at = 0; at < names.length; at += kAtOnce) {
      const entries = await Promise.all(names.slice(at, at + kAtOnce).map((name) => this.readEntry(join(this.folder_, name))));
      for (const entry of entries) if (entry !== undefined) urls.push(entry.url);
    }
    return urls;
  }

  /** Removes damaged entries, and bodies without an entry, which killed processes leave. */
  async tidy(unusedFor: number): Promise<void> {
    const names = await namesIn(this.folder_);
    const bodies = new Set<string>();
    const left = names.filter((name) => kPassing.test(name));
    for (const name of names.filter((one) => kEntry.test(one))) {
      const entry = await this.readEntry(join(this.folder_, name));
      if (entry === undefined) left.push(name);
      else bodies.add(entry.body);
    }
    for (const name of [...left, ...names.filter((one) => kBody.test(one) && !bodies.has(one))]) {
      const path = join(this.folder_, name);
      const found = await lstat(path).catch(() => undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > unusedFor) await rm(path, { force: true });
    }
  }

  private async tidyOnce(): Promise<void> {
    if (this.tidied_) return;
    this.tidied_ = true;
    for (let version = 1; version < kStoreVersion; ++version) await removeStore(join(dirname(this.folder_), `v${version}`));
    await this.tidy(kDay);
  }

  lock(url: string, signal: AbortSignal): Promise<() => void> {
    return lockFile(join(this.folder_, `${key(url)}.lock`), signal);
  }

  private entryPath(url: string): string {
    return join(this.folder_, `${key(url)}.json`);
  }

  private async readEntry(path: string): Promise<Entry | undefined> {
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    try {
      const { sha256, ...entry } = JSON.parse(text) as Entry;
      return sha256 === digest(entry) && kBody.test(entry.body) ? entry : undefined;
    } catch {
      return undefined;
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** Removes the store of an older version of Peruse, and the folder if it is then empty. */
async function removeStore(folder: string): Promise<void> {
  const found = await lstat(folder).catch(() => undefined);
  if (!found?.isDirectory()) return;
  for (const name of await readdir(folder).catch(() => [])) {
    if (!kEntry.test(name) && !kBody.test(name) && !kPassing.test(name)) continue;
    await rm(join(folder, name), { force: true }).catch(() => {});
  }
  await rmdir(folder).catch(() => {});
}

function key(url: string): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 40);
}

function digest(entry: Entry): string {
  return createHash('sha256').update(JSON.stringify(entry)).digest('hex');
}

async function writeBody(path: string, body: ReadableStream<Uint8Array> | null): Promise<number> {
  const file = await open(path, 'wx');
  let bytes = 0;
  try {
    if (body !== null) {
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
        bytes += chunk.length;
      }
    }
    await file.sync();
    return bytes;
  } finally {
    await file.close();
  }
}

/** Opens the file when its first bytes are requested, so that unread responses do not hold files open. */
function readLazily(path: string): ReadableStream<Uint8Array> {
  let file: Awaited<ReturnType<typeof open>> | undefined;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        file ??= await open(path, 'r');
        const buffer = new Uint8Array(kChunkBytes);
        const { bytesRead } = await file.read(buffer);
        if (bytesRead > 0) return controller.enqueue(buffer.subarray(0, bytesRead));
        await file.close();
        controller.close();
      },
      async cancel() {
        await file?.close();
      },
    },
    { highWaterMark: 0 },
  );
}
