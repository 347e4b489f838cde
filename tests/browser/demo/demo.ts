// The demo page for tests: the built site on its own server, in headless Chromium.
import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright';
import { kChromiumFlags, kChromiumPath } from '../chromium.js';
import { noteUncaught } from '../uncaught.js';
import type { NamedFile } from './checkpoints.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));

export async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, ['tools/site.mjs'], { cwd: kRoot });
}

export interface Demo {
  readonly url: string;
  readonly browser: Browser;
  /** Opens the page in a new context, without the service worker and the moving first seconds unless the options allow them. */
  visit(options?: VisitOptions): Promise<Visit>;
  stopServer(): void;
  close(): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Id of the tab to open, optionally with more of the address's fragment. Default: the first tab. */
  at?: string;
  before?: (context: BrowserContext) => Promise<void>;
}

export interface Visit {
  readonly page: Page;
  readonly complaints: string[];
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves the site with or without the headers that threads need, and starts a browser, with a GPU or without. */
export async function startDemo({ isolated = true, gpu = true } = {}): Promise<Demo> {
  const server = await startServer(isolated ? [] : ['--no-isolation']);
  const browser = await chromium.launch({
    executablePath: kChromiumPath,
    args: kChromiumFlags.filter((flag) => gpu || !flag.includes('webgpu')),
  });
  return {
    url: server.url,
    browser,
    visit: (options) => visit(browser, server.url, options),
    stopServer: server.stop,
    close: async () => {
      await browser.close();
      server.stop();
    },
  };
}

async function visit(browser: Browser, url: string, { at, before, ...options }: VisitOptions = {}): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: 1000, height: 1000 },
    serviceWorkers: 'block',
    reducedMotion: 'reduce',
    ...options,
  });
  const complaints: string[] = [];
  const requests: string[] = [];
  context.on('request', (request) => requests.push(request.url()));
  noteUncaught(context);
  const page = await context.newPage();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) complaints.push(message.text());
  });
  page.setDefaultTimeout(20_000);
  await before?.(context);
  await page.goto(at ? `${url}#${at}` : url);
  const end = async () => {
    await context.unrouteAll({ behavior: 'ignoreErrors' }); // a route that still waits for its answer would throw
    await context.close();
  };
  return { page, complaints, requests, close: end };
}

export async function startServer(flags: string[]): Promise<{ url: string; stop: () => void }> {
  const server = spawn(process.execPath, ['tools/serve.mjs', 'build/site', '0', ...flags], {
    cwd: kRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((done, fail) => {
    let said = '';
    server.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const address = /http:\S+/.exec(said);
      if (address) done(address[0]);
    });
    server.once('exit', (code) => fail(new Error(`tools/serve.mjs ended with ${code}: ${said}`)));
  });
  return { url, stop: () => void server.kill() };
}

/** The tabs that answer with a model, in the page's order. */
export const kTabs = ['redact', 'sort', 'ask'];

/** Waits until the panel shows its result; fails immediately with the page's message if it shows a failure. */
export async function shown(panel: Locator, selector: string): Promise<void> {
  const result = panel.locator(selector).first();
  const failure = panel.locator('.error code');
  await result.or(failure).first().waitFor();
  if (await failure.isVisible()) throw new Error(`the page says: ${await panel.locator('.error').textContent()}`);
}

/** Waits until the answer to the form's current contents is shown and no call is running. */
export async function answered(panel: Locator): Promise<void> {
  await shown(panel, '.timing:not(:empty)');
  await panel.locator('.result:not(.is-stale)').waitFor();
  await panel.locator('[type=submit][aria-disabled=false]').waitFor();
}

export async function openDrawer(panel: Locator, name: 'code' | 'race' | 'model-drawer'): Promise<void> {
  const drawer = panel.locator(`details.${name}`);
  if ((await drawer.getAttribute('open')) === null) await drawer.locator('> summary').click();
}

/** Chooses the sorting tab's model for praise and complaint by its example. */
export async function trained(panel: Locator): Promise<void> {
  await panel.getByRole('button', { name: 'Reviews' }).click();
  await panel.locator('.own-labels', { hasText: 'Complaint, Praise' }).waitFor();
  await answered(panel);
}

export async function chooseFiles(panel: Locator, files: readonly NamedFile[]): Promise<void> {
  await openDrawer(panel, 'model-drawer');
  await panel.locator('[name=model]').selectOption('own');
  await panel.getByLabel('Files', { exact: true }).setInputFiles(files as NamedFile[]);
}

export async function chooseBundled(panel: Locator): Promise<void> {
  await openDrawer(panel, 'model-drawer');
  await panel.locator('[name=model]').selectOption({ index: 0 });
}

export async function nameElsewhere(panel: Locator, name: string): Promise<void> {
  await openDrawer(panel, 'model-drawer');
  await panel.locator('[name=model]').selectOption('elsewhere');
  await panel.getByLabel('Hub id').fill(name);
  await panel.getByRole('button', { name: 'Look it up' }).click();
}
