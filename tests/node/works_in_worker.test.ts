import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodePlatform } from '../../web/src/platform/platform_node.js';

const kMegabyte = 1 << 20;
const files = (megabytes: number) => new Map([['model.safetensors', new Blob([new Uint8Array(megabytes * kMegabyte)])]]);

test('by the size of the weights: those that are given', async () => {
  expect(await nodePlatform.worksInWorker({ kind: 'bytes', name: 'm', files: files(1) })).toBe(false);
  expect(await nodePlatform.worksInWorker({ kind: 'bytes', name: 'm', files: files(65) })).toBe(true);
});

test('and those in a folder, shards together', async () => {
  const path = await mkdtemp(join(tmpdir(), 'peruse-size-'));
  try {
    expect(await nodePlatform.worksInWorker({ kind: 'folder', name: 'm', path })).toBe(false);
    for (const name of ['model-1.safetensors', 'model-2.safetensors']) {
      await writeFile(join(path, name), '');
      await truncate(join(path, name), 40 * kMegabyte);
    }
    expect(await nodePlatform.worksInWorker({ kind: 'folder', name: 'm', path })).toBe(true);
    expect(await nodePlatform.worksInWorker({ kind: 'folder', name: 'm', path: `${path}/none` })).toBe(false);
  } finally {
    await rm(path, { recursive: true });
  }
});

test('of a server nobody knows before; models there are seldom small', async () => {
  expect(await nodePlatform.worksInWorker({ kind: 'url', name: 'm', base: 'https://example.org/m/' })).toBe(true);
});
