import { FileStore, kStoreVersion } from '../../cache/file_store.js';
import type { CustomCache } from '../../env.js';
import { describeError, PeruseError } from '../../errors.js';
import { Late, patience, within } from '../../patience.js';
import type { FileAccess } from '../file_access.js';
import { fetchThrough } from '../http/fetch_port.js';
import type { FileFacts, MissingFile, ModelFile, ModelFolder, SourceSpec, StoreChoice, UrlSpec } from '../source.js';
import { CachedFolder } from './folder_cached.js';
import { PortFolder } from './folder_port.js';
import { UrlFolder } from './folder_url.js';
import type { RecoverableFolder, Recovery } from './healing.js';
import { lookAt } from './look.js';

export async function openFolder(source: SourceSpec, access: FileAccess): Promise<ModelFolder> {
  switch (source.kind) {
    case 'bytes':
      return new BytesFolder(source.files, source.versions);
    case 'port':
    case 'url': {
      // a load that is repeated goes on with what its folders know
      const opened = access.opened?.get(source) ?? (source.kind === 'port' ? new PortFolder(source.port) : await openUrl(source, access));
      access.opened?.set(source, opened);
      return opened;
    }
    case 'either':
      return new EitherFolder(await openFolder(source.first, access), await openFolder(source.second, access));
    case 'folder':
      if (access.openDiskFolder) return access.openDiskFolder(source.path);
      throw new PeruseError('unsupported', `Folders on disk can't be read here: ${source.path}.`);
  }
}

async function openUrl(source: UrlSpec, given: FileAccess): Promise<CachedFolder | UrlFolder> {
  const access = source.fetch ? { ...given, fetchFile: fetchThrough(source.fetch) } : given;
  const { keep, name, offline = false } = source;
  const notice = access.notice ?? (() => {});
  const onFault = (why: string) => notice(`The cached files of ${name} can't be read: ${why}.`);
  const cache =
    keep &&
    (await openCache(keep, access).catch((error: unknown) => {
      onFault(describeError(error));
      return undefined;
    }));
  const remote = new UrlFolder(source, access, cache !== undefined);
  if (cache) return new CachedFolder(remote, new FileStore(cache, onFault), { immutable: keep!.immutable, offline, name, notice });
  if (!offline) return remote;
  throw new PeruseError('offline', `${name} can't be fetched: Peruse is offline, and no cache is in use.`);
}

export async function openCache({ custom, opfs, folder }: StoreChoice, access: FileAccess): Promise<CustomCache | undefined> {
  if (custom) return custom;
  const open = opfs ? openOpfs(access) : (access.openCache ?? openBrowserCache)(folder);
  return within(opfs ? patience.cache : patience.cacheAnswer, open).catch((error: unknown) => {
    throw error instanceof Late ? new PeruseError('internal', 'the cache does not answer') : error;
  });
}

/** The part for the private file system is only loaded if `env.cache` names it. */
async function openOpfs({ openOpfs: open }: FileAccess): Promise<CustomCache> {
  if (open) return open(kStoreVersion);
  throw new PeruseError('unsupported', "env.cache is 'opfs', and only pages have a private file system");
}

const kPrefix = 'peruse-models-v';

/** Opens Cache Storage; undefined if the page must not store anything: without https, in sandboxed frames, in some private windows. */
async function openBrowserCache(): Promise<CustomCache | undefined> {
  if (typeof caches === 'undefined') return undefined;
  try {
    for (const name of await caches.keys()) {
      if (name.startsWith(kPrefix) && Number(name.slice(kPrefix.length)) < kStoreVersion) await caches.delete(name);
    }
    return await caches.open(`${kPrefix}${kStoreVersion}`);
  } catch {
    return undefined;
  }
}

const kChunkBytes = 1 << 20; // bounds the engine's staging buffer

class BytesFolder implements ModelFolder {
  constructor(
    private readonly files_: Map<string, Uint8Array | Blob>,
    private readonly versions_?: Map<string, string>,
  ) {}

  async open(file: string): Promise<ModelFile | MissingFile> {
    const content = this.files_.get(file);
    if (content === undefined) {
      return { found: false, where: file, why: `only ${[...this.files_.keys()].join(', ')} were given` };
    }
    const size = content instanceof Blob ? content.size : content.length;
    return {
      found: true,
      where: file,
      size,
      version: this.versions_?.get(file),
      chunks: () => slices(content, size, file),
      close: async () => {},
    };
  }
}

async function* slices(content: Uint8Array | Blob, size: number, file: string): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < size; start += kChunkBytes) {
    const end = Math.min(size, start + kChunkBytes);
    if (content instanceof Uint8Array) {
      yield content.subarray(start, end);
      continue;
    }
    try {
      yield new Uint8Array(await content.slice(start, end).arrayBuffer());
    } catch (error) {
      throw new PeruseError('not_found', `${file} can't be read any more: ${describeError(error)}.`, { cause: error });
    }
  }
}

class EitherFolder implements ModelFolder {
  private chosen_: Promise<RecoverableFolder> | undefined;

  constructor(
    private readonly first_: RecoverableFolder,
    private readonly second_: RecoverableFolder,
  ) {}

  /** The recovery of the chosen folder. serveFolder() (folder_port.ts) asks for it. */
  get recovery(): Recovery {
    const chosen = async () => (await this.chosen_)?.recovery;
    return {
      doubt: async (error) => (await chosen())?.doubt(error) ?? false,
      giveUp: async (error) => (await chosen())?.giveUp(error),
      settle: async () => (await chosen())?.settle(),
    };
  }

  async open(file: string, signal: AbortSignal, firstBytes?: number): Promise<ModelFile | MissingFile> {
    this.chosen_ ??= this.choose(signal);
    return (await this.chosen_).open(file, signal, firstBytes);
  }

  async look(file: string, signal: AbortSignal): Promise<FileFacts | MissingFile> {
    this.chosen_ ??= this.choose(signal);
    return lookAt(await this.chosen_, file, signal);
  }

  async openInForm(file: string, form: string, signal: AbortSignal): Promise<ModelFile | undefined> {
    this.chosen_ ??= this.choose(signal);
    return (await this.chosen_).openInForm?.(file, form, signal);
  }

  private async choose(signal: AbortSignal): Promise<RecoverableFolder> {
    const config = await this.first_.open('config.json', signal).catch((error: unknown) => {
      // the page's own server is unreachable, so the second folder is used
      if (error instanceof PeruseError && error.code === 'network') return undefined;
      throw error;
    });
    if (!config?.found) return this.second_;
    await config.close();
    return this.first_;
  }
}
