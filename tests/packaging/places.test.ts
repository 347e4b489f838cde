import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, type Worker } from 'playwright';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { kChromiumFlags, kChromiumPath } from '../browser/chromium.js';
import { kIsolation, readFolder, type Site, tinyModels, visit } from '../browser/page/visit.js';
import { noteUncaught } from '../browser/uncaught.js';

const { folder } = inject('installed');
const kBundle = join(folder, 'node_modules/peruse/web/bundle');
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:";

let site: Site;
beforeAll(async () => {
  site = {
    'work.js': await readFile(here('../browser/page/work.js')),
    ...(await readFolder(here('places'), here('places'))),
    ...Object.fromEntries(Object.entries(await readFolder(kBundle, kBundle)).map(([path, content]) => [`peruse/${path}`, content])),
    ...(await tinyModels()),
  };
});

const kGood = { labels: [{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }], best: { answer: expect.any(String) } };

function page(script: string): Site {
  return {
    ...site,
    'index.html': `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><script type="module" src="/${script}"></script>`,
  };
}

describe.each([
  ['an isolated', kIsolation],
  ['a plain', {}],
])('on %s page', (kind, headers) => {
  const threads = kind === 'an isolated' && availableParallelism() > 1;

  test('a module worker', async () => {
    const { result, elsewhere } = await visit(page('module_worker.js'), { ...headers, 'Content-Security-Policy': kPolicy });
    expect(result).toMatchObject({ ...kGood, variant: threads ? 'relaxed-threads' : 'relaxed' });
    expect(elsewhere).toEqual([]);
  });

  test('a service worker, on one thread: it can start no workers', async () => {
    const { result, elsewhere } = await visit(page('service_worker_page.js'), { ...headers, 'Content-Security-Policy': kPolicy });
    expect(result).toMatchObject({ ...kGood, variant: 'relaxed', threads: 1 });
    expect(elsewhere).toEqual([]);
  });

  test("a service worker that imports 'peruse' is told what to import", async () => {
    const script = String(site['service_worker.js']).replace('peruse-service-worker.js', 'peruse.js');
    const { result } = await visit({ ...page('service_worker_page.js'), 'service_worker.js': script }, headers);
    expect(result).toEqual({ error: expect.stringMatching(/^unsupported: .*import from 'peruse\/service-worker'/) });
  });

  test("a service worker that imports 'peruse/inline'", async () => {
    const script = String(site['service_worker.js']).replace('peruse-service-worker.js', 'peruse-inline.js');
    const { result } = await visit({ ...page('service_worker_page.js'), 'service_worker.js': script }, headers);
    expect(result).toMatchObject({ ...kGood, variant: 'simd', worker: false });
  });

  test('peruse/inline, whose worker is a blob; in the page itself where the policy allows no blob', async () => {
    const inline = page('inline.js');
    inline['inline.js'] =
      "import { pipeline } from './peruse/peruse-inline.js'; import { work } from './work.js'; globalThis.work = () => work(pipeline);";
    const { result, requests } = await visit(inline, headers);
    expect(result).toMatchObject({ ...kGood, worker: true, variant: threads ? 'simd-threads' : 'simd' });
    expect(requests.filter((path) => path.startsWith('peruse/'))).toEqual(['peruse/peruse-inline.js']);
    const refused = await visit(inline, { ...headers, 'Content-Security-Policy': kPolicy });
    expect(refused.result).toMatchObject({
      ...kGood,
      worker: false,
      variant: 'simd',
      reason: expect.stringMatching(/policy may forbid/),
    });
  });

  test('a service worker that leaves the device to us: the CPU, for it can load nothing more', async () => {
    const { result } = await visit(page('service_worker_page.js'), { ...headers, 'Content-Security-Policy': kPolicy }, '?device=auto');
    expect(result).toMatchObject({
      ...kGood,
      device: 'cpu',
      reason: expect.stringMatching(/^the CPU, because the GPU can't be used: .*import\(\)/),
    });
  });

  test('a service worker that asks for the GPU is told why not', async () => {
    const { result } = await visit(page('service_worker_page.js'), { ...headers, 'Content-Security-Policy': kPolicy }, '?device=webgpu');
    expect(result).toEqual({ error: expect.stringMatching(/^no_gpu: The GPU's part of Peruse could not be loaded: .*import\(\)/) });
  });
});

describe('an extension of Manifest V3', () => {
  let place: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'peruse-extension-'));
    await cp(here('places/extension'), place, { recursive: true });
    await cp(kBundle, join(place, 'peruse'), { recursive: true });
    await cp(here('../browser/page/work.js'), join(place, 'work.js'));
    for (const [path, content] of Object.entries(await tinyModels())) {
      await mkdir(dirname(join(place, path)), { recursive: true });
      await writeFile(join(place, path), content as Uint8Array);
    }
  });
  afterAll(() => rm(place, { recursive: true }));

  async function inChromium(use: (context: BrowserContext, background: Worker, base: string) => Promise<void>): Promise<void> {
    const profile = await mkdtemp(join(tmpdir(), 'peruse-profile-'));
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: kChromiumPath,
      headless: true,
      args: [
        ...kChromiumFlags,
        `--disable-extensions-except=${place}`,
        `--load-extension=${place}`,
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
      ],
      ignoreDefaultArgs: ['--disable-extensions'],
    });
    noteUncaught(context);
    try {
      const background = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
      const base = new URL('/', background.url()).href;
      expect(base).toMatch(/^chrome-extension:/);
      await expect.poll(() => background.evaluate('typeof work'), { timeout: 20_000 }).toBe('function'); // its module may still be loading
      await use(context, background, base);
    } finally {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    }
  }

  test('in its pages, and in its background', () =>
    inChromium(async (context, background, base) => {
      const requests: string[] = [];
      context.on('request', (request) => requests.push(request.url()));
      expect(await background.evaluate('work()')).toMatchObject({ ...kGood, variant: 'relaxed', threads: 1 });

      const popup = await context.newPage();
      const complaints: string[] = [];
      popup.on('console', (message) => complaints.push(message.text()));
      popup.on('pageerror', (error) => complaints.push(error.message));
      await popup.goto(`${base}page.html`);
      await popup.waitForFunction('globalThis.work');
      expect(await popup.evaluate('work()')).toMatchObject({ ...kGood, variant: 'relaxed' });
      expect(complaints.filter((line) => !/ERR_FILE_NOT_FOUND|404/.test(line))).toEqual([]);
      expect(requests.filter((url) => !url.startsWith(base))).toEqual([]);
    }));

  test("a background that imports 'peruse' is told what to import", async () => {
    const script = join(place, 'background.js');
    const text = await readFile(script, 'utf8');
    await writeFile(script, text.replace('peruse-service-worker.js', 'peruse.js'));
    try {
      await inChromium(async (_, background) => {
        const failed = `work().then(() => 'works', ({ code, message }) => code + ': ' + message)`;
        expect(await background.evaluate(failed)).toMatch(/^unsupported: .*import from 'peruse\/service-worker'/);
      });
    } finally {
      await writeFile(script, text);
    }
  });
});

