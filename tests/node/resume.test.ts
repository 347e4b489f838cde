// Connections that break within large weights: the rest is requested, also by a later load. Files of two commits are never mixed.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { env } from '../../web/src/env.js';
import { modelCache } from '../../web/src/model_cache.js';
import { patience } from '../../web/src/patience.js';
import { setRuntime } from '../../web/src/platform/current.js';
import { nodeRuntime } from '../../web/src/platform/platform_node.js';
import { breaksAt as breaksIn, randomPositions } from './support/broken_downloads.js';
import { loadFake } from './support/fake_load.js';
import { folder, hub, useFreshHub } from './support/fresh_hub.js';
import { type Fault, serve, startHub } from './support/model_hub.js';

const kMegabyte = 1 << 20;
const kWeights = new Uint8Array(40 * kMegabyte);
for (let i = 0; i < kWeights.length; i += 4) new DataView(kWeights.buffer).setUint32(i, Math.imul(i + 1, 2654435761));
const kPatience = { ...patience };

useFreshHub(
  [env],
  () =>
    new Map<string, Uint8Array>([
      ['config.json', Buffer.from('{"model_type":"fake"}')],
      ['tokenizer.json', Buffer.from('{"model":{}}')],
      ['model.safetensors', kWeights],
    ]),
);
beforeEach(() => {
  setRuntime(nodeRuntime);
  Object.assign(patience, { retries: [5, 10, 20] });
});
afterEach(() => {
  Object.assign(patience, kPatience);
});

function weightsOf({ record }: { record: { weights: Uint8Array[] } }): string {
  return createHash('sha256').update(Buffer.concat(record.weights)).digest('hex');
}
const kTag = `"${createHash('sha1').update(kWeights).digest('hex')}"`;
const kHash = createHash('sha256').update(kWeights).digest('hex');

/** Breaks the connection when the body has reached the next of these positions in the file. */
function breaksAt(positions: number[], { etag = () => kTag as string | undefined, ranges = true } = {}): Fault {
  const answer = breaksIn(positions, { content: kWeights, etag, ranges });
  return (request, response, file) => {
    if (file !== 'model.safetensors' || request.method !== 'GET') return false;
    answer(request, response);
    return true;
  };
}

describe.each([true, false])('ranges: %s', (ranges) => {
  test.each(['user/model', ''])('twenty random breaks in 40 MB, source "%s"', async (source) => {
    hub.fault = breaksAt(randomPositions(20, 7, kWeights.length), { ranges });
    const loaded = await loadFake(source || hub.origin);
    expect(weightsOf(loaded)).toBe(kHash);
    const asked = hub.log.filter((line) => line === 'GET model.safetensors').length;
    expect(asked).toBeGreaterThan(10);
    hub.log.length = 0;
    expect(weightsOf(await loadFake(source || hub.origin))).toBe(kHash);
    expect(hub.log.filter((line) => line.startsWith('GET model'))).toEqual([]);
  });

  test('without a cache', async () => {
    env.cache = false;
    hub.fault = breaksAt(randomPositions(6, 3, kWeights.length), { ranges });
    expect(weightsOf(await loadFake('user/model'))).toBe(kHash);
  });
});

let tags = 0;
const changingTag = () => {
  tags += 1;
  return `"${tags >> 1}"`;
};
test.each([() => undefined, changingTag])('a tag that is absent, or changes between the parts: the load begins again', async (etag) => {
  tags = 0;
  hub.fault = breaksAt([5 * kMegabyte, 9 * kMegabyte], { etag });
  expect(weightsOf(await loadFake('user/model'))).toBe(kHash);
});

test('a server that breaks each connection fails in the end, and names the position', async () => {
  hub.fault = breaksAt(Array.from({ length: 200 }, () => 3 * kMegabyte));
  await expect(loadFake('user/model')).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/model\.safetensors: the connection broke after \d+ of 41943040 bytes/),
  });
});

test('another load continues where the last one ended', async () => {
  const end = 10.5 * kMegabyte;
  const ranges: string[] = [];
  hub.fault = (request, response, file) => {
    if (file === 'model.safetensors') ranges.push(request.headers.range ?? '');
    return breaksAt(Array.from({ length: 9 }, () => end))(request, response, file);
  };
  await expect(loadFake('user/model')).rejects.toMatchObject({ code: 'network' });
  expect((await modelCache.list()).map(({ url }) => url.split('/').pop()).sort()).toEqual(['config.json', 'tokenizer.json']);
  hub.fault = (request, response, file) => {
    if (file === 'model.safetensors') ranges.push(request.headers.range ?? '');
    if (file !== 'model.safetensors') return false;
    return breaksAt([])(request, response, file);
  };
  ranges.length = 0;
  expect(weightsOf(await loadFake('user/model'))).toBe(kHash);
  expect(ranges).toEqual([`bytes=${10 * kMegabyte}-`]); // the last sealed block
  expect(weightsOf(await loadFake('user/model', { offline: true }))).toBe(kHash);
  expect(await modelCache.delete('user/model')).toBe(3);
  expect(await readdir(join(folder, 'v3'))).toEqual([]);
});

