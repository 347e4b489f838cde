// The package on another origin, as on a CDN: by import map or full address, with and without threads, with and without a policy that allows
// workers from blobs. Also peruse/isolate.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kIsolation, readFolder, type Site, tinyModels, type Visit, visit, withPage } from '../browser/page/visit.js';
import { type ModelServer, startModelServer } from '../node/support/model_server.js';

const { folder } = inject('installed');
const kBundle = join(folder, 'node_modules/peruse/web/bundle');
const kThreads = availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed';

let cdn: ModelServer;
let models: Site;
let work: Uint8Array;
beforeAll(async () => {
  cdn = await startModelServer(await readFolder(kBundle, kBundle), { 'Access-Control-Allow-Origin': '*' });
  models = await tinyModels();
  work = await readFile(fileURLToPath(new URL('../browser/page/work.js', import.meta.url)));
});
afterAll(() => cdn.close());

const kHead = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title>';
const script = (from: string) =>
  `<script type="module">import { pipeline } from '${from}'; import { work } from './work.js'; globalThis.work = () => work(pipeline);</script>`;

function page(body: string): Site {
  return { 'index.html': kHead + body, 'work.js': work, ...models };
}
const byAddress = () => page(script(`${cdn.url}peruse.js`));
const byImportMap = () => page(`<script type="importmap">{ "imports": { "peruse": "${cdn.url}peruse.js" } }</script>${script('peruse')}`);

function expectWork({ result, elsewhere }: Visit, expected: object): void {
  expect(result).toMatchObject({ labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) }, ...expected });
  expect(elsewhere.filter((url) => !url.startsWith(cdn.url) && !url.startsWith('blob:'))).toEqual([]);
}

describe.each([
  ['an import map', byImportMap],
  ['a full address', byAddress],
])('by %s', (_, site) => {
  test('an isolated page works in a worker, with threads', async () => {
    expectWork(await visit(site(), kIsolation), { worker: true, variant: kThreads });
  });

  test('a plain page works in a worker', async () => {
    expectWork(await visit(site(), {}), { worker: true, variant: 'relaxed' });
  });
});

test('a policy that allows no worker from a blob: the page works in its own thread, and says so', async () => {
  const policy = `script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' ${cdn.url}; worker-src 'self'; connect-src 'self' ${cdn.url}`;
  const found = await visit(byAddress(), { ...kIsolation, 'Content-Security-Policy': policy });
  expectWork(found, { worker: false, variant: 'relaxed', threads: 1 });
  expect(found.result.reason).toMatch(/another origin.*workers from blobs.*the page's own thread/);
});

describe('peruse/isolate', () => {
  const isolating = (): Site => ({
    ...page(
      `<script type="module">
        import { isolate } from './peruse/peruse-isolate.js';
        globalThis.isolation = await isolate({ script: './peruse-isolate-worker.js' });
        const { pipeline } = await import('./peruse/peruse.js');
        const { work } = await import('./work.js');
        globalThis.work = () => work(pipeline);
      </script>`,
    ),
    ...ownBundle,
  });
  let ownBundle: Site;
  beforeAll(async () => {
    const files = await readFolder(kBundle, kBundle);
    ownBundle = Object.fromEntries(Object.entries(files).map(([path, content]) => [`peruse/${path}`, content]));
    ownBundle['peruse-isolate-worker.js'] = files['peruse-isolate-worker.js']!;
  });

  test('isolates a page whose host sends no headers', async () => {
    await withPage(isolating(), {}, async (tab, server) => {
      await tab.goto(`${server.url}index.html`);
      await tab.waitForFunction('globalThis.work', undefined, { timeout: 30_000 });
      expect(await tab.evaluate('globalThis.isolation')).toEqual({ isolated: true });
      expect(await tab.evaluate('work()')).toMatchObject({ worker: true, variant: kThreads });
    });
  });

  test('says why it can not, and the page goes on', async () => {
    const site = isolating();
    delete site['peruse-isolate-worker.js'];
    await withPage(site, {}, async (tab, server) => {
      await tab.goto(`${server.url}index.html`);
      await tab.waitForFunction('globalThis.work', undefined, { timeout: 30_000 });
      expect(await tab.evaluate('globalThis.isolation')).toEqual({
        isolated: false,
        reason: expect.stringMatching(/peruse-isolate-worker\.js.*can't be used/),
      });
      expect(await tab.evaluate('work()')).toMatchObject({ variant: 'relaxed', threads: 1 });
    });
  });
});
