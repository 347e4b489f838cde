// Caches that cannot be written, never reply or return wrong bytes; servers that are busy, stall or compress their replies. A load continues
// if possible, and never waits forever.
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { contentBytes, Sealer, sealedBytes, unseal } from '../../web/src/cache/blocks.js';
import { DiskCache } from '../../web/src/cache/cache_node.js';
import { lockFile } from '../../web/src/cache/lock_node.js';
import { env } from '../../web/src/env.js';
import { modelCache } from '../../web/src/model_cache.js';
import { patience } from '../../web/src/patience.js';
import { setRuntime } from '../../web/src/platform/current.js';
import { nodeRuntime } from '../../web/src/platform/platform_node.js';
import { fetchInNode } from '../../web/src/sources/file_access_node.js';
import { type FakeLoad, loadFake } from './support/fake_load.js';
import { type Content, type ModelServer, startModelServer } from './support/model_server.js';

const kWeights = Uint8Array.from({ length: 6_500_000 }, (_, i) => (i * 7) % 251);
const kFiles: Record<string, Uint8Array | string> = {
  'config.json': '{"model_type":"fake"}',
  'tokenizer.json': '{"model":{}}',
  'model.safetensors': kWeights,
};
const kHub = 'user/model/resolve/main/';
const kDefaults = { ...env };
const kPatience = { ...patience };

let server: ModelServer;
let folder: string;

beforeEach(async () => {
  const files = (prefix: string) => Object.entries(kFiles).map(([name, content]): [string, Content] => [prefix + name, content]);
  server = await startModelServer(Object.fromEntries([...files(kHub), ...files('m/')]), {
    'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT',
  });
  folder = await mkdtemp(join(tmpdir(), 'peruse-cache-'));
  setRuntime(nodeRuntime);
  Object.assign(env, kDefaults, { remoteHost: server.url, cacheFolder: folder });
  Object.assign(patience, { lock: 500, retries: [10, 20], retryAfter: 2000 });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  Object.assign(env, kDefaults);
  Object.assign(patience, kPatience);
  await server.close();
  await chmod(folder, 0o700);
  await rm(folder, { recursive: true, maxRetries: 10 });
});

function expectWhole({ record }: FakeLoad): void {
  expect(Buffer.concat(record.weights).equals(kWeights)).toBe(true);
  expect(record.files.get('config.json')).toBe(kFiles['config.json']);
}

function asked(): string[] {
  return server.calls
    .splice(0)
    .map(({ method, path }) => `${method} ${path.split('/').pop()}`)
    .filter((call) => !call.endsWith('tokenizer_config.json'))
    .sort();
}

describe('a cache that can not be written to', () => {
  test.each<[string, () => Promise<string>]>([
    [
      'a file in its place',
      async () => {
        await writeFile(join(folder, 'file'), 'x');
        return join(folder, 'file');
      },
    ],
    [
      "a file in its version's place",
      async () => {
        await writeFile(join(folder, 'v3'), 'x');
        return folder;
      },
    ],
    ['a folder that nobody can make', async () => '/proc/peruse'],
    ['a folder of the system', async () => '/dev/null/peruse'],
    [
      'a read-only one, in which nothing lies',
      async () => {
        await chmod(folder, 0o500);
        return folder;
      },
    ],
  ])('%s: the load goes on, and says so', async (_, make) => {
    env.cacheFolder = await make();
    const loads = await Promise.all([loadFake('user/model'), loadFake('user/model')]);
    loads.forEach(expectWhole);
    if (process.getuid?.() === 0 && _.startsWith('a read-only')) return; // root can write to read-only files
    expect(loads[0]!.report.notices.join('\n')).toMatch(/is not cached: /);
  });

  test('no home at all', async () => {
    env.cacheFolder = undefined;
    const openCache = async () => {
      throw new Error('ENOENT: there is no home folder');
    };
    const load = await loadFake('user/model', { parts: { openCache } });
    expectWhole(load);
    expect(load.report.notices).toEqual([expect.stringContaining('there is no home folder')]);
  });

  test("an aborted load does not keep the others' lock", async () => {
    env.cache = { match: async () => undefined, put: () => new Promise(() => {}) };
    patience.cache = 300;
    const stop = new AbortController();
    const cancelled = loadFake('user/model', { signal: stop.signal });
    setTimeout(() => stop.abort(), 50);
    await expect(cancelled).rejects.toMatchObject({ code: 'aborted' });
    expectWhole(await loadFake('user/model'));
  });
});