test('another load begins again if the server has another file by then', async () => {
  hub.fault = breaksAt(Array.from({ length: 9 }, () => 9 * kMegabyte));
  await expect(loadFake('user/model')).rejects.toMatchObject({ code: 'network' });
  hub.fault = breaksAt([], { etag: () => '"2"' });
  expect(weightsOf(await loadFake('user/model'))).toBe(kHash);
  expect(weightsOf(await loadFake('user/model', { offline: true }))).toBe(kHash);
});

test('progress never goes back', async () => {
  const { pipeline } = await import('../../web/dist/index_node.js');
  const dist = await import('../../web/dist/index_node.js');
  const own = await startHub();
  Object.assign(dist.env, { remoteHost: own.origin, cacheFolder: folder });
  try {
    let breaks = 3;
    own.fault = (_, response, file) => {
      const body = own.files.get(file);
      if (file !== 'model.safetensors' || body === undefined || breaks-- <= 0) return false;
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.subarray(0, 900_000), () => setTimeout(() => response.destroy(), 50));
      return true;
    };
    const loaded: number[] = [];
    const overall: number[] = [];
    const model = await pipeline('text-classification', 'user/model', {
      progress_callback: (info) => {
        if (info.status !== 'progress') return;
        if (info.file === 'model.safetensors') loaded.push(info.loaded);
        overall.push(info.overall.loaded);
      },
    });
    await model.dispose();
    expect(loaded).toEqual([...loaded].sort((a, b) => a - b));
    expect(overall).toEqual([...overall].sort((a, b) => a - b));
  } finally {
    await own.close();
  }
}, 60_000);

describe('commits', () => {
  const [kFirst, kSecond] = ['a'.repeat(40), 'b'.repeat(40)];
  const weightsAt = (commit: string) => Buffer.from(`weights of ${commit}`);
  const configAt = (commit: string) => Buffer.from(JSON.stringify({ model_type: 'fake', commit }));
  const publish = (commit: string) => {
    hub.commit = commit;
    hub.files.set('config.json', configAt(commit));
    hub.files.set('model.safetensors', weightsAt(commit));
  };
  const expectOf = async (commit: string, options: { offline?: boolean } = {}) => {
    const { record } = await loadFake('user/model', options);
    expect([record.files.get('config.json'), String(Buffer.concat(record.weights))]).toEqual([
      String(configAt(commit)),
      String(weightsAt(commit)),
    ]);
  };
  const failsOn: Fault = (_, response, file) => {
    if (file !== 'model.safetensors') return false;
    response.writeHead(404).end();
    return true;
  };

  beforeEach(() => publish(kFirst));

  test('an interrupted first load does not mix its files with those of a later commit', async () => {
    hub.fault = failsOn;
    await expect(loadFake('user/model')).rejects.toMatchObject({ code: 'not_found' });
    hub.fault = () => false;
    publish(kSecond);
    await expectOf(kSecond);
    hub.log.length = 0;
    await expectOf(kSecond);
    expect(hub.log).toEqual([]);
  });

  test('a connection that breaks within one commit: only the rest is requested', async () => {
    hub.files.set('model.safetensors', kWeights);
    const ranges: string[] = [];
    const breaks = breaksAt([9 * kMegabyte]);
    hub.fault = (request, response, file) => {
      if (file !== 'model.safetensors') return false;
      ranges.push(request.headers.range ?? '');
      response.setHeader('x-repo-commit', kFirst);
      return breaks(request, response, file);
    };
    expect(weightsOf(await loadFake('user/model'))).toBe(kHash);
    expect(ranges).toEqual(['', expect.stringMatching(/^bytes=[1-9]\d+-$/)]);
  });

  test('a commit that arrives during a load: its files are fetched', async () => {
    hub.fault = (_, response, file) => {
      if (file !== 'model.safetensors') return false;
      publish(kSecond);
      response.setHeader('x-repo-commit', kSecond);
      return false;
    };
    await expectOf(kSecond);
    await expectOf(kSecond, { offline: true });
  });

  test('the stored commit stays in use until all files of another have arrived', async () => {
    await expectOf(kFirst);
    publish(kSecond);
    await expectOf(kFirst); // from the cache
    const list = await modelCache.list();
    expect(list.every(({ url }) => url.includes(`/resolve/${kFirst}/`))).toBe(true);
  });

  test('a repository without commits is stored by the name of its branch', async () => {
    hub.commit = undefined;
    await loadFake('user/model');
    expect((await modelCache.list()).every(({ url }) => url.includes('/resolve/main/'))).toBe(true);
  });

  test('a browser does not see the commit of a file that is redirected: another request asks for it', async () => {
    const hiding: Fault = (request, response, file) => {
      if (file !== 'model.safetensors') return false;
      response.removeHeader('x-repo-commit');
      serve(request, response, hub.files.get(file));
      return true;
    };
    hub.fault = hiding;
    await expectOf(kFirst);
    await modelCache.clear();
    hub.fault = (request, response, file) => {
      if (file === 'model.safetensors' && hub.commit === kFirst) publish(kSecond);
      return hiding(request, response, file);
    };
    publish(kFirst);
    await expectOf(kSecond);
  });

  test('delete() removes the files of a branch', async () => {
    await expectOf(kFirst);
    expect(await modelCache.delete('user/model', { revision: 'main' })).toBe(3);
    expect(await readdir(join(folder, 'v3'))).toEqual([]);
  });
});
