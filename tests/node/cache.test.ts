// Files that are kept: in a folder on disk, and in caches that misbehave. The servers count what they are asked for.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DiskCache } from '../../web/src/cache/cache_node.js';
import { env, type CustomCache } from '../../web/src/env.js';
import { nodeHostParts } from '../../web/src/worker/host_parts_node.js';
import { LocalHost } from '../../web/src/worker/host.js';
import { modelCache } from '../../web/src/model_cache.js';
import { setPlatform } from '../../web/src/platform/current.js';
import { nodePlatform } from '../../web/src/platform/platform_node.js';
import { Sha256 } from '../../web/src/cache/sha256.js';
import { resolveSource } from '../../web/src/sources/source.js';
import { fakeEngine, type FakeRecord } from './support/fake_engine.js';
import { readTiny } from './support/tiny_files.js';
import { startModelServer, type Content, type ModelServer } from './support/model_server.js';

const kWeights = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 7) % 251);
const kFiles = { 'config.json': '{"model_type":"fake"}', 'tokenizer.json': '{"model":{}}', 'model.safetensors': kWeights };
const kDefaults = { ...env };
const kAll = [...Object.keys(kFiles), 'tokenizer_config.json'].sort();

let server: ModelServer;
let folder: string;

/** The same model at the server's own address and as a hub id. */
function modelAt(prefix: string): Record<string, Content> {
  return Object.fromEntries(Object.entries(kFiles).map(([name, content]) => [`${prefix}${name}`, content]));
}

beforeEach(async () => {
  server = await startModelServer(
    { ...modelAt('m/'), ...modelAt('user/model/resolve/main/') },
    { 'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT' },
  );
  folder = await mkdtemp(join(tmpdir(), 'peruse-cache-'));
  setPlatform(nodePlatform);
  Object.assign(env, kDefaults, { remoteHost: server.url, cacheFolder: folder });
});
afterEach(async () => {
  Object.assign(env, kDefaults);
  await server.close();
  await rm(folder, { recursive: true, maxRetries: 10 }); // What failed may still be letting go of its other files.
});

async function load(
  source: string,
  options: { revision?: string; token?: string; local_files_only?: boolean } = {},
  signal?: AbortSignal,
): Promise<FakeRecord> {
  const { engine, record } = fakeEngine();
  const host = new LocalHost(() => {}, { ...nodeHostParts, startEngine: async () => engine });
  signal?.addEventListener('abort', () => host.dispose());
  const spec = await resolveSource(source, options, { baseUrl: () => undefined, findFolder: async () => undefined });
  try {
    await host.call('load', { task: 't', dtype: 'f32', source: spec, choice: { variant: 'simd', threads: 1, reason: '' } });
  } catch (error) {
    host.dispose();
    throw error;
  }
  return record;
}

function expectWhole(record: FakeRecord): void {
  expect(Buffer.concat(record.weights).equals(kWeights)).toBe(true);
  expect(record.files.get('config.json')).toBe(kFiles['config.json']);
}

/** What the server was asked since the last time: method and file. */
function asked(): string[] {
  return server.calls
    .splice(0)
    .map(({ method, path }) => `${method} ${path.split('/').pop()}`)
    .sort();
}

const gets = (names: readonly string[]) => names.map((name) => `GET ${name}`);
const heads = (names: readonly string[]) => names.map((name) => `HEAD ${name}`);

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
    expect((await readdir(join(folder, 'v2'))).filter((name) => name.endsWith('.lock'))).toEqual([]);
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
    await expect(load(`${server.url}m`)).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('tokenizer_config.json'),
    });
    expectWhole(await load(`${server.url}m`, { local_files_only: true }));
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

