import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { afterEach, expect, inject, test } from 'vitest';
import { kChromiumFlags, kChromiumPath } from '../browser/chromium.js';
import { noteUncaught } from '../browser/uncaught.js';

const { folder, demoTarball } = inject('installed');
const kVersion = (JSON.parse(readFileSync(join(folder, 'node_modules/peruse/package.json'), 'utf8')) as { version: string }).version;
const kModels = fileURLToPath(new URL('../../models', import.meta.url));

const kPatience = { timeout: 20_000 };

let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill();
});

async function startRegistry(hasDemo: boolean): Promise<{ url: string; asked: string[]; close(): void }> {
  const asked: string[] = [];
  const tarball = readFileSync(demoTarball);
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (!hasDemo || !request.url!.startsWith('/peruse-demo')) return void response.writeHead(404).end('{}');
    if (request.url!.endsWith('.tgz')) return void response.end(tarball);
    const dist = { tarball: `${url}peruse-demo/-/peruse-demo-${kVersion}.tgz`, shasum: createHash('sha1').update(tarball).digest('hex') };
    const about = { name: 'peruse-demo', version: kVersion, dist };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: 'peruse-demo', 'dist-tags': { latest: kVersion }, versions: { [kVersion]: about } }));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return { url, asked, close: () => server.close() };
}

async function serveDemo(
  args: string[] = [],
  environment: Record<string, string> = {},
): Promise<{ url: string; out: () => string; err: () => string }> {
  const command = [join(folder, 'node_modules/.bin/peruse'), 'serve-demo', '--port', '0', ...args];
  child = spawn(process.execPath, command, { cwd: folder, env: { ...process.env, ...environment } });
  let [out, err] = ['', ''];
  child.stderr!.on('data', (words) => {
    err += words;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child!.stdout!.on('data', (words) => {
      out += words;
      if (out.includes('\n')) resolve(out.split('\n')[0]!.trim());
    });
    child!.once('exit', (code) => reject(new Error(`serve-demo ended with ${code}: ${err}`)));
  });
  return { url, out: () => out, err: () => err };
}

/** Rules answer first, but only the model finds names. */
const kAnswerOfModel = 'blockquote:has-text("[PER")';
const kError = '.error:not(:empty)';

interface Visit {
  answer: string;
  error: string;
  failures: string[];
}

async function visit(url: string, awaited: string): Promise<Visit> {
  const browser = await chromium.launch({ executablePath: kChromiumPath, args: kChromiumFlags });
  try {
    const page = await browser.newPage();
    noteUncaught(page.context());
    const failures: string[] = [];
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto(url);
    await page.locator(`#redact ${awaited}`).first().waitFor({ state: 'attached', timeout: 60_000 });
    const text = async (selector: string) => (await page.locator(selector).first().textContent()) ?? '';
    return {
      answer: await text('#redact blockquote'),
      error: await text('#redact .error'),
      failures,
    };
  } finally {
    await browser.close();
  }
}

test('by itself: npm fetches the models once, and the page answers', async () => {
  const registry = await startRegistry(true);
  const cache = await mkdtemp(join(tmpdir(), 'peruse-demo-cache-'));
  const environment = { npm_config_registry: registry.url, npm_config_cache: join(cache, 'npm'), XDG_CACHE_HOME: cache, npm_execpath: '' };
  try {
    const { url, err } = await serveDemo([], environment);
    expect(err()).toContain('Fetching the demo models');
    expect(await visit(url, kAnswerOfModel)).toEqual({ answer: expect.stringContaining('['), error: '', failures: [] });
    const files = (await (await fetch(`${url}files.json`)).json()) as { inUse: string[]; bytesInUse: number };
    expect(files.inUse).toContain('models/peruse-tagger-convbert-tiny/model.safetensors');
    child!.kill();

    const before = registry.asked.length;
    const again = await serveDemo([], environment);
    expect(again.err()).toBe('');
    expect(registry.asked.length).toBe(before);
    expect((await fetch(`${again.url}models/peruse-sentiment-convbert-tiny/config.json`)).status).toBe(200);
  } finally {
    registry.close();
    await rm(cache, { recursive: true, force: true });
  }
});

