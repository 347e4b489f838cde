// Requests in the thread of the caller: env.fetch, and a fetch() or a dispatcher that the program replaced. Redirects in Node.
import { afterEach, describe, expect, test } from 'vitest';
import { describe as describeModel, env, modelCache, pipeline } from '../../web/dist/index_node.js';
import { ownFetch } from '../../web/src/own_fetch.js';
import { fetchInNode } from '../../web/src/sources/file_access_node.js';
import { hub, useFreshHub } from './support/fresh_hub.js';
import { sends } from './support/model_hub.js';
import { startServer } from './support/model_server.js';

const kFetch = globalThis.fetch;

useFreshHub([env]);
afterEach(() => {
  globalThis.fetch = kFetch;
});

async function classify(worker: boolean) {
  const model = await pipeline('text-classification', 'user/model', { worker });
  const [answer] = await model('A gem.');
  await model.dispose();
  return answer!.label;
}

describe.each([true, false])('worker: %s', (worker) => {
  test.each(['env.fetch', 'globalThis.fetch'])('%s sends every request', async (how) => {
    const asked: string[] = [];
    const own: typeof fetch = (url, init) => {
      asked.push(`${init?.method} ${String(url).split('/').pop()}`);
      return kFetch(url, init);
    };
    if (how === 'env.fetch') env.fetch = own;
    else globalThis.fetch = own;
    expect(await classify(worker)).toBe('POSITIVE');
    expect(asked.sort()).toEqual([...hub.log].sort());
    expect(asked.length).toBeGreaterThan(3);
  });

  test('a dispatcher of undici (setGlobalDispatcher) carries every request', async () => {
    const kDispatcher = Symbol.for('undici.globalDispatcher.1'); // where setGlobalDispatcher() of every undici puts it
    await kFetch(hub.origin); // makes the usual one
    const scope = globalThis as unknown as Record<
      symbol,
      { dispatch(options: { path: string; method: string }, handler: object): boolean }
    >;
    const usual = scope[kDispatcher]!;
    const asked: string[] = [];
    const own = Object.create(usual) as typeof usual;
    own.dispatch = (options, handler) => {
      asked.push(`${options.method} ${options.path.split('/').pop()}`);
      return usual.dispatch(options, handler);
    };
    hub.log.length = 0;
    try {
      scope[kDispatcher] = own;
      expect(await classify(worker)).toBe('POSITIVE');
    } finally {
      scope[kDispatcher] = usual;
    }
    expect(asked.sort()).toEqual([...hub.log].sort());
    expect(asked.length).toBeGreaterThan(3);
  });

  test('a fetch of the own that rejects, and one that gives another answer', async () => {
    env.fetch = async () => {
      throw new Error('the proxy is closed');
    };
    await expect(classify(worker)).rejects.toMatchObject({ code: 'network', message: expect.stringContaining('the proxy is closed') });
    env.fetch = async () => new Response('no', { status: 407, statusText: 'Proxy Authentication Required' });
    await expect(classify(worker)).rejects.toMatchObject({ code: 'network', message: expect.stringContaining('answered 407') });
  });

  test('a load that is cancelled ends its request', async () => {
    let closed = false;
    hub.fault = (_, response, file) => {
      if (file !== 'model.safetensors') return false;
      response.writeHead(200, { 'content-length': 1_500_000 }).write(hub.files.get(file)!.subarray(0, 100_000));
      response.on('close', () => {
        closed = true;
      });
      return true;
    };
    const stop = new AbortController();
    const loading = pipeline('text-classification', 'user/model', { worker, signal: stop.signal });
    await expect.poll(() => hub.log.includes('GET model.safetensors'), { timeout: 20_000 }).toBe(true);
    stop.abort();
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    await expect.poll(() => closed, { timeout: 5000 }).toBe(true);
  });
});

test('is a function by default, which a program can call in its own, and set again', async () => {
  const before = env.fetch!;
  let asked = 0;
  env.fetch = (url, init) => {
    asked += 1;
    return before(url, init);
  };
  expect(await classify(false)).toBe('POSITIVE');
  expect(asked).toBeGreaterThan(3);
  env.fetch = before;
  expect(ownFetch()).toBeUndefined();
});

test('describe() and modelCache use it, too', async () => {
  let asked = 0;
  env.fetch = (url, init) => {
    asked += 1;
    return kFetch(url, init);
  };
  await describeModel('user/model');
  expect(asked).toBe(hub.log.length);
  await modelCache.preload('user/model');
  await modelCache.check('user/model');
  expect(asked).toBe(hub.log.length);
  expect(() => Object.assign(env, { fetch: 'x' })).toThrow(/env\.fetch must be a function/);
});

describe('a redirect', () => {
  const follow = async (location: string) => {
    const server = await startServer((_, response) => void response.writeHead(302, { location }).end());
    try {
      return await fetchInNode(server.url, { method: 'GET', headers: {}, signal: new AbortController().signal, cache: 'default' });
    } finally {
      await server.close();
    }
  };

  test.each(['data:text/plain,x', 'file:///etc/passwd', 'blob:x', 'ftp://a.example/'])('to %s is not followed', async (location) => {
    await expect(follow(location)).rejects.toThrow(/a redirect leads to an address of the scheme '\w+:', which is not followed/);
  });

  test('with a password is not followed, and the message does not name it', async () => {
    const error = await follow('http://user:secret@a.example/').catch((one: Error) => one);
    expect((error as Error).message).toMatch(/a redirect leads to a\.example with a user name or a password/);
    expect((error as Error).message).not.toContain('secret');
  });

  test('names the server that answered, without its query', async () => {
    const other = await startServer((request, response) => void sends('no', 'text/plain', 403)(request, response));
    try {
      hub.fault = (_, response) => {
        response.writeHead(302, { location: `${other.url}blob?signature=secret` }).end();
        return true;
      };
      const error = await classify(false).catch((one: Error) => one);
      expect((error as Error).message).toContain(`(after a redirect to ${other.url}blob)`);
      expect((error as Error).message).not.toContain('secret');
    } finally {
      await other.close();
    }
  });
});
