// The site on a plain static host, in a subfolder and without headers; and the files that the first answer needs.
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import type { BrowserContext } from 'playwright';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answered, type Demo, startDemo } from './demo.js';

const kSite = fileURLToPath(new URL('../../../build/site/', import.meta.url));
const kTypes: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};
/** On 4G, 9 Mbit/s, 3.1 MB take 2.8 s. Redact answers without a tap. */
const kMostBytes = { redact: 3_150_000, sort: 2_350_000, ask: 2_900_000 };

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

/** Like GitHub Pages: in a subfolder, without headers except content types. */
async function startPlainHost(): Promise<{ url: string; sent(): number; close(): void }> {
  let sent = 0;
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/[?#].*/, '').replace(/^\/peruse\//, '');
    const file = join(kSite, path === '' ? 'index.html' : path);
    if (!request.url?.startsWith('/peruse/') || !existsSync(file) || !statSync(file).isFile())
      return void response.writeHead(404, { 'content-type': 'text/html' }).end(readFileSync(join(kSite, '404.html')));
    response.writeHead(200, { 'content-type': kTypes[extname(file)] ?? 'application/octet-stream' });
    sent += statSync(file).size;
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/peruse/`, sent: () => sent, close: () => void server.close() };
}

it('works in a folder of a host that sends no headers: it answers at once, and from the next visit on with threads and without a network', async () => {
  const host = await startPlainHost();
  const { page, complaints, requests, close } = await demo.visit({ serviceWorkers: 'allow' });
  try {
    let loads = 0;
    page.on('load', () => loads++);
    await page.goto(host.url);
    await answered(page.locator('#redact'));
    expect(loads).toBe(1);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
    await page.locator('.kept', { hasText: 'All of it is stored on this device now.' }).waitFor();
    host.close();
    await page.context().setOffline(true);
    await page.reload();
    await page.locator('#tab-ask').click();
    await answered(page.locator('#ask'));
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(requests.filter((address) => !address.startsWith(host.url) && !address.startsWith(demo.url))).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    host.close();
    await close();
  }
});

it.each(Object.entries(kMostBytes))('the first answer of %s needs at most %i bytes', async (tab, most) => {
  const sizes: Promise<number>[] = [];
  let weights: Promise<unknown> | undefined;
  const before = async (context: BrowserContext) => {
    weights = context.waitForEvent('requestfinished', (request) => request.url().endsWith('.safetensors.gzip'));
    context.on('requestfinished', (request) => sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize)));
  };
  const { page, requests, close } = await demo.visit({ at: tab, before });
  await answered(page.locator(`#${tab}`));
  await weights;
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  expect(bytes, 'the tab\u2019s model is among them').toBeGreaterThan(1_600_000);
  expect(bytes).toBeLessThan(most);
  expect(
    requests.filter((address) => /peruse-files\.js$/.test(address)),
    'a first visit does not need the readers of stored files',
  ).toEqual([]);
  const files = requests.filter((address) => address.includes('/models/'));
  expect(files.length).toBeGreaterThan(3);
  expect(files, 'each file is requested once').toEqual([...new Set(files)]);
  await close();
});

/** The page with its style, and its own scripts; the engine and the library have limits of their own (tools/release/size-limit.json). */
it('has less than 60 KB of scripts and styles of its own, compressed', () => {
  const files = ['app/main.js', 'app/request_first_model.js', 'offline.js', 'index.html'];
  const bytes = files.reduce((sum, name) => sum + brotliCompressSync(readFileSync(join(kSite, name))).length, 0);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThan(60_000);
});