test('where npm finds no models, the page says what to do', async () => {
  const registry = await startRegistry(false);
  const cache = await mkdtemp(join(tmpdir(), 'peruse-demo-cache-'));
  try {
    // npm -s sets the log level so, and npm prints warnings for unknown settings before the error.
    const unknown = Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8].map((n) => [`npm_config_setting_of_another_version_${n}`, 'true']));
    const environment = {
      ...unknown,
      npm_config_loglevel: 'silent',
      npm_config_registry: registry.url,
      npm_config_cache: join(cache, 'npm'),
      XDG_CACHE_HOME: cache,
      npm_execpath: '',
    };
    const { url, err } = await serveDemo(['--no-isolation'], environment);
    await expect.poll(err, kPatience).toMatch(/no demo models[\s\S]*404[\s\S]*npm install peruse-demo[\s\S]*--models/);
    expect((await fetch(url)).headers.get('cross-origin-opener-policy')).toBeNull();
    expect((await fetch(`${url}models/peruse-reader-deberta-tiny/config.json`)).status).toBe(404);
    expect(JSON.stringify(await (await fetch(`${url}files.json`)).json())).not.toContain('models/');
    expect((await visit(url, kError)).error).toContain('Install the package peruse-demo');
  } finally {
    registry.close();
    await rm(cache, { recursive: true, force: true });
  }
});

test('with --host other machines are told its address, and it answers to that', async () => {
  const { url, out } = await serveDemo(['--models', kModels, '--host', '0.0.0.0']);
  expect((await fetch(url)).status).toBe(200);
  const others = Object.values(networkInterfaces())
    .flat()
    .filter((one) => one && !one.internal && one.family === 'IPv4');
  for (const { address } of others as { address: string }[]) {
    const theirs = `http://${address}:${new URL(url).port}/`;
    await expect.poll(out, kPatience).toContain(`${theirs}   from other devices`);
    expect((await fetch(theirs)).status).toBe(200);
  }
});

test('serves the page with models that are elsewhere, and the page starts', async () => {
  const { url } = await serveDemo(['--models', kModels]);
  const statuses = await Promise.all(
    ['', 'app/main.js', 'peruse/peruse.js', 'peruse/peruse-simd.wasm', 'models/peruse-reader-deberta-tiny/config.json'].map(
      async (path) => (await fetch(url + path)).status,
    ),
  );
  expect(statuses).toEqual([200, 200, 200, 200, 200]);
  for (const path of ['../package.json', '..%2fbundle/peruse.js', 'models/..%2f..%2fpackage.json', 'nothing'])
    expect((await fetch(url + path)).status, path).toBe(404);

  const browser = await chromium.launch({ executablePath: kChromiumPath, args: kChromiumFlags });
  try {
    const page = await browser.newPage();
    noteUncaught(page.context());
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('requestfailed', (request) => errors.push(request.url()));
    await page.goto(url);
    await page.waitForSelector('h1');
    for (const link of await page.locator('footer nav a').evaluateAll((all) => all.map((each) => (each as HTMLAnchorElement).href)))
      expect((await fetch(link)).headers.get('content-type'), link).toMatch(/^text\//);
    expect(await page.locator('footer nav').textContent()).toMatch(/Documentation.*Source/);
    expect(await page.evaluate('crossOriginIsolated')).toBe(true);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('a port that is taken is one line', async () => {
  const { url } = await serveDemo(['--models', kModels]);
  const first = child!;
  await expect(serveDemo(['--models', kModels, '--port', new URL(url).port])).rejects.toThrow(
    /ended with 1: peruse serve-demo: Port \d+ of 127.0.0.1 can't be used: .*\(network\)/,
  );
  first.kill();
});
