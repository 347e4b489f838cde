// Serves a site on 127.0.0.1, opens it in Chromium, lets it work, and tells what it said and asked for.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { chromium } from 'playwright';
import { startModelServer, type Content } from '../../node/support/model_server.js';
import { readTiny } from '../../node/support/tiny_files.js';
import { kChromiumFlags, kChromiumPath } from '../chromium.js';

export type Site = Record<string, Content>;

export const kIsolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** All files of a folder on disk, named from `root`. */
export async function readFolder(folder: string, root: string): Promise<Site> {
  const files: Site = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(root, path)] = await readFile(path);
  }
  return files;
}

/** models/classifier and models/reader. */
export async function tinyModels(): Promise<Site> {
  const site: Site = {};
  for (const [name, tiny] of Object.entries({ classifier: 'deberta-v2-sequence', reader: 'deberta-v2-question' })) {
    for (const [file, content] of Object.entries((await readTiny(tiny)).files)) site[`models/${name}/${file}`] = content;
  }
  return site;
}

export interface Visit {
  result: Record<string, unknown>;
  /** Paths that the server was asked for, in order. */
  requests: string[];
  /** Addresses elsewhere. */
  elsewhere: string[];
  /** Everything on the console, and errors that nobody caught. */
  complaints: string[];
}

export async function visit(site: Site, headers: Record<string, string>): Promise<Visit> {
  const server = await startModelServer(site, headers);
  // Names resolve to nothing: a request to anywhere else could not even leave.
  const args = [...kChromiumFlags, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  const browser = await chromium.launch({ executablePath: kChromiumPath, args, headless: true });
  try {
    const page = await browser.newPage();
    const urls: string[] = [];
    const complaints: string[] = [];
    page.context().on('request', (request) => urls.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction('globalThis.work');
    const result = await page.evaluate('work()') as Record<string, unknown>;
    const elsewhere = urls.filter((url) => !url.startsWith(server.url) && !url.startsWith('data:'));
    return { result, requests: server.requests, elsewhere, complaints };
  } finally {
    await browser.close();
    await server.close();
  }
}
