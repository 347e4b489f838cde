import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const native = new URL('../../tools/dev/native.mjs', import.meta.url).href;
const { foldersFor, kFolders } = (await import(native)) as { foldersFor(path: string): string[]; kFolders: string[] };
const folders = (path: string) =>
  readdirSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

test('every folder of core has tests that run after an edit', () => {
  for (const folder of folders('core')) {
    const tested = foldersFor(`core/${folder}/file.cc`);
    expect(tested.length, folder).toBeGreaterThan(0);
    for (const name of tested) expect(kFolders, folder).toContain(name);
  }
});

test('an edit of tests, headers, tables and shaders concerns its folder; other files concern none', () => {
  expect(foldersFor('tests/native/ops/linear_cases.cc')).toEqual(['ops']);
  expect(foldersFor('core/text/trie.h')).toEqual(['text']);
  expect(foldersFor('core/text/unicode_tables.inc')).toEqual(['text']);
  expect(foldersFor('core/backend/xnnpack/gemm.cc')).toEqual(['backend', 'ops']);
  expect(foldersFor('tests/native/backend/backend_test.cc')).toEqual(['backend']);
  expect(foldersFor('core/text/notes.md')).toEqual([]);
  expect(foldersFor('web/src/env.ts')).toEqual([]);
});
