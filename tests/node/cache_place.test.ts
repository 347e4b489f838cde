import { userInfo } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { defaultCacheFolder } from '../../web/src/cache/cache_node.js';
import { nodePaths } from '../../web/src/sources/file_access_node.js';
import { resolveSource } from '../../web/src/sources/source.js';
import { kSentiment } from './support/model_hub.js';

afterEach(() => void vi.unstubAllEnvs());

test('the cache is never a folder of the program: relative paths in the environment are ignored', () => {
  const home = join(userInfo().homedir, '.cache/peruse/models');
  vi.stubEnv('XDG_CACHE_HOME', 'relative');
  vi.stubEnv('HOME', '');
  expect(defaultCacheFolder()).toBe(home);
  vi.stubEnv('HOME', 'relative');
  expect(defaultCacheFolder()).toBe(home);
  vi.stubEnv('XDG_CACHE_HOME', '/absolute');
  expect(defaultCacheFolder()).toBe('/absolute/peruse/models');
});

test('a file: URL is a folder, as an object and as a string', async () => {
  const url = pathToFileURL(kSentiment);
  for (const source of [url, url.href]) expect(await resolveSource(source, {}, nodePaths)).toMatchObject({ kind: 'folder' });
  await expect(resolveSource(new URL('file:///nowhere/model'), {}, nodePaths)).rejects.toMatchObject({ code: 'not_found' });
});
