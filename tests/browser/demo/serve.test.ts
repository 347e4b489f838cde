import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDemo, startServer } from './demo.js';

let server: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  server = await startServer([]);
});
afterAll(() => server.stop());

/** Sends the path unchanged, which fetch() would normalise. */
function ask(path: string, method = 'GET'): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    request(server.url, { path, method }, (response) => {
      response.resume();
      done(response);
    })
      .on('error', fail)
      .end();
  });
}

it.each([
  ['/', 'text/html; charset=utf-8'],
  ['/docs/assets/style.css', 'text/css; charset=utf-8'],
  ['/app/main.js', 'text/javascript; charset=utf-8'],
  ['/peruse/peruse-worker.js', 'text/javascript; charset=utf-8'],
  ['/peruse/peruse-simd.wasm', 'application/wasm'],
  ['/models/peruse-reader-deberta-tiny/config.json', 'application/json; charset=utf-8'],
  ['/models/peruse-reader-deberta-tiny/model.safetensors', 'application/octet-stream'],
])('sends %s with its type, its length and the isolation headers', async (path, type) => {
  const { statusCode, headers } = await ask(path);
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toBe(type);
  expect(Number(headers['content-length'])).toBeGreaterThan(0);
  expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  expect(headers['cross-origin-embedder-policy']).toBe('require-corp');
  expect(headers['document-isolation-policy']).toBe('isolate-and-require-corp');
});

it.each([
  '/nothing',
  '/models',
  '/../package.json',
  '/..%2f..%2fpackage.json',
  '/%2e%2e/site/../../package.json',
  '/a%00b',
  '/%zz',
  '//',
  '/..%2f',
])('answers 404 to %s', async (path) => {
  expect((await ask(path)).statusCode).toBe(404);
});

it('allows the style that is in the page', async () => {
  const demo = await startDemo();
  const { page, complaints, close } = await demo.visit();
  expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe('rgb(244, 239, 228)');
  expect(complaints).toEqual([]);
  await close();
  await demo.close();
});

it('answers HEAD without a body, and nothing but GET and HEAD', async () => {
  const head = await ask('/docs/assets/style.css', 'HEAD');
  expect(head.statusCode).toBe(200);
  expect(Number(head.headers['content-length'])).toBeGreaterThan(0);
  expect((await ask('/docs/assets/style.css', 'POST')).statusCode).toBe(405);
});

it('isolates the page in Chromium by Document-Isolation-Policy alone', async () => {
  const demo = await startDemo();
  const { page, close } = await demo.visit({
    before: async (context) => {
      await context.route('**', async (route) => {
        const response = await route.fetch();
        const headers = Object.entries(response.headers()).filter(([name]) => !name.startsWith('cross-origin-'));
        await route.fulfill({ response, headers: Object.fromEntries(headers) });
      });
    },
  });
  expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
  await close();
  await demo.close();
});
