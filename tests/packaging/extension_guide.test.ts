// The programs of docs/guides/browser-extension.md, loaded in Chromium with the package of the tarball.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BrowserContext, chromium } from 'playwright';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { kChromiumFlags, kChromiumPath } from '../browser/chromium.js';
import { noteUncaught } from '../browser/uncaught.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kGuide = readFileSync(join(kRoot, 'docs/guides/browser-extension.md'), 'utf8');

function block(kind: string): string {
  const found = new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(kGuide);
  if (found === null) throw new Error(`the guide has no block ${kind}`);
  return found[1]!;
}

let folder: string;
let context: BrowserContext;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'peruse-extension-'));
  const files = {
    'manifest.json': block('json extension_manifest'),
    'panel.html': block('html extension_panel'),
    'panel.js': block('js extension_panel').replace("shown.textContent = 'Write", 'globalThis.info = classify.info;\n$&'),
    'background.js': block('js extension_background') + block('js extension_offscreen_background'),
    'offscreen.html': block('html extension_offscreen'),
    'offscreen.js': block('js extension_offscreen'),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  cpSync(join(inject('installed').folder, 'node_modules/peruse/web/bundle'), join(folder, 'peruse'), { recursive: true });
  cpSync(join(kRoot, 'models/peruse-sentiment-convbert-tiny'), join(folder, 'model'), { recursive: true });
  context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: kChromiumPath,
    headless: true,
    args: [
      ...kChromiumFlags,
      `--disable-extensions-except=${folder}`,
      `--load-extension=${folder}`,
      '--host-resolver-rules=MAP * ~NOTFOUND',
    ],
    ignoreDefaultArgs: ['--disable-extensions'],
  });
  noteUncaught(context);
});
afterAll(async () => {
  await context?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function base(): Promise<string> {
  const background = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  return new URL('/', background.url()).href;
}

test('the side panel labels what is written, in a worker with threads', async () => {
  const panel = await context.newPage();
  await panel.goto(`${await base()}panel.html`);
  await vi.waitFor(async () => expect(await panel.textContent('p')).toBe('Write something.'), 30_000);
  await panel.fill('textarea', 'A gem of a film.');
  await vi.waitFor(async () => expect(await panel.textContent('p')).toBe('POSITIVE'), 30_000);
  const variant = availableParallelism() > 1 ? 'relaxed-threads' : 'relaxed';
  expect(await panel.evaluate('info')).toMatchObject({ worker: true, variant });
  await panel.close();
});

test('an offscreen document answers what the background is asked', async () => {
  const page = await context.newPage();
  await page.goto(`${await base()}panel.html`);
  const asked = "chrome.runtime.sendMessage({ to: 'background', text: 'A dull and lifeless film.' })";
  expect(await page.evaluate(asked)).toBe('NEGATIVE');
  expect(await Promise.all([page.evaluate(asked), page.evaluate(asked)])).toEqual(['NEGATIVE', 'NEGATIVE']);
});
