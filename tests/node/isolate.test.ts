// peruse/isolate in a stub of a browser resolves whatever page, storage and service worker do.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type IsolateOptions, isolate } from '../../web/src/isolate.js';

interface FakePage {
  href?: string;
  scope?: string;
  controller?: object | null;
  storage?: Partial<Storage>;
  register?: () => Promise<unknown>;
  ready?: Promise<unknown>;
  isolated?: boolean;
}

let reloads: number;
let registered: URL[];
beforeEach(() => {
  vi.useFakeTimers();
  reloads = 0;
  registered = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function open({ href = 'https://a.example/app/', scope = 'https://a.example/app/', controller = {}, ...page }: FakePage = {}): void {
  const active = { postMessage: () => {} };
  const registration = { scope, active };
  const kept = new Map<string, string>();
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
    ...page.storage,
  };
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  vi.stubGlobal('crossOriginIsolated', page.isolated ?? false);
  vi.stubGlobal('isSecureContext', true);
  vi.stubGlobal('document', { baseURI: href });
  vi.stubGlobal('location', { href, reload: () => ++reloads });
  vi.stubGlobal('sessionStorage', storage);
  vi.stubGlobal('navigator', {
    serviceWorker: {
      controller,
      ready: page.ready ?? Promise.resolve(registration),
      addEventListener: () => {},
      register: async (url: URL) => {
        registered.push(url);
        return page.register?.() ?? registration;
      },
    },
  });
}

/** Returns the result of isolate() after its time limit; 'reloading' if it never settles. */
async function result(options?: IsolateOptions) {
  const settled = isolate(options);
  await vi.advanceTimersByTimeAsync(20_000);
  return Promise.race([settled, Promise.resolve('reloading' as const)]);
}

test('a page that can be isolated is loaded once more, and is not tried a third time', async () => {
  open();
  expect(await result()).toBe('reloading');
  expect({ reloads, address: registered[0]?.href }).toEqual({
    reloads: 1,
    address: 'https://a.example/app/peruse-isolate-worker.js?embedder=require-corp',
  });
  expect(await result()).toMatchObject({ isolated: false, reason: expect.stringContaining('still not isolated') });
  open({ isolated: true });
  expect(await result()).toEqual({ isolated: true });
});

test.each([
  [{ 'Document-Isolation-Policy': 'isolate-and-require-corp' }, 'document-isolation-policy'],
  [{ 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }, 'opener-and-embedder-policy'],
  [{}, undefined],
])('of a page with the headers %j it reports %s', async (headers, by) => {
  open({ isolated: true });
  const asked = vi.fn(async (_url: string, _options: object) => new Response(null, { headers }));
  vi.stubGlobal('fetch', asked);
  expect((await result()) as object).toEqual(by === undefined ? { isolated: true } : { isolated: true, by });
  expect(asked.mock.calls).toEqual([['https://a.example/app/', { method: 'HEAD', cache: 'force-cache' }]]);
});

describe('resolves with the reason', () => {
  test.each<[string, FakePage, IsolateOptions | undefined, RegExp]>([
    [
      'a worker that does not cover the page',
      { scope: 'https://a.example/deep/', ready: new Promise(() => {}) },
      { script: '/deep/w.js' },
      /covers https:\/\/a\.example\/deep\/ and not this page/,
    ],
    [
      'a worker that never becomes active',
      { controller: null, ready: new Promise(() => {}) },
      undefined,
      /did not become active within 5 s/,
    ],
    ['a worker that never takes over', { controller: null }, undefined, /did not become active within 5 s/],
    ['a registration that fails', { register: () => Promise.reject(new TypeError('404')) }, undefined, /404/],
    ['an address that is none', {}, { script: 'http://[' }, /can't be isolated/],
    ['an embedder with a line break', {}, { embedder: 'require-corp\nx' as 'require-corp' }, /embedder must be/],
    ['null as the options', {}, null as unknown as IsolateOptions, /can't be isolated/],
    ['null as the embedder', {}, { embedder: null as unknown as 'require-corp' }, /embedder must be/],
  ])('%s', async (_, page, options, reason) => {
    open(page);
    expect(await result(options)).toMatchObject({ isolated: false, reason: expect.stringMatching(reason) });
    expect(reloads).toBe(0);
  });

  const forbidden = () => {
    throw new DOMException('storage is forbidden', 'SecurityError');
  };
  test.each(['getItem', 'setItem', 'removeItem'] as const)('storage whose %s is forbidden', async (method) => {
    open({ storage: { [method]: forbidden } });
    if (method === 'removeItem') {
      await result();
      open({ isolated: true, storage: { removeItem: forbidden } });
      expect(await result()).toEqual({ isolated: true });
    } else {
      expect(await result()).toMatchObject({ isolated: false, reason: expect.stringContaining('storage is forbidden') });
    }
  });
});

describe('its service worker', () => {
  async function answer(href: string, response: Response): Promise<Response> {
    vi.resetModules();
    const listeners = new Map<string, (event: unknown) => void>();
    vi.stubGlobal('self', {
      location: { href },
      addEventListener: (type: string, listener: (event: unknown) => void) => listeners.set(type, listener),
    });
    vi.stubGlobal('fetch', async () => response);
    await import('../../web/src/isolate_worker.js');
    return new Promise((resolve) => {
      listeners.get('fetch')!({ request: { destination: 'document' }, respondWith: resolve });
    });
  }

  test.each([
    ['?embedder=require-corp', 'require-corp'],
    ['?embedder=credentialless', 'credentialless'],
    ['?embedder=a%0Ab', 'require-corp'],
    ['?embedder=%00', 'require-corp'],
    ['', 'require-corp'],
  ])('%j sends %s', async (query, header) => {
    const response = await answer(`https://a.example/w.js${query}`, new Response('page'));
    expect(response.headers.get('cross-origin-embedder-policy')).toBe(header);
    expect(await response.text()).toBe('page');
  });

  test('passes on what it can not change', async () => {
    const response = new Response('page');
    await response.text(); // a body cannot be read twice
    expect(await answer('https://a.example/w.js', response)).toBe(response);
  });
});
