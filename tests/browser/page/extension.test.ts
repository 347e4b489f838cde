// The browser extension (demo/extension), loaded in Chromium. PERUSE_PICTURES=1 writes the pictures of its README.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium, type Page, type Worker } from 'playwright';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type ModelServer, startModelServer } from '../../node/support/model_server.js';
import { kChromiumFlags, kChromiumPath } from '../chromium.js';
import { noteUncaught } from '../uncaught.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kMessage = 'My name is Mary Miller and I live in Boston. You can write to mary.miller@example.org.';
const kRedacted = 'My name is [PER_1] and I live in [LOC_1]. You can write to [EMAIL_1].';

const pageOf = (body: string) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>A chat</title>
  <style>body { font: 17px/1.5 system-ui; margin: 40px; max-width: 34em } .field { display: block; width: 100%; min-height: 90px; font: inherit;
  border: 1px solid #777; padding: 8px; box-sizing: border-box }</style><h1>Any chat on the web</h1>${body}<p id="answer"></p>`;

const kPages: Record<string, string> = {
  'textarea.html': pageOf('<textarea class="field"></textarea>'),
  'editable.html': pageOf('<div class="field" contenteditable="true"></div>'),
  'shadow.html': pageOf(`<chat-box></chat-box><script>
    document.querySelector('chat-box').attachShadow({ mode: 'open' }).innerHTML = '<textarea class="field" style="width: 30em; height: 90px"></textarea>';
  </script>`),
};

let server: ModelServer;
let folder: string;
let context: BrowserContext;
let background: Worker;
beforeAll(async () => {
  server = await startModelServer(kPages);
  folder = await mkdtemp(join(tmpdir(), 'peruse-extension-'));
  const { buildExtension } = (await import(new URL('../../../tools/extension.mjs', import.meta.url).href)) as {
    buildExtension(folder: string): Promise<void>;
  };
  await buildExtension(folder);
  await allow(`${server.url}*`);
  context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: kChromiumPath,
    headless: true,
    viewport: { width: 760, height: 420 },
    args: [
      ...kChromiumFlags,
      `--disable-extensions-except=${folder}`,
      `--load-extension=${folder}`,
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
    ],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
  noteUncaught(context);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  background = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  await vi.waitFor(async () => expect(await background.evaluate('typeof run')).toBe('function'), 20_000);
}, 60_000);
afterAll(async () => {
  await context?.close();
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Gives the extension access to a site, which a user gives by a click on its icon. */
async function allow(site: string): Promise<void> {
  const file = join(folder, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...manifest, host_permissions: [site.replace(/:\d+/, '')] }));
}

/** Runs a command as the browser does at its key; without one, as at a click on the icon. */
async function press(command?: string): Promise<void> {
  const find = `chrome.tabs.query({ active: true, lastFocusedWindow: true }).then(([tab]) => run(${JSON.stringify(command) ?? 'undefined'}, tab))`;
  await background.evaluate(find);
}

async function opened(name: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url + name);
  await page.bringToFront();
  return page;
}

async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((given) => navigator.clipboard.writeText(given), text);
  await page.locator('.field').click();
  await page.keyboard.press('Control+V');
}

const textOf = (page: Page) => page.locator('.field').evaluate((node) => ('value' in node ? String(node.value) : node.textContent));

/** The text that the extension shows, in a shadow root that only the debugger can open. */
async function shown(page: Page): Promise<string> {
  interface Node {
    localName: string;
    nodeValue: string;
    children?: Node[];
    shadowRoots?: Node[];
  }
  const session = await context.newCDPSession(page);
  const { root } = (await session.send('DOM.getDocument', { depth: -1, pierce: true })) as unknown as { root: Node };
  const below = (node: Node): Node[] => [node, ...[...(node.children ?? []), ...(node.shadowRoots ?? [])].flatMap(below)];
  const host = below(root).find(({ localName }) => localName === 'peruse-answer');
  const span = host && below(host).find(({ localName }) => localName === 'span');
  return span?.children?.[0]?.nodeValue ?? '';
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env.PERUSE_PICTURES === '1') await page.screenshot({ path: join(kRoot, 'demo/extension/pictures', name) });
}

test.each(Object.keys(kPages))('%s: a paste is redacted, a key redacts what was typed, another restores it', async (name) => {
  const page = await opened(name);
  await press();
  await context.setOffline(true);
  try {
    await paste(page, kMessage);
    await expect.poll(() => textOf(page), { timeout: 30_000 }).toBe(kRedacted);
    if (name === 'editable.html') await picture(page, 'pasted.png');
    await page.keyboard.type(' Mary Miller');
    await press('redact');
    expect(await textOf(page)).toBe(`${kRedacted} [PER_1]`);
    await press('restore');
    expect(await textOf(page)).toBe(`${kMessage} Mary Miller`);
  } finally {
    await context.setOffline(false);
  }
});

test('an answer is shown with the details, where scripts of the page can not read them', async () => {
  const page = await opened('textarea.html');
  await press();
  await paste(page, kMessage);
  await expect.poll(() => textOf(page), { timeout: 30_000 }).toBe(kRedacted);
  await page.evaluate(() => {
    document.querySelector('#answer')!.textContent = 'Dear [PER_1], how is [LOC_1]?';
    (document.activeElement as HTMLElement).blur();
  });
  await press('restore');
  expect(await shown(page)).toBe('Dear Mary Miller, how is Boston?');
  expect(await page.evaluate('document.documentElement.innerHTML')).not.toContain('Mary');
  expect(await page.evaluate("document.querySelector('peruse-answer').shadowRoot")).toBe(null);
  await picture(page, 'restored.png');
});

test('another page has another mapping, and a page that was loaded again none', async () => {
  const page = await opened('textarea.html');
  await press();
  await paste(page, 'I am Anna Schmidt.');
  await expect.poll(() => textOf(page), { timeout: 30_000 }).toBe('I am [PER_1].');
  await page.reload();
  await page.locator('.field').fill('[PER_1]');
  await press('restore');
  expect(await textOf(page)).toBe('[PER_1]');
});

test('a text that can not be read is not pasted, and the page is told nothing of it', async () => {
  const page = await opened('textarea.html');
  await press();
  await paste(page, '我叫王小明。');
  await expect.poll(() => shown(page), { timeout: 30_000 }).toMatch(/^Nothing was pasted: /);
  expect(await textOf(page)).toBe('');
});

test('a page that was not chosen is left alone; nothing is asked of the network', async () => {
  const page = await opened('textarea.html');
  await paste(page, kMessage);
  expect(await textOf(page)).toBe(kMessage);
  expect(server.requests.filter((path) => !(path in kPages))).toEqual([]);
});
