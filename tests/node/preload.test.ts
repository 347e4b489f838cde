// modelCache.preload() fills the cache, so that a load asks no server; modelCache.has() says so beforehand.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { env, isSupported, modelCache, pipeline } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { readTiny } from './support/tiny_files.js';

let cache: string;
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'peruse-preload-'));
  env.cacheFolder = cache;
});
afterAll(async () => {
  env.cacheFolder = undefined;
  await rm(cache, { recursive: true });
});

test.each([undefined, 'text-classification'] as const)('a preloaded model loads without a server; task: %s', async (task) => {
  const { files } = await readTiny('bert-sequence');
  const server = await startModelServer(files);
  try {
    expect(await modelCache.has(server.url)).toBe(false);
    expect(server.requests).toEqual([]);
    await modelCache.preload(server.url, task === undefined ? {} : { task });
    expect(await modelCache.has(server.url)).toBe(true);
    expect(await modelCache.has(server.url, { weights: 'onnx' })).toBe(false);
  } finally {
    await server.close();
  }
  const classify = await pipeline('text-classification', server.url, { offline: true });
  expect(await classify('a')).toHaveLength(1);
  await classify.dispose();
});

test('files at hand are cached; what can not be is an error', async () => {
  const { files } = await readTiny('bert-sequence');
  expect(await modelCache.has(files)).toBe(true);
  await expect(modelCache.preload({ 'config.json': '{}' })).rejects.toMatchObject({ name: 'PeruseError' });
  await expect(modelCache.preload(files, { task: 'nothing' as never })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(modelCache.has('not a source')).rejects.toMatchObject({ code: 'invalid_argument' });
  const controller = new AbortController();
  controller.abort();
  await expect(modelCache.preload(files, { signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' });
});

test('Node is supported', () => {
  expect(isSupported()).toBe(true);
});
