import { openBrowserCache } from '../cache/cache_browser.js';
import { FileStore, kStoreVersion } from '../cache/file_store.js';
import type { CustomCache } from '../env.js';
import { describeError, PeruseError } from '../errors.js';
import { Late, patience, within } from '../patience.js';
import { fetchThrough } from './fetch_port.js';
import type { FileAccess } from './file_access.js';
import { BytesFolder } from './folder_bytes.js';
import { CachedFolder } from './folder_cached.js';
import { EitherFolder } from './folder_either.js';
import { PortFolder } from './folder_port.js';
import { UrlFolder } from './folder_url.js';
import type { ModelFolder, SourceSpec, StoreChoice, UrlSpec } from './source.js';

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
