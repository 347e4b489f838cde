// Page and pipeline tests in Firefox and WebKitGTK. Peruse works without features that a browser lacks, and reports that.
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { SentimentFixture } from '../../node/support/demo_cases.js';
import { type ModelServer, startModelServer } from '../../node/support/model_server.js';
import { kIsolation, readFolder, type Site, tinyModels } from '../page/visit.js';
import { startFirefox } from './firefox.js';
import type { OtherBrowser } from './other_browser.js';
import { startWebKit } from './webkit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:";
const kSentiment = 'models/peruse-sentiment-convbert-tiny';

async function site(): Promise<Site> {
  const here = (name: string) => readFile(new URL(name, import.meta.url));
  const sentiment = join(kRoot, kSentiment);
  return {
    'index.html': '<!doctype html><meta charset="utf-8"><title>t</title><script type="module" src="/more.js"></script>',
    'more.js': await here('more.js'),
    'work.js': await here('../page/work.js'),
    ...(await readFolder(join(kRoot, 'web/bundle'), kRoot)),
    ...Object.fromEntries(
      Object.entries(await readFolder(sentiment, sentiment)).map(([name, content]) => [`${kSentiment}/${name}`, content]),
    ),
    ...(await tinyModels()),
  };
}

const kThreads = availableParallelism() > 1;

/** Expected builds. Threads need shared memory in workers, which WebKitGTK lacks. */
const kBrowsers: [string, () => Promise<OtherBrowser>, { isolated: RegExp; plain: RegExp }][] = [
  ['Firefox', startFirefox, { isolated: kThreads ? /-threads$/ : /^(simd|relaxed)$/, plain: /^(simd|relaxed)$/ }],
  ['WebKitGTK', startWebKit, { isolated: /^(simd|relaxed)(-threads)?$/, plain: /^(simd|relaxed)$/ }],
];

let learnt: unknown; // losses of the first training run

describe.each(kBrowsers)('%s', (name, start, expected) => {
  let browser: OtherBrowser;
  beforeAll(async () => {
    browser = await start();
    console.log(`${name} ${browser.version}`);
  });
  afterAll(() => browser?.close());

  describe.each([
    ['an isolated page', kIsolation, expected.isolated],
    ['a plain page', {}, expected.plain],
  ])('%s', (_, headers, variant) => {
    let server: ModelServer;
    beforeAll(async () => {
      server = await startModelServer(await site(), { ...headers, 'Content-Security-Policy': kPolicy, etag: '"1"' });
      await browser.goto(`${server.url}index.html`);
      while ((await browser.evaluate('typeof globalThis.others')) !== 'function') await new Promise((resolve) => setTimeout(resolve, 50));
    });
    afterEach(async () => {
      expect(await browser.evaluate('uncaught')).toEqual([]);
    });
    afterAll(() => server.close());

    // Must be first: WebKit stores nothing more for a file whose writer was interrupted.
    test('what was fetched is kept', async () => {
      const fetched = () =>
        server.calls.filter(({ method, path }) => method === 'GET' && path === `${kSentiment}/model.safetensors`).length;
      expect(await browser.evaluate('kept()')).toEqual({ kept: true, notices: [] });
      const once = fetched();
      expect(await browser.evaluate('kept()')).toEqual({ kept: true, notices: [] });
      expect(fetched()).toBe(once);
    });

    test('two models answer, in a worker, by a build that the browser has', async () => {
      const found = (await browser.evaluate('work()')) as Record<string, unknown>;
      console.log(`${name}: ${String(found.variant)}; ${String(found.reason)}`);
      expect(found).toMatchObject({ worker: true, labels: [{ label: expect.any(String) }], best: { answer: expect.any(String) } });
      expect(found.variant).toMatch(variant);
      if (!String(found.variant).startsWith('relaxed')) expect(found.reason).toContain('this engine has no relaxed SIMD');
      if (!String(found.variant).endsWith('-threads')) expect(found.reason).toContain('one thread, because');
    });

    test('a trained model gives the numbers that it gives everywhere', async () => {
      const { fp32, q8, here } = (await browser.evaluate('sentiment()')) as Record<
        'fp32' | 'q8' | 'here',
        { label: string; score: number }
      >;
      const fixture = await readFile(join(kRoot, 'tests/fixtures/demo/sentiment.json'), 'utf8'); // By the reference in float64.
      const { cases } = JSON.parse(fixture) as SentimentFixture;
      const { label, score } = cases.find(({ text }) => text === 'A gem.')!.labels[0]!;
      for (const one of [fp32, here]) {
        expect(one.label).toBe(label);
        expect(one.score).toBeCloseTo(score, 4);
      }
      expect(q8.label).toBe(label);
    });

    test('a page teaches a model, the same to the bit with threads and without, here and elsewhere', async () => {
      const { threads, reason, losses, label } = (await browser.evaluate('lesson()')) as Record<string, unknown>;
      console.log(`${name} teaches with ${String(threads)} thread(s)`);
      const several = String(variant).includes('-threads');
      if (several && name === 'Firefox') expect(threads).toBeGreaterThan(1);
      if (threads === 1) expect(reason).toContain('one thread, because');
      expect(['plant', 'tool']).toContain(label);
      learnt ??= losses;
      expect(losses).toEqual(learnt);
    });

    test('errors, an inspection, and a GPU that is not there', async () => {
      const { code, tokens, device, reason, gpu } = (await browser.evaluate('others()')) as Record<string, unknown>;
      expect(code).toBe('invalid_argument');
      expect(tokens).toBeGreaterThan(3);
      expect(device === 'webgpu' ? '' : reason).toMatch(/^$|the CPU, because/);
      expect(gpu).toMatch(/^(webgpu|no_gpu|gpu_failed|gpu_lost)$/);
    });
  });
});