describe('a download that is torn or damaged is never used', () => {
  const weights = 'user/model/resolve/main/model.safetensors';

  test('a connection that breaks', async () => {
    server.files.set(weights, (_, response) => {
      response.writeHead(200, { 'content-length': kWeights.length });
      response.write(kWeights.subarray(0, 1_000_000), () => response.destroy());
    });
    await expect(load('user/model')).rejects.toMatchObject({ code: 'network' });
    expect((await modelCache.list()).map(({ url }) => url.split('/').pop()).sort()).toEqual(['config.json', 'tokenizer.json']);
    expect((await readdir(join(folder, 'v2'))).filter((name) => name.endsWith('.part'))).toEqual([]);
    server.files.set(weights, kWeights);
    expectWhole(await load('user/model'));
  });

  test('a process that is killed midway', async () => {
    const real = (name: string) => readFile(new URL(`../../models/peruse-sentiment-convbert-tiny/${name}`, import.meta.url));
    const body = await real('model.safetensors');
    server.files.set(weights, (_, response) => {
      response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 2_000_000));
    });
    for (const name of ['config.json', 'tokenizer.json']) server.files.set(`user/model/resolve/main/${name}`, await real(name));
    const script = `
      import { env, pipeline } from '${new URL('../../web/dist/index_node.js', import.meta.url).href}';
      Object.assign(env, { remoteHost: '${server.url}', cacheFolder: ${JSON.stringify(folder)} });
      await pipeline('text-classification', 'user/model', { progress_callback: () => {} });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    const parts = async () => (await readdir(join(folder, 'v2')).catch(() => [])).filter((name) => name.endsWith('.part'));
    await expect.poll(parts, { timeout: 20_000 }).toHaveLength(1);
    child.kill('SIGKILL');
    await new Promise((resolve) => {
      child.on('exit', resolve);
    });
    expect(await parts()).toHaveLength(1);

    server.files.set(weights, body);
    expect(Buffer.concat((await load('user/model')).weights).equals(body)).toBe(true);
    const [left] = await parts();
    await utimes(join(folder, 'v2', left!), 0, 0);
    await new DiskCache(folder).put('http://a.example/', new Response('x'));
    expect(await parts()).toEqual([]);
  });

  test('a file that was cut or lost on disk', async () => {
    await load('user/model');
    for (const harm of [(path: string) => truncate(path, 10), (path: string) => rm(path)]) {
      const bodies = (await readdir(join(folder, 'v2'))).filter((name) => name.endsWith('.body'));
      await Promise.all(bodies.map((name) => harm(join(folder, 'v2', name))));
      expectWhole(await load('user/model'));
    }
  });

  test('entries that are no entries', async () => {
    await load('user/model');
    for (const name of await readdir(join(folder, 'v2'))) {
      if (name.endsWith('.json')) await writeFile(join(folder, 'v2', name), '{"url":"x","body":"../../../etc/passwd"');
    }
    expectWhole(await load('user/model'));
  });

  test('bytes whose hash is not what the hub announced', async () => {
    const hash = createHash('sha256').update(kWeights).digest('hex');
    const tagged =
      (body: Uint8Array): Content =>
      (_, response) => {
        response.writeHead(200, { etag: `"${hash}"`, 'content-length': body.length }).end(body);
      };
    const wrong = kWeights.slice();
    wrong[2_000_000]! ^= 1;
    server.files.set(weights, tagged(wrong));
    await expect(load('user/model')).rejects.toMatchObject({
      code: 'malformed_file',
      message: expect.stringMatching(/model\.safetensors arrived damaged: its SHA-256 is [0-9a-f]{64}/),
    });
    server.files.set(weights, tagged(kWeights));
    expectWhole(await load('user/model'));
    expect(asked()).toContain('GET model.safetensors');
  });

  test('a hash that is announced where the hub redirects', async () => {
    const hash = createHash('sha256').update(kWeights).digest('hex');
    const elsewhere = await startModelServer({
      blob: (_, response) => {
        response.writeHead(200, { etag: `"${'0'.repeat(64)}"` }).end(kWeights);
      },
    });
    const redirect =
      (etag: string): Content =>
      (_, response) => {
        response.writeHead(302, { location: `${elsewhere.url}blob`, 'x-linked-etag': `"${etag}"` }).end();
      };
    try {
      server.files.set(weights, redirect('f'.repeat(64)));
      await expect(load('user/model')).rejects.toMatchObject({
        code: 'malformed_file',
        message: expect.stringContaining('arrived damaged'),
      });
      server.files.set(weights, redirect(hash));
      expectWhole(await load('user/model'));
    } finally {
      await elsewhere.close();
    }
  });

  test("SHA-256 in TypeScript is Node's", () => {
    const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 256);
    for (let length = 0; length < 300; ++length) {
      const hasher = new Sha256();
      for (let at = 0; at < length; at += 37) hasher.update(bytes.subarray(at, Math.min(length, at + 37)));
      expect(hasher.hex()).toBe(createHash('sha256').update(bytes.subarray(0, length)).digest('hex'));
    }
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
    expect(await readdir(join(folder, 'v2'))).toEqual([]);
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
    expect(await readdir(folder)).toEqual(['v2']);
    const entry = (await readdir(join(folder, 'v2'))).find((name) => name.endsWith('.json'))!;
    expect(JSON.parse(await readFile(join(folder, 'v2', entry), 'utf8'))).toMatchObject({
      url: expect.stringContaining('user/model/resolve/main/'),
    });
  });
});

describe("a cache of the caller's own", () => {
  class MapCache implements CustomCache {
    readonly entries = new Map<string, Response>();
    async match(url: string) {
      return this.entries.get(url)?.clone();
    }
    async put(url: string, response: Response) {
      this.entries.set(url, new Response(response.status === 200 ? await response.arrayBuffer() : null, response));
    }
  }

  test('is used instead', async () => {
    const cache = new MapCache();
    env.cache = cache;
    expectWhole(await load('user/model'));
    asked();
    expectWhole(await load('user/model'));
    expect(asked()).toEqual([]);
    expect([...cache.entries.keys()].filter((url) => url.endsWith('model.safetensors'))).toEqual([
      `${server.url}user/model/resolve/main/model.safetensors`,
    ]);
    expect(await readdir(folder)).toEqual([]);
    await expect(modelCache.clear()).rejects.toMatchObject({ code: 'unsupported' });
  });

  test('serves a worker too', async () => {
    const dist = await import('../../web/dist/index_node.js');
    const cache = new MapCache();
    Object.assign(dist.env, { remoteHost: server.url, cache });
    const { files } = await readTiny('deberta-v2-sequence');
    for (const [name, content] of Object.entries(files)) server.files.set(`user/tiny/resolve/main/${name}`, content);
    try {
      for (const expected of [gets(kAll), []]) {
        const classify = await dist.pipeline('text-classification', 'user/tiny', { worker: true });
        expect(await classify('t1 t2')).toEqual([{ label: expect.stringMatching(/^LABEL_/), score: expect.any(Number) }]);
        await classify.dispose();
        expect(asked()).toEqual(expected);
      }
    } finally {
      Object.assign(dist.env, kDefaults);
    }
  });

  test.each([
    [
      'is full',
      async (_: string, response: Response) => {
        await response.body?.getReader().read();
        throw new DOMException('full', 'QuotaExceededError');
      },
    ],
    [
      'refuses at once',
      async () => {
        throw new TypeError('no');
      },
    ],
    ['reads nothing', async () => {}],
  ])('that %s does not hinder loading', async (_, put) => {
    env.cache = { match: async () => undefined, put };
    expectWhole(await load('user/model'));
  });

  test('that can not be read holds nothing', async () => {
    env.cache = {
      match: async () => {
        throw new Error('broken');
      },
      put: async () => {},
    };
    expectWhole(await load('user/model'));
  });

  test('that gives back less than it was given is found out, and given the rest again', async () => {
    const cache = new MapCache();
    env.cache = Object.assign(cache, { delete: async (url: string) => cache.entries.delete(url) });
    await load('user/model');
    const url = `${server.url}user/model/resolve/main/model.safetensors`;
    const { headers } = cache.entries.get(url)!;
    cache.entries.set(url, new Response(kWeights.slice(0, 100), { headers }));
    asked();
    expectWhole(await load('user/model'));
    expect(asked()).toEqual(['GET model.safetensors']);
    expectWhole(await load('user/model'));
    expect(asked()).toEqual([]);
  });

  test('never makes the engine wait for more than a few MB, nor runs behind by more', async () => {
    let taken = 0;
    let fed = 0;
    const slow = async (_: string, response: Response) => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        taken += chunk.length;
        expect(fed - taken).toBeLessThan(6 << 20);
        await new Promise((resolve) => {
          setTimeout(resolve, 1);
        });
      }
    };
    env.cache = { match: async () => undefined, put: slow };
    const big = new Uint8Array(20 << 20);
    server.files.set('user/model/resolve/main/model.safetensors', big);
    const { engine } = fakeEngine();
    const feed = engine.feedWeights.bind(engine);
    engine.feedWeights = (chunk) => {
      fed += chunk.length;
      return feed(chunk);
    };
    const host = new LocalHost(() => {}, { ...nodeHostParts, startEngine: async () => engine });
    const source = await resolveSource('user/model', {}, { baseUrl: () => undefined, findFolder: async () => undefined });
    await host.call('load', { task: 't', dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } });
    expect(taken).toBeGreaterThanOrEqual(big.length);
  });
});

test('a local folder comes first, if it has the model', async () => {
  const local = await startModelServer(modelAt('models/user/model/'));
  try {
    env.localModelPath = `${local.url}models`;
    const places = { baseUrl: () => local.url, findFolder: async () => undefined };
    const open = async (id: string) => {
      const { engine, record } = fakeEngine();
      const host = new LocalHost(() => {}, { ...nodeHostParts, startEngine: async () => engine });
      const source = await resolveSource(id, {}, places);
      await host.call('load', { task: 't', dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } });
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
  expect((await readdir(join(folder, 'v2'))).filter((name) => name.endsWith('.body'))).toHaveLength(2);
  expect(await cache.delete('http://a.example/1')).toBe(true);
  expect(await cache.delete('http://a.example/1')).toBe(false);
});