describe("a cache of the caller's own", () => {
  const never = () => new Promise<never>(() => {});
  beforeEach(() => void Object.assign(patience, { cache: 300 }));
  test.each([
    ['whose put never answers', { match: async () => undefined, put: never }, /not cached: the cache (does not answer|takes no bytes)/],
    ['whose match never answers', { match: never, put: async () => {} }, /the cache does not answer/],
    ['that never answers', { match: never, put: never }, /the cache does not answer/],
    [
      'whose put reads and never ends',
      {
        match: async () => undefined,
        put: async (_: string, response: Response) => {
          await response.arrayBuffer();
          await never();
        },
      },
      /not cached: the cache does not answer/,
    ],
    ['whose put reads nothing', { match: async () => undefined, put: async () => {} }, /did not read it to its end/],
    [
      'whose methods throw at once',
      {
        match: () => {
          throw new Error('no match');
        },
        put: () => {
          throw new Error('no put');
        },
      },
      /no put/,
    ],
    [
      'whose match gives no Response',
      { match: async () => ({ status: 200 }) as Response, put: async () => {} },
      /did not return a Response/,
    ],
    [
      'whose body hangs',
      {
        match: async (url: string) =>
          url.endsWith('model.safetensors') ? new Response(new ReadableStream({}), { headers: { 'content-length': '5' } }) : undefined,
        put: async (_: string, response: Response) => void (await response.arrayBuffer()),
      },
      /is damaged \(it could not be read on\) and was removed; it was fetched again/,
    ],
  ])('%s does not hinder loading', async (_, cache, notice) => {
    env.cache = cache;
    const start = performance.now();
    const load = await loadFake('user/model');
    expectWhole(load);
    expect(performance.now() - start).toBeLessThan(4000);
    expect(load.report.notices.join('\n')).toMatch(notice);
  });
});

test('a file of any length comes out of its blocks as it went in; a cut anywhere is seen', async () => {
  const kBlock = 1 << 20;
  for (const length of [0, 1, 1000, kBlock - 1, kBlock, kBlock + 1, 2 * kBlock, 3 * kBlock + 77]) {
    const content = kWeights.subarray(0, length);
    const sealer = new Sealer('a file');
    const sealed: Uint8Array[] = [];
    for (let at = 0; at < length; at += 300_001) sealed.push(...(await sealer.add(content.subarray(at, Math.min(length, at + 300_001)))));
    sealed.push(await sealer.end());
    const stored = Buffer.concat(sealed);
    expect(stored.length).toBe(sealedBytes(length));
    expect(contentBytes(stored.length)).toBe(length);
    const read = async (bytes: Uint8Array) => {
      const pieces = (async function* () {
        for (let at = 0; at < bytes.length; at += 70_001) yield bytes.subarray(at, at + 70_001);
      })();
      const parts: Uint8Array[] = [];
      for await (const block of unseal(pieces, 'a file')) parts.push(block);
      return Buffer.concat(parts);
    };
    expect((await read(stored)).equals(content)).toBe(true);
    for (const end of [0, 31, kBlock + 31, kBlock + 32, stored.length - 33, stored.length - 1].filter(
      (one) => one >= 0 && one < stored.length,
    )) {
      await expect(read(stored.subarray(0, end)), `${length} cut at ${end}`).rejects.toThrow(/its end is missing|are not those/);
    }
  }
});

test('a lock that nobody lets go of is not waited for without end', async () => {
  const path = join(folder, 'v3', 'x.lock');
  const signal = new AbortController().signal;
  const first = await lockFile(path, signal);
  const second = await lockFile(path, signal);
  first();
  first();
  second();
  const third = await lockFile(path, signal);
  await expect.poll(() => readdir(join(folder, 'v3'))).toEqual(['x.lock']);
  third();
});

