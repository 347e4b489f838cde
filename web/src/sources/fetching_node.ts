// Follows redirects one by one in Node, so that a token is sent only to its host, and headers of redirects are read.
import { createHash } from 'node:crypto';
import type { Hasher } from '../cache/sha256.js';
import type { FetchFile } from './fetching.js';

const kMostRedirects = 10;

export const fetchInNode: FetchFile = async (url, init) => {
  const headers = { ...init.headers };
  let linkedEtag: string | undefined;
  let at = new URL(url);
  for (let hop = 0; ; ++hop) {
    const response = await fetch(at, { ...init, headers, redirect: 'manual' });
    linkedEtag ??= response.headers.get('x-linked-etag') ?? undefined;
    const location = response.headers.get('location');
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return { response, linkedEtag };
    await response.body?.cancel();
    if (hop === kMostRedirects) throw new Error(`more than ${kMostRedirects} redirects`);
    const next = new URL(location, at);
    if (next.origin !== at.origin) delete headers.Authorization;
    at = next;
  }
};

export function nodeSha256(): Hasher {
  const hash = createHash('sha256');
  return {
    update: (bytes) => {
      hash.update(bytes);
    },
    hex: () => hash.digest('hex'),
  };
}
