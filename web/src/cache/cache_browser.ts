import type { CustomCache } from '../env.js';
import { kStoreVersion } from './file_store.js';

const kPrefix = 'peruse-models-v';

/** Opens Cache Storage; undefined if the page must not store anything: without https, in sandboxed frames, in some private windows. */
export async function openBrowserCache(): Promise<CustomCache | undefined> {
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