describe('an entry that was damaged where it lies', () => {
  const bodies = async () => (await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.body'));
  const flip = async (name: string, at: number, bit: number) => {
    const path = join(folder, 'v3', name);
    const bytes = await readFile(path);
    bytes[at % bytes.length]! ^= 1 << bit;
    await writeFile(path, bytes);
  };

  test('is found out at any bit, removed, fetched again, and spoken of', async () => {
    await loadFake('user/model');
    for (let i = 0; i < 15; ++i) {
      const names = (await readdir(join(folder, 'v3'))).filter((name) => /\.(json|body)$/.test(name));
      for (const name of names) await flip(name, Math.floor((i / 15) * 7_000_000), i % 8);
      const load = await loadFake('user/model');
      expectWhole(load);
      asked();
      expectWhole(await loadFake('user/model'));
      expect(asked()).toEqual([]);
    }
  });

  test('only what was not given yet is taken from the server, which must have the same file', async () => {
    await loadFake(`${server.url}m`);
    const weights = async () => {
      const all = await Promise.all(
        (await bodies()).map(async (name) => ({ name, size: (await readFile(join(folder, 'v3', name))).length })),
      );
      return all.find(({ size }) => size > 1_000_000)!.name;
    };
    await flip(await weights(), 5_000_000, 3);
    const load = await loadFake(`${server.url}m`);
    expectWhole(load);
    expect(load.report.notices).toEqual([
      expect.stringMatching(
        /model\.safetensors is damaged \(its bytes are not those that were stored\) and was removed; it was fetched again/,
      ),
    ]);

    await flip(await weights(), 5_000_000, 3);
    let asks = 0;
    server.files.set('m/model.safetensors', (request, response) => {
      // The file is replaced between the check for changes and the second download.
      const date = request.method === 'HEAD' ? 'Sat, 01 Jan 2022 00:00:00 GMT' : 'Sun, 02 Jan 2022 00:00:00 GMT';
      asks += 1;
      response
        .writeHead(200, { 'content-length': kWeights.length, 'last-modified': date })
        .end(request.method === 'HEAD' ? undefined : kWeights);
    });
    expectWhole(await loadFake(`${server.url}m`)); // begins again with the new file
    expect(asks).toBeGreaterThan(2);
  });

  test('offline it is an error that names the cache', async () => {
    await loadFake('user/model');
    for (const name of await bodies()) await flip(name, 3, 0);
    env.offline = true;
    await expect(loadFake('user/model')).rejects.toMatchObject({
      code: 'offline',
      message: expect.stringMatching(/The cached copy of .* is damaged .* and was removed; Peruse is offline/),
    });
  });

  test('what older versions stored is not left lying there', async () => {
    await mkdir(join(folder, 'v1'));
    const key = '0'.repeat(40);
    for (const name of [`${key}.json`, `${key}-${randomUUID()}.body`, `${key}.lock`]) await writeFile(join(folder, 'v1', name), 'x');
    await new DiskCache(folder).put('http://a.example/', new Response('x'));
    expect(await readdir(folder)).toEqual(['v3']);
  });
});

describe('a file whose length is not told, or told wrongly', () => {
  const chunked: Content = (request, response) => {
    response.setHeader('content-type', 'application/octet-stream');
    if (request.method === 'HEAD') return void response.writeHead(200, { 'content-length': kWeights.length }).end();
    response.write(kWeights.subarray(0, 1000));
    response.end(kWeights.subarray(1000));
  };
  const gzipped =
    (body: Uint8Array): Content =>
    (request, response) => {
      const zipped = gzipSync(body);
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length });
      response.end(request.method === 'HEAD' ? undefined : zipped);
    };
  /** Keeps only safelisted headers, like a browser across origins. */
  const hiding: typeof fetchInNode = async (url, init) => {
    const { response, url: at } = await fetchInNode(url, init);
    const shown = [...response.headers].filter(([name]) => ['content-length', 'content-type', 'last-modified'].includes(name));
    return { response: new Response(response.body, { status: response.status, headers: shown }), url: at, hidden: true };
  };

  test.each(['user/model', 'm'])('%s is stored, served right, and asked for once', async (name) => {
    const source = name === 'm' ? `${server.url}m` : name;
    for (const content of [chunked, gzipped(kWeights)]) {
      await modelCache.clear();
      for (const path of [`${kHub}model.safetensors`, 'm/model.safetensors']) server.files.set(path, content);
      expectWhole(await loadFake(source));
      asked();
      for (let i = 0; i < 2; ++i) {
        expectWhole(await loadFake(source));
        expect(asked().filter((call) => call.startsWith('GET'))).toEqual([]);
      }
      expect((await modelCache.list()).map(({ bytes }) => bytes)).toContain(kWeights.length);
    }
  });

  test.each(['compressible', 'incompressible'])('%s, compressed across origins, where the encoding is hidden', async (kind) => {
    const body = new Uint8Array(60_000).fill(3);
    if (kind === 'incompressible') crypto.getRandomValues(body); // longer after gzip than before
    for (const path of [`${kHub}model.safetensors`, 'm/model.safetensors']) server.files.set(path, gzipped(body));
    for (const source of ['user/model', `${server.url}m`]) {
      for (let i = 0; i < 3; ++i) {
        const { record } = await loadFake(source, { parts: { fetchFile: hiding } });
        expect(Buffer.concat(record.weights).equals(body)).toBe(true);
        if (i > 0) expect(asked().filter((call) => call.startsWith('GET'))).toEqual([]);
        else asked();
      }
    }
  });
});

