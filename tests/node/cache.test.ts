import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { DiskCache } from '../../web/src/cache/cache_node.js';
import { env } from '../../web/src/env.js';
import { modelCache } from '../../web/src/model_cache.js';
import { resolveSource } from '../../web/src/sources/source.js';
import { LocalHost } from '../../web/src/worker/local_host.js';
import { nodeEngines } from '../../web/src/worker/runtime_node.js';
import { fakeEngine } from './support/fake_engine.js';
import { startModelServer } from './support/model_server.js';
import {
  asked,
  expectWhole,
  folder,
  gets,
  heads,
  kAll,
  kFiles,
  kWeights,
  load,
  modelAt,
  serveAModel,
  server,
} from './support/served_model.js';

serveAModel();

describe('a model of the hub', () => {
  test('is fetched once, absent files included; then it needs no server at all', async () => {
    expectWhole(await load('user/model'));
    expect(asked()).toEqual(gets(kAll));
    expectWhole(await load('user/model'));
    expect(asked()).toEqual([]);
    await server.close();
    expectWhole(await load('user/model'));
  });

  test('is kept by revision', async () => {
    for (const [name, content] of Object.entries(modelAt('user/model/resolve/v2/'))) server.files.set(name, content);
    server.files.set('user/model/resolve/v2/config.json', '{"model_type":"new"}');
    await load('user/model');
    expect((await load('user/model', { revision: 'v2' })).files.get('config.json')).toBe('{"model_type":"new"}');
    expect((await load('user/model')).files.get('config.json')).toBe(kFiles['config.json']);
  });

  test('several loads at once share one download', async () => {
    const records = await Promise.all([load('user/model'), load('user/model'), load('user/model')]);
    records.forEach(expectWhole);
    expect(asked()).toEqual(gets(kAll));
  });

  test('so do workers and processes', async () => {
    const real = (name: string) => readFile(new URL(`../../models/peruse-sentiment-convbert-tiny/${name}`, import.meta.url));
    for (const name of ['config.json', 'tokenizer.json', 'model.safetensors'])
      server.files.set(`user/model/resolve/main/${name}`, await real(name));
    const script = `
      import { env, pipeline } from '${new URL('../../web/dist/index_node.js', import.meta.url).href}';
      Object.assign(env, { remoteHost: '${server.url}', cacheFolder: ${JSON.stringify(folder)} });
      const load = () => pipeline('text-classification', 'user/model', { worker: true });
      for (const one of await Promise.all([load(), load()])) await one.dispose();`;
    const children = [1, 2].map(() => spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' }));
    expect(
      await Promise.all(
        children.map(
          (child) =>
            new Promise((resolve) => {
              child.on('exit', resolve);
            }),
        ),
      ),
    ).toEqual([0, 0]);
    expect(asked()).toEqual(gets(kAll));
    expect((await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  test('a load that waits goes on when the one before it is cancelled', async () => {
    let first = true;
    server.files.set('user/model/resolve/main/model.safetensors', (_, response) => {
      response.writeHead(200, { 'content-length': kWeights.length });
      if (first) response.write(kWeights.subarray(0, 1000));
      else response.end(kWeights);
      first = false;
    });
    const stop = new AbortController();
    const cancelled = load('user/model', {}, stop.signal);
    await expect.poll(() => server.requests.filter((path) => path.endsWith('safetensors')).length, { timeout: 20_000 }).toBe(1);
    const waiting = load('user/model');
    const impatient = new AbortController();
    const neither = load('user/model', {}, impatient.signal);
    impatient.abort();
    await expect(neither).rejects.toMatchObject({ code: 'aborted' });
    stop.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'aborted' });
    expectWhole(await waiting);
  });
});

describe('a model behind a URL', () => {
  test('is fetched once, and then only asked after', async () => {
    expectWhole(await load(`${server.url}m`));
    expect(asked()).toEqual(gets(kAll));
    expectWhole(await load(`${server.url}m`));
    expect(asked()).toEqual(['GET tokenizer_config.json', ...heads(Object.keys(kFiles).sort())]);
  });

  test('is fetched again when the server has another: by date, length or tag', async () => {
    await load(`${server.url}m`);
    server.files.set('m/config.json', '{"model_type":"longer"}');
    expect((await load(`${server.url}m`)).files.get('config.json')).toBe('{"model_type":"longer"}');
    let tag = '"a"';
    server.files.set('m/tokenizer.json', (_, response) => {
      response.writeHead(200, { etag: tag, 'content-type': 'application/json' }).end(`[${tag}]`);
    });
    await load(`${server.url}m`);
    tag = '"b"';
    expect((await load(`${server.url}m`)).files.get('tokenizer.json')).toBe('["b"]');
    asked();
    await load(`${server.url}m`);
    expect(asked().filter((call) => call.startsWith('GET'))).toEqual(['GET tokenizer_config.json']);
  });

  test('is what is stored when the server is gone', async () => {
    await load(`${server.url}m`);
    await server.close();
    expectWhole(await load(`${server.url}m`));
    expectWhole(await load(`${server.url}m`, { offline: true }));
  });
});

describe('offline', () => {
  test('what is stored loads; the rest is one typed error, and no server is asked', async () => {
    env.offline = true;
    for (const source of ['user/model', `${server.url}m`]) {
      await expect(load(source)).rejects.toMatchObject({
        name: 'PeruseError',
        code: 'offline',
        message: expect.stringContaining('config.json'),
      });
    }
    env.cache = false;
    await expect(load('user/model')).rejects.toMatchObject({ code: 'offline' });
    expect(asked()).toEqual([]);
    Object.assign(env, { offline: false, cache: true });
    await load('user/model');
    asked();
    env.offline = true;
    expectWhole(await load('user/model'));
    expect(asked()).toEqual([]);
  });
});

describe('a gated model', () => {
  beforeEach(() => {
    for (const [name, content] of Object.entries(modelAt('user/model/resolve/main/'))) {
      server.files.set(name, (request, response) => {
        if (request.headers.authorization === undefined) return void response.writeHead(401).end();
        if (request.headers.authorization !== 'Bearer right') return void response.writeHead(403).end();
        response.writeHead(200, { 'content-type': 'application/json' }).end(content as string);
      });
    }
  });

  test('says what to do', async () => {
    await expect(load('user/model')).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(
        /401: the model is gated or private, or does not exist; .*user\/model and pass an access token of yours as 'token'/,
      ),
    });
    await expect(load('user/model', { token: 'wrong' })).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringMatching(/403: the token given does not open user\/model/),
    });
  });

  test('loads with a token, of the call or of env', async () => {
    expectWhole(await load('user/model', { token: 'right' }));
    env.cache = false;
    env.token = 'right';
    expectWhole(await load('user/model'));
  });

  test('a token goes to the hub and to nobody else', async () => {
    const elsewhere = await startModelServer(modelAt(''));
    try {
      for (const name of Object.keys(kFiles)) {
        server.files.set(`user/model/resolve/main/${name}`, (_, response) => {
          response.writeHead(307, { location: `/inner/${name}` }).end();
        });
        server.files.set(`inner/${name}`, (_, response) => {
          response.writeHead(302, { location: elsewhere.url + name }).end();
        });
      }
      expectWhole(await load('user/model', { token: 'right' }));
      expect(server.calls.filter(({ headers }) => headers.authorization !== 'Bearer right')).toEqual([]);
      expect(server.calls.some(({ path }) => path.startsWith('inner/'))).toBe(true);
      await load(elsewhere.url, { token: 'right' });
      expect(elsewhere.calls.length).toBeGreaterThan(3);
      expect(elsewhere.calls.filter(({ headers }) => headers.authorization !== undefined)).toEqual([]);
    } finally {
      await elsewhere.close();
    }
  });

  test('a revision that does not exist is said so', async () => {
    server.files.set('user/model/resolve/none/config.json', (_, response) => {
      response.writeHead(404, { 'x-error-code': 'RevisionNotFound' }).end();
    });
    await expect(load('user/model', { revision: 'none', token: 'right' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('no such revision'),
    });
  });
});

