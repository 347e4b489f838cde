import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kFolders = ['tiny', 'conv', 'attention', 'sharded'];

function bytesOf(path: string): number {
  const stats = statSync(path);
  return stats.isDirectory() ? readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name)), 0) : stats.size;
}

test('goldens are below 300 kB each and 12.7 MB together', () => {
  const parts = kFolders.flatMap((folder) => readdirSync(join(kFixtures, folder)).map((name) => `${folder}/${name}`));
  expect(parts.length).toBeGreaterThan(90);
  expect(parts.filter((part) => bytesOf(join(kFixtures, part)) >= 300_000)).toEqual([]);
  expect(parts.reduce((sum, part) => sum + bytesOf(join(kFixtures, part)), 0)).toBeLessThan(12_700_000);
  expect(bytesOf(join(kFixtures, 'gliner')) + bytesOf(join(kFixtures, 'gliclass'))).toBeLessThan(2_100_000); // 61 checkpoints
});
