import { cp, mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Pipeline, type PipelineOptions, pipeline } from '../../web/dist/index_node.js';
import { setPlatform } from '../../web/dist/platform/current.js';
import { nodePlatform } from '../../web/dist/platform/platform_node.js';

const kModel = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));
const kMany = Array.from({ length: 600 }, (_, i) => `A gem of a film, told with patience and a dry wit, number ${i}.`);

let folder: string;
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'peruse-moving-')), 'model');
  await cp(kModel, folder, { recursive: true });
});
afterAll(() => rm(join(folder, '..'), { recursive: true }));

function load(options: PipelineOptions = {}): Promise<Pipeline<'text-classification'>> {
  return pipeline('text-classification', folder, { variant: 'simd', ...options });
}

const hasMoved = (classify: Pipeline) => expect.poll(() => classify.info.worker, { timeout: 20_000 }).toBe(true);
const later = () => new Promise((resolve) => setTimeout(resolve, 1500));

test.each([undefined, 'auto'] as const)('worker: %s moves after a long call, and answers the same', async (worker) => {
  const classify = await load({ worker });
  expect(classify.info.worker).toBe(false);
  const before = await classify(kMany);
  expect(await classify(kMany.slice(0, 1))).toEqual(before.slice(0, 1)); // while the worker loads
  const { calls, tokens } = await classify.usage();
  await hasMoved(classify);
  expect(await classify(kMany)).toEqual(before);
  const usage = await classify.usage();
  expect(usage.calls).toBe(calls + 1);
  expect(usage.tokens).toBeGreaterThan(tokens);
  let turns = 0;
  const timer = setInterval(() => turns++, 5);
  const start = performance.now();
  await classify(kMany);
  const milliseconds = performance.now() - start;
  clearInterval(timer);
  expect(turns).toBeGreaterThan(milliseconds / 50); // the event loop turns at least every 50 ms
  await classify.dispose();
  await expect(classify('x')).rejects.toMatchObject({ code: 'disposed' });
});

test('short calls, however many, stay', async () => {
  const classify = await load();
  await classify('a');
  await Promise.all(Array.from({ length: 50 }, () => classify('a'))); // the last call waits for long, but each works briefly
  await later();
  expect(classify.info.worker).toBe(false);
  await classify.dispose();
});

test.each<[string, () => Promise<Pipeline<'text-classification'>>]>([
  ['worker: false', () => load({ worker: false })],
  [
    'bytes, which the caller may have changed',
    async () => {
      const { readFile } = await import('node:fs/promises');
      const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
      const files = await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(kModel, name)))]));
      return pipeline('text-classification', Object.fromEntries(files) as Record<string, Uint8Array>, { variant: 'simd' });
    },
  ],
  [
    'an engine that another pipeline shares',
    async () => {
      const classify = await load();
      await pipeline('feature-extraction', folder, { variant: 'simd' });
      return classify;
    },
  ],
  [
    'files that have changed since',
    async () => {
      const classify = await load();
      await utimes(join(folder, 'model.safetensors'), new Date(), new Date(Date.now() - 5000));
      return classify;
    },
  ],
])('%s: stays', async (_, start) => {
  const classify = await start();
  const before = await classify(kMany);
  expect(await classify(kMany)).toEqual(before);
  await later();
  expect(classify.info.worker).toBe(false);
  expect(await classify(kMany)).toEqual(before);
  await classify.dispose();
});

test('where no worker can be started, calls go on here', async () => {
  setPlatform({ ...nodePlatform, startWorker: () => Promise.reject(new Error('no worker')) });
  try {
    const classify = await load();
    const before = await classify(kMany);
    expect(await classify(kMany)).toEqual(before);
    await later();
    expect(classify.info.worker).toBe(false);
    expect(await classify(kMany)).toEqual(before);
    await classify.dispose();
  } finally {
    setPlatform(nodePlatform);
  }
});

test('dispose() while it moves ends both', async () => {
  const classify = await load();
  await classify(kMany);
  await classify(kMany);
  await classify.dispose();
  await later();
  await expect(classify('x')).rejects.toMatchObject({ code: 'disposed' });
});

test("worker takes true, false and 'auto' only", async () => {
  await expect(load({ worker: 'yes' as 'auto' })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining("'auto'"),
  });
});
