// Pages made by bundlers from the installed package find the worker and the wasm, with threads and without.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kIsolation, readFolder, tinyModels, visit, type Site } from '../browser/page/visit.js';

const { folder: app } = inject('installed');
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let out: string;
let models: Site;
beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'peruse-bundles-'));
  models = await tinyModels();
  await cp(here('app'), app, { recursive: true });
  await cp(here('../browser/page/work.js'), join(app, 'work.js'));
});
afterAll(() => rm(out, { recursive: true }));

describe.each(['vite', 'webpack', 'esbuild', 'rollup'])('%s', (bundler) => {
  beforeAll(() => promisify(execFile)(process.execPath, [here('bundle.mjs'), bundler, app, join(out, bundler)]));

  test.each([
    ['an isolated', kIsolation, availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed'],
    ['a plain', {}, 'relaxed'],
  ])('%s page works', async (_, headers, variant) => {
    const { result, elsewhere, complaints } = await visit({ ...await readFolder(join(out, bundler), join(out, bundler)), ...models }, headers);
    expect(result).toMatchObject({ variant, labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) } });
    expect(elsewhere).toEqual([]);
    expect(complaints.filter((line) => !/404/.test(line))).toEqual([]);
  });
});
