// Reads models' files in a page's own thread: loaded on use (engine/files_part.ts), because workers read the files of most loads.
import { FileStore } from '../../cache/file_store.js';
import { PeruseError } from '../../errors.js';
import type { FileAccess } from '../file_access.js';
import type { UrlSpec } from '../source.js';
import { CachedFolder } from './folder_cached.js';
import { UrlFolder } from './folder_url.js';
import { healing } from './healing.js';
import { openCache, openFolder } from './open_folder.js';
import type { CheckedModel } from './stored_models.js';

export { openOpfs } from '../../cache/cache_opfs.js';
export { readWidened } from '../weights/widened.js';
export { serveFolder } from './folder_port.js';
export { healing } from './healing.js';
export { openFolder } from './open_folder.js';
export { openStored } from './stored_files.js';

// Compares a stored model with its server, and downloads the files that have changed.

/** Sends one request for a model of the hub; for others, one for each file. `update` downloads what has changed. */
export async function checkModel(spec: UrlSpec, access: FileAccess, update: boolean, signal: AbortSignal): Promise<CheckedModel> {
  const cache = spec.keep && (await openCache(spec.keep, access));
  const absent: CheckedModel = { stored: undefined, latest: undefined, isCurrent: false, updated: 0 };
  if (!spec.keep || !cache) return absent;
  const store = new FileStore(cache);
  const options = { immutable: spec.keep.immutable, offline: false, name: spec.name, notice: () => {} };
  const folder = new CachedFolder(new UrlFolder(spec, access, true), store, options);
  const found = await folder.compare(signal);
  if (!update || found.isCurrent || found.files.length === 0) return { ...absent, ...withoutFiles(found) };
  const updated = await healing(async (opened) => {
    const again = await openFolder(spec, { ...access, opened });
    if (!(again instanceof CachedFolder)) throw new PeruseError('internal', 'The cache could not be opened again.');
    return again.update(found.files, found.latest, signal);
  });
  return { stored: found.latest, latest: found.latest, isCurrent: true, updated };
}

function withoutFiles({ files: _, ...found }: Awaited<ReturnType<CachedFolder['compare']>>) {
  return found;
}
