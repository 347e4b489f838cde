import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test, vi } from 'vitest';

/** A path instead of an import, because the file needs the types of service workers. */
const kScript: string = fileURLToPath(new URL('../../demo/service_worker/offline.ts', import.meta.url));
const kSite = 'https://site.example/demo/';
const kPage = '<meta name="application-name" content="Peruse" />';
const kFiles = JSON.stringify({
  version: '1',
  page: ['./', 'app/main.js', 'style.css'],
  inUse: ['models/a/config.json', 'models/b/config.json', 'models/b/weights.gzip', 'peruse/x.wasm'],
  sha256: Object.fromEntries(
    Object.entries({
      'app/main.js': 'code',
      'style.css': 'code',
      'models/a/config.json': '{}',
      'models/b/config.json': '{}',
      'models/b/weights.gzip': gzipSync('weights'),
      'peruse/x.wasm': 'wasm',
    }).map(([name, content]) => [name, createHash('sha256').update(content).digest('hex')]),
  ),
});

const stored = new Map<string, Response>();
const keyOf = (request: string | { url: string }) => new URL(typeof request === 'string' ? request : request.url, kSite).href;
const cache = {
  match: async (request: string, options?: { ignoreSearch?: boolean }) => {
    const key = options?.ignoreSearch ? keyOf(request).replace(/\?.*/, '') : keyOf(request);
    return stored.get(key)?.clone();
  },
  put: async (request: string, response: Response) => void stored.set(keyOf(request), response),
  add: async (request: string) => void stored.set(keyOf(request), await server(keyOf(request))),
};
let server: (address: string) => Response | Promise<Response>;
let listeners: Map<string, (event: unknown) => void>;

beforeEach(async () => {
  stored.clear();
  listeners = new Map();
  vi.stubGlobal('self', {
    registration: { scope: kSite },
    clients: { matchAll: async () => [], claim: async () => {} },
    skipWaiting: async () => {},
    addEventListener: (type: string, listener: (event: unknown) => void) => listeners.set(type, listener),
  });
  vi.stubGlobal('location', { origin: new URL(kSite).origin });
  vi.stubGlobal('caches', { open: async () => cache, match: cache.match });
  vi.stubGlobal('fetch', async (request: string | { url: string }) => server(keyOf(request)));
  vi.resetModules();
  await import(/* @vite-ignore */ kScript);
});

const file = (body: string, type: string) => new Response(body, { headers: { 'content-type': type } });
const site = (address: string) => {
  if (address.endsWith('/files.json')) return file(kFiles, 'application/json');
  if (/\.wasm$/.test(address)) return file('wasm', 'application/wasm');
  if (/\.json/.test(address)) return file('{}', 'application/json');
  if (/\.js/.test(address)) return file('code', 'text/javascript');
  if (/\.gzip$/.test(address)) return new Response(gzipSync('weights'), { headers: { 'content-type': 'application/octet-stream' } });
  return file(kPage, 'text/html');
};

async function ask(path: string): Promise<Response> {
  const later: Promise<unknown>[] = [];
  let answer: Promise<Response> | undefined;
  const event = {
    request: { url: keyOf(path), method: 'GET' },
    respondWith: (response: Promise<Response>) => {
      answer = response;
    },
    waitUntil: (promise: Promise<unknown>) => later.push(promise),
  };
  listeners.get('fetch')!(event);
  const response = await answer!;
  await Promise.all(later);
  return response;
}

test('keeps the files of the site, each once, whatever stands after a question mark', async () => {
  server = site;
  for (const path of [
    './',
    './index.html',
    './?a=1',
    './?a=2',
    'app/main.js',
    'app/main.js?b',
    'models/a/config.json',
    'peruse/x.wasm',
    'other.json',
  ])
    await ask(path);
  expect([...stored.keys()].sort()).toEqual([kSite, `${kSite}app/main.js`, `${kSite}models/a/config.json`, `${kSite}peruse/x.wasm`].sort());
});

test('answers with a compressed file, decompressed, where the site has one, and stores it compressed', async () => {
  const asked: string[] = [];
  server = (address) => {
    asked.push(address.slice(kSite.length));
    return site(address);
  };
  await ask('./');
  for (let time = 0; time < 2; time++) expect(await (await ask('models/b/weights')).text()).toBe('weights');
  expect(asked.filter((address) => address.startsWith('models/'))).toEqual(['models/b/weights.gzip']);
  expect(await stored.get(keyOf('models/b/weights.gzip'))?.clone().text()).not.toBe('weights');
});

