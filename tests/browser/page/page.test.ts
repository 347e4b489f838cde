// A page on a static host with a strict content security policy, in real Chromium. Every request is recorded: nothing but the
// package's own files and the model files that the caller named is ever asked for.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startModelServer, type Content } from '../../node/support/model_server.js';
import { readTiny } from '../../node/support/tiny_files.js';
import { kChromiumFlags, kChromiumPath } from '../chromium.js';

const kRoot = new URL('../../../', import.meta.url);
const kRootPath = fileURLToPath(kRoot);
const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:";
const kIsolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

let browser: Browser;
beforeAll(async () => {
  // Names resolve to nothing: a request to anywhere else could not even leave, and is recorded as a failure.
  const args = [...kChromiumFlags, '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  browser = await chromium.launch({ executablePath: kChromiumPath, args, headless: true });
});
afterAll(() => browser?.close());

async function site(): Promise<Record<string, Content>> {
  const files: Record<string, Content> = {
    'index.html': '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><script type="module" src="/page.js"></script>',
    'page.js': await readFile(new URL('tests/browser/page/page.js', kRoot)),
  };
  for (const folder of ['web/dist/', 'web/wasm/']) {
    for (const entry of await readdir(new URL(folder, kRoot), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      files[relative(kRootPath, path)] = await readFile(path);
    }
  }
  const models = { classifier: 'deberta-v2-sequence', reader: 'deberta-v2-question' };
  for (const [name, tiny] of Object.entries(models)) {
    for (const [file, content] of Object.entries((await readTiny(tiny)).files)) files[`models/${name}/${file}`] = content;
  }
  return files;
}

test.each([
  ['isolated', kIsolation, 'relaxed-threads'],
  ['plain', {}, 'relaxed'],
])('an %s page works under a strict policy and asks for nothing else', async (_, headers, variant) => {
  const server = await startModelServer(await site(), { ...headers, 'Content-Security-Policy': kPolicy });
  const context = await browser.newContext();
  try {
    const urls: string[] = [];
    const complaints: string[] = [];
    context.on('request', (request) => urls.push(request.url()));
    const page = await context.newPage();
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction('globalThis.work');
    const result = await page.evaluate('work()') as Record<string, unknown>;

    expect(result.labels).toEqual([{ label: expect.stringMatching(/^LABEL_\d$/), score: expect.any(Number) }]);
    expect(result.best).toMatchObject({ answer: expect.any(String), start: expect.any(Number), end: expect.any(Number) });
    expect(result.variant).toBe(variant);
    // The package prints nothing. Chromium itself notes the optional file that isn't there.
    expect(complaints.filter((line) => !/404/.test(line))).toEqual([]);

    const modelFiles = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
    const named = new Set(['classifier', 'reader'].flatMap((model) => modelFiles.map((file) => `models/${model}/${file}`)));
    const own = (path: string) => path === 'index.html' || path === 'page.js' || /^web\/dist\/[\w/]+\.js$/.test(path)
      || path === `web/wasm/peruse-${variant}.mjs` || path === `web/wasm/peruse-${variant}.wasm`;
    expect(server.requests.filter((path) => !own(path) && !named.has(path))).toEqual([]);
    for (const path of named) expect(server.requests.filter((asked) => asked === path), path).toHaveLength(1);
    expect(urls.filter((url) => !url.startsWith(server.url) && !url.startsWith('data:'))).toEqual([]);
  } finally {
    await context.close();
    await server.close();
  }
});
