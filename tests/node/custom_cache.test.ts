import { readdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { env } from '../../web/src/env.js';
import { modelCache } from '../../web/src/model_cache.js';
import { resolveSource } from '../../web/src/sources/source.js';
import { LocalHost } from '../../web/src/worker/local_host.js';
import { nodeEngines } from '../../web/src/worker/runtime_node.js';
import { fakeEngine } from './support/fake_engine.js';
import { MapCache } from './support/map_cache.js';
import { asked, expectWhole, folder, gets, kAll, kDefaults, kWeights, load, serveAModel, server } from './support/served_model.js';
import { readTiny } from './support/tiny_files.js';

serveAModel();

describe("a cache of the caller's own", () => {
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
    const host = new LocalHost(() => {}, { ...nodeEngines, startEngine: async () => engine });
    const source = await resolveSource('user/model', {}, { baseUrl: () => undefined, findFolder: async () => undefined });
    await host.call('load', { task: { name: 't' }, dtype: 'f32', source, choice: { variant: 'simd', threads: 1, reason: '' } });
    expect(taken).toBeGreaterThanOrEqual(big.length);
  });
});
