// The README's page for a CDN, as printed. The CDN's files come from the installed package, the hub's from a demo model.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { kIsolation, withPage } from '../browser/page/visit.js';

const { folder } = inject('installed');
const kPackage = join(folder, 'node_modules/peruse');
const kModel = join(folder, 'models/peruse-sentiment-convbert-tiny');
const { version } = JSON.parse(readFileSync(join(kPackage, 'package.json'), 'utf8')) as { version: string };

const kCdn = `https://cdn.jsdelivr.net/npm/peruse@${version}/`;
const kHub = 'https://huggingface.co/distilbert/distilbert-base-uncased-finetuned-sst-2-english/resolve/main/';
const kTypes: Record<string, string> = { js: 'text/javascript', wasm: 'application/wasm', json: 'application/json' };

function fileOf(url: string): string | undefined {
  if (url.startsWith(kCdn)) return join(kPackage, url.slice(kCdn.length));
  if (url.startsWith(kHub)) return join(kModel, url.slice(kHub.length));
  return undefined;
}

const [, snippet] = /```html\n([\s\S]*?)```/.exec(readFileSync(join(kPackage, 'README.md'), 'utf8'))!;

test.each([
  ['a plain page', {}],
  ['an isolated page', kIsolation],
])('%s of nothing else says what the model says', async (_, headers) => {
  expect(snippet).toContain(`${kCdn}web/bundle/peruse.js`);
  await withPage({ 'index.html': snippet! }, headers, async (tab, server) => {
    const strangers: string[] = [];
    const failures: string[] = [];
    const loaded = new Set<string>();
    tab.on('pageerror', (error) => failures.push(error.message));
    await tab.context().route(/^https?:/, async (route) => {
      const url = route.request().url();
      if (url.startsWith(server.url)) return route.continue();
      const file = fileOf(url);
      if (file === undefined) {
        strangers.push(url);
        return route.abort();
      }
      const headers = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };
      if (!existsSync(file)) return route.fulfill({ status: 404, headers });
      loaded.add(url);
      return route.fulfill({
        headers: { ...headers, 'content-type': kTypes[file.split('.').at(-1)!] ?? 'application/octet-stream' },
        body: readFileSync(file),
      });
    });
    await tab.goto(`${server.url}index.html`);
    await tab.waitForFunction("document.body.textContent.trim() !== ''", undefined, { timeout: 60_000 }).catch(() => {});
    expect({ said: await tab.evaluate('document.body.textContent'), failures }).toEqual({ said: 'POSITIVE', failures: [] });
    expect(strangers).toEqual([]);
    expect([...loaded]).toEqual(expect.arrayContaining([`${kCdn}web/bundle/peruse.js`, `${kHub}model.safetensors`]));
  });
});
