import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DiskFolder } from '../../web/src/sources/file_access_node.js';

const kContent = Uint8Array.from({ length: 5 * (1 << 20) + 7 }, (_, i) => i % 251);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'peruse-folder-'));
  await writeFile(join(folder, 'whole'), kContent);
  await writeFile(join(folder, 'empty'), '');
});
afterAll(() => rm(folder, { recursive: true }));

async function chunksOf(name: string) {
  const file = await new DiskFolder(folder).open(name, new AbortController().signal);
  if (!file.found) throw new Error(`${name} is not there`);
  return file.chunks();
}

test('a chunk keeps its bytes until the next one is asked for', async () => {
  const parts: Uint8Array[] = [];
  for await (const chunk of await chunksOf('whole')) {
    await new Promise((resolve) => setTimeout(resolve, 20)); // enough time to read the next chunk
    parts.push(chunk.slice());
  }
  expect(parts.length).toBeGreaterThan(5);
  expect(Buffer.concat(parts).equals(kContent)).toBe(true);
});

test('an empty file has no chunk, and who stops early leaves nothing open', async () => {
  for await (const chunk of await chunksOf('empty')) expect(chunk).toBeUndefined();
  for (let i = 0; i < 50; ++i) {
    for await (const chunk of await chunksOf('whole')) {
      expect(chunk[0]).toBe(0);
      break;
    }
  }
});
