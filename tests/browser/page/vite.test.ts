// An app that Vite bundles finds the worker and the wasm, with and without threads. Vite needs one setting: worker.format 'es'.
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kIsolation, readFolder, tinyModels, visit } from './visit.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'peruse-vite-'));
  await build({
    configFile: false,
    root: fileURLToPath(new URL('vite_app/', import.meta.url)),
    logLevel: 'error',
    worker: { format: 'es' },
    build: { outDir: folder, emptyOutDir: true },
  });
}, 120_000);
afterAll(() => rm(folder, { recursive: true }));

test.each([
  ['an isolated', kIsolation, availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed'],
  ['a plain', {}, 'relaxed'],
])('%s page made by Vite works', async (_, headers, variant) => {
  const site = { ...await readFolder(folder, folder), ...await tinyModels() };
  const { result, elsewhere } = await visit(site, headers);
  expect(result).toMatchObject({ variant, labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) } });
  expect(elsewhere).toEqual([]);
});
