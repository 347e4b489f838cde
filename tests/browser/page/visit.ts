// Serves a site on 127.0.0.1, opens it in Chromium, and records messages and requests.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { afterAll } from 'vitest';
import { type Content, type ModelServer, startModelServer } from '../../node/support/model_server.js';
import { readTiny } from '../../node/support/tiny_files.js';
import { kChromiumFlags, kChromiumPath } from '../chromium.js';
import { noteUncaught } from '../uncaught.js';

export type Site = Record<string, Content>;

export const kIsolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

export async function readFolder(folder: string, root: string): Promise<Site> {
  const files: Site = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(root, path)] = await readFile(path);
  }
  return files;
}

export async function tinyModels(): Promise<Site> {
  const site: Site = {};
  for (const [name, tiny] of Object.entries({ classifier: 'deberta-v2-sequence', reader: 'deberta-v2-question' })) {
    for (const [file, content] of Object.entries((await readTiny(tiny)).files)) site[`models/${name}/${file}`] = content;
  }
  return site;
}

export interface Visit {
  result: Record<string, unknown>;
  requests: string[];
  elsewhere: string[];
  complaints: string[];
}

// One browser for each test file; each page has its own context and storage.
let running: Promise<Browser> | undefined;
afterAll(async () => (await running)?.close());

function theBrowser(): Promise<Browser> {
  // Other names do not resolve, so other servers cannot be reached.
  const args = [...kChromiumFlags, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  running ??= chromium.launch({ executablePath: kChromiumPath, args, headless: true });
  return running;
}

async function newContext(): Promise<BrowserContext> {
  const context = await (await theBrowser()).newContext();
  noteUncaught(context);
  return context;
}

export async function withPage<T>(
  site: Site,
  headers: Record<string, string>,
  use: (page: Page, server: ModelServer) => Promise<T>,
): Promise<T> {
  const server = await startModelServer(site, headers);
  try {
    return await inPage((page) => use(page, server));
  } finally {
    await server.close();
  }
}

/** Opens index.html with this query, and calls its function work(). */
export function visit(site: Site, headers: Record<string, string>, query = ''): Promise<Visit> {
  return withPage(site, headers, async (page, server) => ({
    ...(await letWork(page, server.url, `index.html${query}`)),
    requests: server.requests,
  }));
}

export function visitServed(url: string, path = 'index.html'): Promise<Omit<Visit, 'requests'>> {
  return inPage((page) => letWork(page, url, path));
}

export function withServed<T>(url: string, use: (page: Page) => Promise<T>): Promise<T> {
  return inPage(async (page) => {
    await page.goto(url);
    return use(page);
  });
}

async function inPage<T>(use: (page: Page) => Promise<T>): Promise<T> {
  const context = await newContext();
  try {
    return await use(await context.newPage());
  } finally {
    await context.close();
  }
}

/** Opens a page and closes it when it is quiet, so that a development server that reloads pages when it finds new packages has found them. */
export function openServed(url: string): Promise<void> {
  return withServed(url, async (page) => {
    await page.waitForFunction('globalThis.work');
    await page.waitForLoadState('networkidle');
  });
}

async function letWork(page: Page, site: string, path: string): Promise<Omit<Visit, 'requests'>> {
  const urls: string[] = [];
  const complaints: string[] = [];
  page.context().on('request', (request) => urls.push(request.url()));
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  await page.goto(`${site}${path}`);
  await page.waitForFunction('globalThis.work');
  const result = (await page.evaluate('work()')) as Record<string, unknown>;
  const own = [site, `blob:${site}`, 'data:'];
  const elsewhere = urls.filter((url) => !own.some((start) => url.startsWith(start)));
  return { result, elsewhere, complaints };
}
