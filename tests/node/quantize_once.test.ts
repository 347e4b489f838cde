// A float checkpoint that is loaded as q8 is cached as q8: the same results, a smaller file, and never anything else than the server has.
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { describe, env, modelCache, type PipelineOptions, pipeline } from '../../web/dist/index_node.js';
import { type ModelServer, startModelServer } from './support/model_server.js';
import { type Files, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const { files } = await readTiny('deberta-v2-sequence');
const kWeights = (files as Record<string, Uint8Array>)['model.safetensors']!;

const folders: string[] = [];
let server: ModelServer;
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'peruse-once-'));
  folders.push(folder);
  env.cacheFolder = folder;
  server = await startModelServer(files as Files, { etag: '"1"' });
  return () => server.close();
});
afterAll(async () => {
  env.cacheFolder = undefined;
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
});

async function scores(source: string | Files, options: PipelineOptions = {}) {
  const classify = await pipeline('text-classification', source, { dtype: 'q8', variant: 'simd', ...options });
  try {
    const results = await classify(tinyText([3, 1, 4, 1, 5, 9, 2, 6]), { top_k: null, function_to_apply: 'none' });
    return { results, info: classify.info };
  } finally {
    await classify.dispose();
  }
}

const stored = async () => (await modelCache.list()).filter(({ url }) => url.includes('safetensors'));
const fetched = () => server.calls.filter(({ method, path }) => method === 'GET' && path === 'model.safetensors').length;

test.each(['q8', 'q4'] as const)('the second load reads the %s weights, with the bits of quantising while loading', async (dtype) => {
  const { results } = await scores(files as Files, { dtype });
  expect((await scores(server.url, { dtype })).results).toEqual(results);
  const [copy, ...others] = await stored();
  expect(others).toEqual([]);
  expect(copy).toMatchObject({ url: `${server.url}model.safetensors.peruse-${dtype}` });
  expect(copy!.bytes).toBeLessThan(0.7 * kWeights.length);
  const before = fetched();
  const again = await scores(server.url, { dtype });
  expect(again.results).toEqual(results);
  expect(again.info.dtype).toBe(dtype);
  expect(again.info.notices).toEqual([]);
  expect(again.info.weights.file).toBe('model.safetensors');
  expect(again.info.bytes).toBeLessThan(kWeights.length);
  expect(fetched()).toBe(before);
  expect((await scores(server.url, { dtype, offline: true })).results).toEqual(results);
  const { downloads } = await describe(server.url);
  expect(downloads.map(({ dtype, cached }) => [dtype, cached])).toEqual([
    ['fp32', false],
    ['fp16', false],
    ['q8', dtype === 'q8'],
    ['q4', dtype === 'q4'],
  ]);
  const own = downloads.find((one) => one.dtype === dtype)!;
  expect(own.bytes).toBe(again.info.bytes);
  expect((await describe(server.url, { local_files_only: true })).downloads).toEqual([own]);
  expect(await modelCache.delete(server.url)).toBeGreaterThan(2);
  expect(await stored()).toEqual([]);
});

test("cache: 'source' and other precisions store the file of the server", async () => {
  await scores(server.url, { cache: 'source' });
  expect(await stored()).toMatchObject([{ url: `${server.url}model.safetensors`, bytes: kWeights.length }]);
  const before = fetched();
  await scores(server.url); // The source is there: no copy is made of it.
  expect(fetched()).toBe(before);
  expect(await stored()).toHaveLength(1);
  await modelCache.clear();
  await scores(server.url, { dtype: 'fp16' });
  expect(await stored()).toMatchObject([{ bytes: kWeights.length }]);
  await expect(scores(server.url, { cache: 'all' as 'auto' })).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('a file that has changed on the server is fetched again', async () => {
  await scores(server.url);
  const before = fetched();
  const changed = Uint8Array.from(kWeights);
  changed[changed.length - 4]! ^= 1;
  const headers = { 'content-type': 'application/octet-stream', 'content-length': changed.length, etag: '"2"' };
  server.files.set('model.safetensors', ({ method }, response) => {
    response.writeHead(200, headers).end(method === 'HEAD' ? undefined : changed);
  });
  const { results } = await scores(server.url);
  expect(fetched()).toBeGreaterThan(before);
  expect(results).toEqual((await scores({ ...(files as Files), 'model.safetensors': changed })).results);
});

test('a transfer that breaks stores nothing', async () => {
  server.files.set('model.safetensors', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': kWeights.length, etag: '"1"' });
    response.write(kWeights.subarray(0, kWeights.length >> 1), () => response.destroy());
  });
  await expect(scores(server.url)).rejects.toMatchObject({ code: 'network' });
  expect(await stored()).toEqual([]);
});

/** Changes the file of the copy, which is the largest one of the cache. */
async function harmCopy(harm: (path: string) => Promise<void>) {
  const folder = join(env.cacheFolder!, 'v3');
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  await harm(paths[sizes.indexOf(Math.max(...sizes))]!);
}

test.each([
  ['cut', (path: string) => truncate(path, 1000)],
  ['lost', (path: string) => rm(path)],
] as const)('a copy that was %s is made again', async (_, harm) => {
  const { results } = await scores(server.url);
  const copies = await stored();
  await harmCopy(harm);
  const before = fetched();
  expect((await scores(server.url)).results).toEqual(results);
  expect(fetched()).toBeGreaterThan(before);
  expect((await stored()).map(({ url, bytes }) => [url, bytes])).toEqual(copies.map(({ url, bytes }) => [url, bytes]));
});

test('a copy whose bytes were changed is never used: the load begins again', async () => {
  const { results } = await scores(server.url);
  await harmCopy(async (path) => {
    const bytes = await readFile(path);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(path, bytes);
  });
  expect((await scores(server.url)).results).toEqual(results);
  expect(await stored()).toHaveLength(1);
});

test('two tasks of one checkpoint share what was stored', async () => {
  const [classify, embed] = await Promise.all([
    pipeline('text-classification', server.url, { dtype: 'q8', variant: 'simd' }),
    pipeline('feature-extraction', server.url, { dtype: 'q8', variant: 'simd' }),
  ]);
  await Promise.all([classify.dispose(), embed.dispose()]);
  expect(await stored()).toHaveLength(1);
});