describe('a server that is too busy', () => {
  const busy =
    (status: number, times: number, headers: Record<string, string> = {}): Content =>
    (request, response) => {
      if (times-- > 0) return void response.writeHead(status, headers).end();
      response.writeHead(200, { 'content-length': kWeights.length }).end(request.method === 'HEAD' ? undefined : kWeights);
    };

  test.each([408, 425, 429, 500, 502, 503, 504, 520])('%i: it is asked again, a few times', async (status) => {
    server.files.set(`${kHub}model.safetensors`, busy(status, 2));
    expectWhole(await loadFake('user/model'));
    env.cache = false;
    server.files.set(`${kHub}model.safetensors`, busy(status, 99));
    await expect(loadFake('user/model')).rejects.toMatchObject({ code: 'network', message: expect.stringContaining(`answered ${status}`) });
  });

  test('when it says when to come again, that is honoured', async () => {
    server.files.set(`${kHub}model.safetensors`, busy(503, 1, { 'retry-after': '1' }));
    const start = performance.now();
    expectWhole(await loadFake('user/model'));
    expect(performance.now() - start).toBeGreaterThan(990);
    env.cache = false;
    server.files.set(`${kHub}model.safetensors`, busy(503, 1, { 'retry-after': new Date(Date.now() + 3600_000).toUTCString() }));
    await expect(loadFake('user/model')).rejects.toMatchObject({
      code: 'network',
      message: expect.stringMatching(/answered 503 .*requests a pause of 3\d\d\d s/),
    });
  });

  test('what is stored is used meanwhile, as with a server that is gone', async () => {
    expectWhole(await loadFake(`${server.url}m`));
    for (const status of [429, 503]) {
      for (const name of Object.keys(kFiles)) server.files.set(`m/${name}`, (_, response) => void response.writeHead(status).end());
      expectWhole(await loadFake(`${server.url}m`));
    }
  });

  test('a wait for it can be cancelled', async () => {
    server.files.set(`${kHub}model.safetensors`, busy(503, 9, { 'retry-after': '2' }));
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    const start = performance.now();
    await expect(loadFake('user/model', { signal: stop.signal })).rejects.toMatchObject({ code: 'aborted' });
    expect(performance.now() - start).toBeLessThan(1500);
  });
});

describe('a server that stalls', () => {
  beforeEach(() => void Object.assign(patience, { server: 400 }));
  const zipped = gzipSync(kWeights);
  const damaged = zipped.slice();
  damaged.fill(0xff, 20_000, 20_100);
  test.each<[string, Content, RegExp]>([
    ['never answers', () => {}, /the server did not answer within 1 s/],
    [
      'stops midway',
      (_, response) => void response.writeHead(200, { 'content-length': kWeights.length }).write(kWeights.subarray(0, 1000)),
      /after 1000 of 6500000 bytes nothing came for 1 s/,
    ],
    [
      'sends damaged gzip',
      (_, response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(damaged),
      /nothing came for 1 s: the server stalls, or sends a damaged file|the connection broke after/,
    ],
  ])('one that %s is an error, and the next load works', async (_, content, message) => {
    server.files.set(`${kHub}model.safetensors`, content);
    await expect(loadFake('user/model')).rejects.toMatchObject({ code: 'network', message: expect.stringMatching(message) });
    server.files.set(`${kHub}model.safetensors`, kWeights);
    expectWhole(await loadFake('user/model'));
  });
});