it('has the tags that previews of links need, and no address that only works at the root of a host', () => {
  for (const file of ['index.html', '404.html', 'docs/cards/peruse-tagger-convbert-tiny.html']) {
    const html = readFileSync(join(kSite, file), 'utf8');
    expect(html, file).not.toMatch(/(src|href)="\/|\{\{/);
  }
  const page = readFileSync(join(kSite, 'index.html'), 'utf8');
  for (const name of ['title', 'description', 'image', 'type'])
    expect(page).toMatch(new RegExp(`property="og:${name}"\\s+content="[^"]+"`));
  expect(existsSync(join(kSite, 'preview.png'))).toBe(true);
});

it('has the documentation and the cards as pages, whose links lead to files of the site and to headings', () => {
  const pages = readdirSync(kSite, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
  expect(pages).toContain('docs/index.html');
  expect(readFileSync(join(kSite, 'index.html'), 'utf8')).toContain('href="./docs/index.html"');
  expect(pages.filter((page) => page.startsWith('docs/cards/')).length).toBeGreaterThanOrEqual(5);
  const broken = pages.flatMap((page) => {
    const links = [...readFileSync(join(kSite, page), 'utf8').matchAll(/ href="([^"]+)"/g)].map(([, link]) => link!);
    return links.flatMap((link) => {
      const [path, anchor] = link.split('#') as [string, string | undefined];
      const target = join(kSite, path === '' ? page : join(dirname(page), path), path.endsWith('/') ? 'index.html' : '');
      if (/^(https?|data|mailto):|^#$/.test(link)) return []; // '#' opens the menu on phones
      if (!existsSync(target) || !statSync(target).isFile()) return [`${page}: ${link}`];
      return anchor === undefined || readFileSync(target, 'utf8').includes(` id="${anchor}"`) ? [] : [`${page}: ${link}`];
    });
  });
  expect(broken).toEqual([]);
});

it('has guides with navigation, highlighted code, previous and next, dark mode and both searches, and a reference of every entry', async () => {
  const { entryNames } = (await import(new URL('../../../tools/docs.mjs', import.meta.url).href)) as { entryNames(): Map<string, string> };
  for (const name of entryNames().values())
    expect(readFileSync(join(kSite, `docs/modules/${name.replace('/', '_')}.html`), 'utf8'), name).toContain(`<h1>Module ${name}`);
  const guides = readdirSync(join(kSite, 'docs/guides'));
  expect(guides.length).toBeGreaterThanOrEqual(8);
  for (const guide of guides) {
    const html = readFileSync(join(kSite, 'docs/guides', guide), 'utf8');
    for (const part of [
      'id="tsd-nav-container"',
      'class="hl-',
      'rel="prev"',
      'rel="next"',
      '<select id="tsd-theme"',
      'id="tsd-search-script"',
    ])
      expect(html, guide).toContain(part);
    expect(html, guide).toMatch(/src="[^"]*meaning\.js"/);
    expect(html, guide).toContain('<p class="demo"><a href="../../index.html">');
  }
  expect(readFileSync(join(kSite, 'docs/assets/style.css'), 'utf8')).toContain('@media (prefers-color-scheme: dark)');
  expect(statSync(join(kSite, 'docs/assets/search.js')).size).toBeLessThan(360_000);
});

it('searches the words of the guides and the names of the reference, in a folder of any host', async () => {
  const host = await startPlainHost();
  const { page, complaints, requests, close } = await demo.visit();
  try {
    await page.goto(`${host.url}docs/guides/react.html`);
    await page.click('#tsd-search-trigger');
    const results = page.locator('#tsd-search-results li');
    for (const [words, title] of [
      ['offscreen document', 'A browser extension'], // words of the text only
      ['createRedactor', 'createRedactor'],
    ] as const) {
      await page.fill('#tsd-search-input', words);
      await results.first().filter({ hasText: title }).waitFor();
    }
    await page.fill('#tsd-search-input', 'offscreen document');
    await results.first().filter({ hasText: 'A browser extension' }).click();
    await page.waitForURL(/docs\/guides\/browser-extension\.html/);
    expect(requests.filter((address) => !address.startsWith(host.url) && !address.startsWith(demo.url))).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    host.close();
    await close();
  }
});

it('searches the guides by meaning, in the page, after it has said what that loads', async () => {
  const host = await startPlainHost();
  const { page, complaints, requests, close } = await demo.visit();
  try {
    await page.goto(`${host.url}docs/guides/react.html`);
    await page.click('#by-meaning-trigger');
    const dialog = page.locator('#by-meaning');
    const load = dialog.locator('.load');
    await load.filter({ hasText: /\(\d,\d{3} KB\)/ }).waitFor();
    const said = 1000 * Number(/\(([\d,]+) KB\)/.exec((await load.textContent())!)![1]!.replace(',', ''));
    const before = host.sent();
    await load.click();
    await dialog.locator('input').fill('hook for react components');
    await page.keyboard.press('Enter');
    const links = dialog.locator('li a');
    await links.first().waitFor();
    const loaded = host.sent() - before;
    expect(loaded).toBeLessThanOrEqual(said);
    expect(loaded).toBeGreaterThan(0.97 * said);
    expect((await links.allTextContents()).slice(0, 3).join()).toMatch(/React/);
    await links.first().click();
    await dialog.waitFor({ state: 'hidden' });
    const { pathname, hash } = new URL(page.url());
    expect(await page.locator(`[id="${decodeURIComponent(hash.slice(1))}"]`).count(), pathname).toBe(1);
    await page.click('#by-meaning-trigger'); // the visitor has agreed once
    await dialog.locator('input').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(requests.filter((address) => !address.startsWith(host.url) && !address.startsWith(demo.url))).toEqual([]);
    expect(complaints).toEqual([]);
  } finally {
    host.close();
    await close();
  }
});
