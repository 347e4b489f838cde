// Many components of a page use one model; workers that a policy forbids, or that the page itself ends.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { expect, test } from 'vitest';
import { readFolder, type Site, tinyModels, withPage } from './visit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = 'models/peruse-sentiment-convbert-tiny';

async function site(): Promise<Site> {
  const files = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
  const model = await Promise.all(files.map(async (file) => [`${kSentiment}/${file}`, await readFile(`${kRoot}${kSentiment}/${file}`)]));
  return {
    'index.html': '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script type="module" src="/start.js"></script>',
    'start.js': "import * as peruse from '/web/bundle/peruse.js'; globalThis.peruse = peruse;",
    ...(Object.fromEntries(model) as Site),
    ...(await readFolder(`${kRoot}web/bundle`, kRoot)),
    ...(await tinyModels()),
  };
}

interface PageGlobals {
  peruse: typeof import('../../../web/dist/index.js');
  started: Worker[];
}

/** Opens the page, in which `started` has the workers that it starts. */
async function inPage<T>(headers: Record<string, string>, use: (page: Page) => Promise<T>): Promise<T> {
  return withPage(await site(), headers, async (page, server) => {
    await page.addInitScript(() => {
      const scope = globalThis as unknown as PageGlobals & { Worker: typeof Worker };
      scope.started = [];
      scope.Worker = class extends Worker {
        constructor(url: string | URL, options?: WorkerOptions) {
          super(url, options);
          scope.started.push(this);
        }
      };
    });
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction(() => 'peruse' in globalThis);
    return use(page);
  });
}

test('nine components load one model at once: one worker, one engine; the last one frees it', async () => {
  const found = await inPage({ ETag: '"1"' }, (page) =>
    page.evaluate(async (source) => {
      const { peruse, started } = globalThis as unknown as PageGlobals;
      const load = () => peruse.pipeline('text-classification', source);
      const all = await Promise.all(Array.from({ length: 9 }, load));
      const answers = await Promise.all(all.map((one) => one('A gem of a film.')));
      const memory = await Promise.all(all.map((one) => one.memory()));
      const model = await peruse.load(source);
      const embed = await model.pipeline('feature-extraction');
      const shared = [...all, model, embed].map(({ info }) => info.shared);
      const running = all[0]!(Array(600).fill('A waste of two hours of my life.')).then(() => 'batch');
      const urgent = all[1]!('A gem.', { priority: 'high' }).then(() => 'urgent');
      const first = await Promise.race([running, urgent]);
      await running;
      for (const one of [...all, model]) await one.dispose();
      const dims = (await embed('still here', { pooling: 'mean' })).dims;
      await embed.dispose();
      const next = await load();
      const workers = started.length;
      await next.dispose();
      return { answers, memory, shared, first, dims, workers, next: next.info.shared };
    }, `/${kSentiment}/`),
  );
  expect(found.shared.filter((one) => !one)).toHaveLength(1);
  expect(new Set(found.answers.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(new Set(found.memory.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(found).toMatchObject({ first: 'urgent', dims: [1, 128], workers: 2, next: false });
}, 60_000);

test('a call to a worker that the page has ended throws within seconds, and the next load starts a new one', async () => {
  const found = await inPage({}, (page) =>
    page.evaluate(async (source) => {
      const { peruse, started } = globalThis as unknown as PageGlobals;
      const code = (promise: Promise<unknown>) => promise.then(() => 'answered', (error: { code: string }) => error.code); // biome-ignore format: one line
      const classify = await peruse.pipeline('text-classification', source);
      const call = code(classify(Array(3000).fill('A waste of two hours of my life.')));
      await new Promise((resolve) => setTimeout(resolve, 30));
      for (const worker of started) worker.terminate();
      const start = performance.now();
      const codes = [await call, await code(classify('A gem.'))];
      const milliseconds = performance.now() - start;
      await classify.dispose();
      const next = await peruse.pipeline('text-classification', source);
      const answered = await code(next('A gem.'));
      await next.dispose();
      return { codes, milliseconds, answered };
    }, `/${kSentiment}/`),
  );
  expect(found).toMatchObject({ codes: ['worker_died', 'worker_died'], answered: 'answered' });
  expect(found.milliseconds).toBeLessThan(10_000);
}, 60_000);

test("a long call in a live worker is not taken for a worker's end", async () => {
  const found = await inPage({}, (page) =>
    page.evaluate(async (source) => {
      const { peruse } = globalThis as unknown as PageGlobals;
      const classify = await peruse.pipeline('text-classification', source);
      const end = performance.now() + 5000;
      let calls = 0;
      for (; performance.now() < end; ++calls) await classify(Array(400).fill('A waste of two hours of my life.'));
      await classify.dispose();
      return calls;
    }, `/${kSentiment}/`),
  );
  expect(found).toBeGreaterThan(0);
}, 60_000);

const kTypes = "require-trusted-types-for 'script'; trusted-types";

test.each([
  [
    "worker-src 'none'; script-src 'self' 'wasm-unsafe-eval'",
    'auto',
    { code: 'worker_died', message: /Content-Security-Policy.*worker-src/ },
  ],
  [`${kTypes} peruse`, 'auto', { worker: true, notices: [] }],
  [`${kTypes} 'none'`, 'auto', { worker: false, notices: [expect.stringContaining("Allow the policy 'peruse'")] }],
  [`${kTypes} 'none'`, true, { code: 'unsupported', message: /trusted-types peruse/ }],
] as const)(
  'policy %s, worker: %s',
  async (policy, worker, expected) => {
    const found = await inPage({ 'Content-Security-Policy': policy }, (page) =>
      page.evaluate(
        async ({ source, worker }) => {
          const { peruse } = globalThis as unknown as PageGlobals;
          try {
            const classify = await peruse.pipeline('text-classification', source, { worker });
            const [answer] = (await classify('A gem.')) as { label: string }[];
            const { worker: inWorker, notices } = classify.info;
            await classify.dispose();
            return { label: answer!.label, worker: inWorker, notices };
          } catch (error) {
            return { code: (error as { code: string }).code, message: (error as Error).message };
          }
        },
        { source: `/${kSentiment}/`, worker },
      ),
    );
    if ('code' in expected) {
      expect(found.code).toBe(expected.code);
      expect(found.message).toMatch(expected.message);
    } else expect(found).toMatchObject({ label: 'POSITIVE', ...expected });
  },
  60_000,
);