describe('what is kept', () => {
  test('can be listed, removed by model and cleared', async () => {
    await load('user/model');
    await load(`${server.url}m`);
    const list = await modelCache.list();
    expect(list).toHaveLength(6);
    expect(list.find(({ url }) => url === `${server.url}m/model.safetensors`)).toMatchObject({
      bytes: kWeights.length,
      storedAt: expect.any(Date),
    });
    expect(await modelCache.delete('user/model')).toBe(3);
    expect((await modelCache.list()).every(({ url }) => url.startsWith(`${server.url}m/`))).toBe(true);
    asked();
    await load('user/model');
    expect(asked()).toEqual(gets(kAll));
    expect(await modelCache.clear()).toBe(6);
    expect(await readdir(join(folder, 'v3'))).toEqual([]);
  });

  test('is nothing with cache: false', async () => {
    env.cache = false;
    await load('user/model');
    await load('user/model');
    expect(asked()).toHaveLength(8);
    expect(await modelCache.list()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  test('lies in a folder of its version; others are not read', async () => {
    await load('user/model');
    expect(await readdir(folder)).toEqual(['v3']);
    const entry = (await readdir(join(folder, 'v3'))).find((name) => name.endsWith('.json'))!;
    expect(JSON.parse(await readFile(join(folder, 'v3', entry), 'utf8'))).toMatchObject({
      url: expect.stringContaining('user/model/resolve/main/'),
    });
  });
});

test('a local folder comes first, if it has the model', async () => {
  const local = await startModelServer(modelAt('models/user/model/'));
  try {
    env.localModelPath = `${local.url}models`;
    const paths = { baseUrl: () => local.url, findFolder: async () => undefined };
    const open = async (id: string) => {
      const { engine, record } = fakeEngine();
      const host = new LocalHost(() => {}, { ...nodeEngines, startEngine: async () => engine });
      const source = await resolveSource(id, {}, paths);
      await host.call('load', { task: { name: 't' }, dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } });
      return record;
    };
    expectWhole(await open('user/model'));
    expect(server.calls).toEqual([]);
    for (const [name, content] of Object.entries(modelAt('user/other/resolve/main/'))) server.files.set(name, content);
    expectWhole(await open('user/other'));
    expect(asked()).toEqual(gets(kAll));
  } finally {
    await local.close();
  }
});

test("the disk's cache keeps status and headers", async () => {
  const cache = new DiskCache(folder);
  await cache.put('http://a.example/1', new Response('abc', { headers: { etag: '"x"' } }));
  await cache.put('http://a.example/1', new Response('abcd', { headers: { etag: '"y"' } }));
  await cache.put('http://a.example/2', new Response(null, { status: 404 }));
  const one = (await cache.match('http://a.example/1'))!;
  expect([await one.text(), one.headers.get('etag'), one.headers.get('content-length')]).toEqual(['abcd', '"y"', '4']);
  expect((await cache.match('http://a.example/2'))!.status).toBe(404);
  expect(await cache.match('http://a.example/3')).toBeUndefined();
  expect((await cache.keys()).sort()).toEqual(['http://a.example/1', 'http://a.example/2']);
  expect((await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.body'))).toHaveLength(2);
  expect(await cache.delete('http://a.example/1')).toBe(true);
  expect(await cache.delete('http://a.example/1')).toBe(false);
});