describe('a page that was not fetched over http', () => {
  let place: string;
  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'peruse-file-'));
    for (const [path, content] of Object.entries(page('module.js'))) {
      await mkdir(dirname(join(place, path)), { recursive: true });
      await writeFile(join(place, path), content as Uint8Array);
    }
    await writeFile(
      join(place, 'index.html'),
      `<!doctype html><meta charset="utf-8"><title>t</title><script type="module">
        import { pipeline } from './peruse/peruse.js';
        globalThis.work = async () => {
          const classify = await pipeline('text-classification', './models/classifier/');
          const [{ label }] = await classify('t1 t2');
          const missing = await pipeline('text-classification', './models/none/').catch((error) => error.code);
          return { label, missing, variant: classify.info.variant };
        };
      </script>`,
    );
  });
  afterAll(() => rm(place, { recursive: true }));

  // As in a web view that may read files, and in apps with a scheme of their own that fetch() does not support.
  test('from a file, where files may be read', async () => {
    const browser = await chromium.launch({
      executablePath: kChromiumPath,
      args: [...kChromiumFlags, '--allow-file-access-from-files', '--host-resolver-rules=MAP * ~NOTFOUND'],
    });
    try {
      const tab = await browser.newPage();
      noteUncaught(tab.context());
      await tab.goto(`file://${place}/index.html`);
      await tab.waitForFunction('globalThis.work');
      expect(await tab.evaluate('work()')).toEqual({ label: expect.stringMatching(/^LABEL_/), missing: 'not_found', variant: 'relaxed' });
    } finally {
      await browser.close();
    }
  });
});