test('does not keep what a portal answers in their place, and goes on with what it has', async () => {
  server = site;
  for (const path of ['./', 'app/main.js', 'models/a/config.json']) await ask(path);
  server = () => file('<h1>Log in to this network</h1>', 'text/html');
  for (const path of ['./', 'app/main.js', 'models/a/config.json', 'peruse/x.wasm'])
    expect(await (await ask(path)).text()).toContain('Log in');
  server = () => {
    throw new TypeError('no connection');
  };
  expect(await (await ask('./?x')).text()).toBe(kPage);
  expect(await (await ask('app/main.js')).text()).toBe('code');
  await expect(ask('peruse/x.wasm')).rejects.toThrow('no connection');
});

test('says without a connection that a model lacks a file, but not that a file of the site is missing', async () => {
  server = site;
  for (const path of ['./', 'models/a/config.json']) await ask(path);
  server = () => {
    throw new TypeError('no connection');
  };
  expect((await ask('models/a/modules.json')).status).toBe(404);
  expect((await ask('models/a/config.json')).status).toBe(200);
  await expect(ask('models/b/weights')).rejects.toThrow('no connection');
  await expect(ask('other.json')).rejects.toThrow('no connection');
});

test('takes engines and models from the cache once all of this version of the site are stored, and the page from the server', async () => {
  server = site;
  for (const path of ['./', 'app/main.js', 'models/a/config.json']) await ask(path);
  const asked: string[] = [];
  server = (address) => {
    asked.push(address.slice(kSite.length));
    return site(address);
  };
  stored.set(keyOf('./kept'), new Response('an older version'));
  stored.set(keyOf('models/b/config.json'), new Response('older'));
  await ask('models/a/config.json'); // this worker has stored it
  expect(await (await ask('models/b/config.json')).text()).toBe('{}');
  expect(asked).toEqual(['models/b/config.json']);
  stored.set(keyOf('./kept'), new Response('1'));
  asked.length = 0;
  expect(await (await ask('models/b/config.json')).text()).toBe('{}');
  await ask('app/main.js');
  expect(asked).toEqual(['app/main.js']);
});

test('a file that is being stored is not requested again, not even before the worker has seen a visit', async () => {
  const asked: string[] = [];
  let reply = () => {};
  const held = new Promise<void>((done) => {
    reply = done;
  });
  server = async (address) => {
    asked.push(address.slice(kSite.length));
    if (address.includes('/models/')) await held;
    return site(address);
  };
  let all: Promise<unknown> | undefined;
  const said = new Promise<string>((done) => {
    listeners.get('message')!({
      data: 'keep all',
      source: { postMessage: done },
      waitUntil: (promise: Promise<unknown>) => {
        all = promise;
      },
    });
  });
  await vi.waitFor(() => expect(asked).toContain('models/a/config.json'));
  const answer = ask('models/a/config.json');
  await new Promise((done) => setTimeout(done));
  reply();
  expect(await (await answer).text()).toBe('{}');
  await all;
  expect(await said).toBe('all kept');
  expect(asked.filter((address) => address === 'models/a/config.json')).toHaveLength(1);
});

test('does not keep a file whose SHA-256 is another, neither when it is used nor when all are stored', async () => {
  server = (address) => (address.endsWith('a/config.json') ? file('{"poisoned":1}', 'application/json') : site(address));
  for (const path of ['./', 'models/a/config.json', 'models/b/config.json']) await ask(path);
  expect([...stored.keys()].sort()).toEqual([kSite, `${kSite}models/b/config.json`].sort());
  const posted: string[] = [];
  const later: Promise<unknown>[] = [];
  const message = {
    data: 'keep all',
    source: { postMessage: (word: string) => posted.push(word) },
    waitUntil: (one: Promise<unknown>) => later.push(one),
  };
  listeners.get('message')!(message);
  await Promise.all(later);
  expect(posted).toEqual(['not all kept']);
  expect(stored.has(`${kSite}models/a/config.json`)).toBe(false);
  server = site;
  expect(await (await ask('models/a/config.json')).text()).toBe('{}');
  expect(stored.has(`${kSite}models/a/config.json`)).toBe(true);
});
