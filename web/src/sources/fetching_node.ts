// Follows redirects one by one in Node, so that a token is sent only to its host, and headers of redirects are read.
import { createHash } from 'node:crypto';
import type { Hasher } from '../cache/sha256.js';
import { env } from '../env.js';
import { describeError } from '../errors.js';
import { commitOf, FetchFailure, type FetchFile, type FetchInit } from './fetching.js';

const kMostRedirects = 10;

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
  const ask = env.fetch ?? fetch;
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
