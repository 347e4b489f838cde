import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer } from 'vite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kIsolation, readFolder, type Site, tinyModels, type Visit, visit, visitServed } from '../browser/page/visit.js';

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

const kPages: [string, Record<string, string>, string][] = [
  ['an isolated', kIsolation, availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed'],
  ['a plain', {}, 'relaxed'],
];

function expectWork({ result, elsewhere, complaints }: Omit<Visit, 'requests'>, variant: string): void {
  expect(result).toMatchObject({ variant, tokens: 3, labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) } });
  expect(elsewhere).toEqual([]);
  expect(complaints.filter((line) => !/404|^\[vite\] connect/.test(line))).toEqual([]);
}

describe.each(['vite', 'webpack', 'esbuild', 'rollup'])('%s', (bundler) => {
  beforeAll(() => promisify(execFile)(process.execPath, [here('bundle.mjs'), bundler, app, join(out, bundler)]));

  test.each(kPages)('%s page works', async (_, headers, variant) => {
    expectWork(await visit({ ...(await readFolder(join(out, bundler), join(out, bundler))), ...models }, headers), variant);
  });
});

describe("vite's development server", () => {
  beforeAll(async () => {
    for (const [path, content] of Object.entries(models)) {
      const file = join(app, 'public', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content as string | Uint8Array);
    }
  });

  // The development server rewrites addresses of workers and moves dependencies.
  test.each(kPages)('%s page works, with no settings at all', async (_, headers, variant) => {
    const server = await createServer({ configFile: false, root: app, logLevel: 'error', server: { host: '127.0.0.1', port: 0, headers } });
    try {
      await server.listen();
      expectWork(await visitServed(server.resolvedUrls!.local[0]!), variant);
    } finally {
      await server.close();
    }
  });
});

test('a React component that is mounted, unmounted and mounted again leaves nothing behind', async () => {
  await promisify(execFile)(process.execPath, [here('bundle.mjs'), 'react', app, join(out, 'react')]);
  const { result, elsewhere, complaints } = await visit({ ...(await readFolder(join(out, 'react'), join(out, 'react'))), ...models }, {});
  expect(result).toMatchObject({ mounted: 2, aborted: 1, others: [], labels: [{ label: expect.any(String) }] });
  expect(elsewhere).toEqual([]);
  expect(complaints.filter((line) => !/404|React DevTools/.test(line))).toEqual([]);
});
