// peruse serve-demo, from the installed package.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright';
import { afterEach, expect, inject, test } from 'vitest';
import { kChromiumFlags, kChromiumPath } from '../browser/chromium.js';

const { folder } = inject('installed');
const kModels = fileURLToPath(new URL('../../models', import.meta.url));

let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill();
});

/** Starts the command and gives the page's address. */
async function serveDemo(...args: string[]): Promise<{ url: string; err: () => string }> {
  child = spawn(process.execPath, [join(folder, 'node_modules/.bin/peruse'), 'serve-demo', '--port', '0', ...args], { cwd: folder });
  let err = '';
  child.stderr!.on('data', (words) => {
    err += words;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child!.stdout!.once('data', (line) => resolve(String(line).trim()));
    child!.once('exit', (code) => reject(new Error(`serve-demo ended with ${code}: ${err}`)));
  });
  return { url, err: () => err };
}

test('serves the page with models that are elsewhere, and the page starts', async () => {
  const { url } = await serveDemo('--models', kModels);
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
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('requestfailed', (request) => errors.push(request.url()));
    await page.goto(url);
    await page.waitForSelector('h1');
    expect(await page.evaluate('crossOriginIsolated')).toBe(true);
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('says that the package holds no models', async () => {
  const { url, err } = await serveDemo('--no-isolation');
  expect((await fetch(url)).headers.get('cross-origin-opener-policy')).toBeNull();
  expect((await fetch(`${url}models/peruse-reader-deberta-tiny/config.json`)).status).toBe(404);
  expect(JSON.stringify(await (await fetch(`${url}files.json`)).json())).not.toContain('models/');
  await expect.poll(err).toContain('--models');
});

test('a port that is taken is one line', async () => {
  const { url } = await serveDemo();
  const first = child!;
  await expect(serveDemo('--port', new URL(url).port)).rejects.toThrow(
    /ended with 1: peruse serve-demo: Port \d+ can't be used: .*\(network\)/,
  );
  first.kill();
});
