import { spawnSync } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { env } from '../../web/src/env.js';
import { modelCache } from '../../web/src/model_cache.js';
import { loadFake } from './support/fake_load.js';
import { type Hub, startHub } from './support/model_hub.js';
import { expectWhole, folder, load, serveAModel, server } from './support/served_model.js';

serveAModel();

describe('check()', () => {
  const [kFirst, kSecond] = ['a'.repeat(40), 'b'.repeat(40)];
  let hub: Hub;
  const publish = (commit: string | undefined, text = commit) => {
    hub.commit = commit;
    hub.files.set('config.json', Buffer.from(JSON.stringify({ model_type: 'fake', text })));
    hub.files.set('model.safetensors', Buffer.from(`weights ${text}`));
  };
  const configOf = async (options: { offline?: boolean } = {}) => {
    const { record } = await loadFake('user/model', options);
    return (JSON.parse(record.files.get('config.json')!) as { text: string }).text;
  };

  beforeEach(async () => {
    hub = await startHub(new Map([['tokenizer.json', Buffer.from('{"model":{}}')]]));
    env.remoteHost = hub.origin;
    publish(kFirst);
    await configOf();
    hub.log.length = 0;
  });
  afterEach(() => hub.close());

  test('compares commits with one request', async () => {
    expect(await modelCache.check('user/model')).toEqual({ stored: kFirst, latest: kFirst, isCurrent: true, updated: 0 });
    expect(hub.log).toEqual(['HEAD config.json']);
    publish(kSecond);
    expect(await modelCache.check('user/model')).toEqual({ stored: kFirst, latest: kSecond, isCurrent: false, updated: 0 });
    expect(await configOf()).toBe(kFirst);
  });

  test('downloads the newer commit; until then the stored one stays in use', async () => {
    publish(kSecond);
    hub.fault = (_, response, file) => {
      if (file !== 'model.safetensors') return false;
      response.writeHead(403).end();
      return true;
    };
    await expect(modelCache.check('user/model', { update: true })).rejects.toMatchObject({ code: 'unauthorized' });
    expect(await configOf({ offline: true })).toBe(kFirst);
    hub.fault = () => false;
    expect(await modelCache.check('user/model', { update: true })).toMatchObject({ latest: kSecond, isCurrent: true });
    expect(await configOf({ offline: true })).toBe(kSecond);
    expect((await modelCache.list()).every(({ url }) => url.includes(kSecond))).toBe(true);
  });

  test('of a mirror without commits, and of a folder at another address, compares files', async () => {
    await modelCache.clear();
    publish(undefined, 'x');
    await configOf();
    expect(await modelCache.check('user/model')).toMatchObject({ isCurrent: true });
    publish(undefined, 'y');
    expect(await modelCache.check('user/model')).toMatchObject({ isCurrent: false });
    expect(await modelCache.check('user/model', { update: true })).toMatchObject({ isCurrent: true, updated: 3 });
    expect(await configOf({ offline: true })).toBe('y');
    await loadFake(hub.origin);
    expect(await modelCache.check(hub.origin)).toMatchObject({ isCurrent: true });
    publish(undefined, 'z');
    expect(await modelCache.check(hub.origin)).toMatchObject({ isCurrent: false });
  });

  test('a model that is not stored, and a server that does not answer', async () => {
    expect(await modelCache.check('user/other')).toMatchObject({ stored: undefined, isCurrent: false });
    await hub.close();
    await expect(modelCache.check('user/model')).rejects.toMatchObject({ code: 'network' });
  });
});

describe('verify()', () => {
  const harmWeights = async () => {
    const store = join(folder, 'v3');
    for (const name of (await readdir(store)).filter((one) => one.endsWith('.body'))) {
      const bytes = await readFile(join(store, name));
      if (bytes.length < 1_000_000) continue;
      bytes[1_500_000]! ^= 1;
      await writeFile(join(store, name), bytes);
    }
  };

  test('names what is damaged, and removes it on request', async () => {
    await load('user/model');
    expect(await modelCache.verify()).toMatchObject({ files: 3, damaged: [], removed: 0 });
    await harmWeights();
    const damaged = [{ url: `${server.url}user/model/resolve/main/model.safetensors`, reason: 'its bytes are not those that were stored' }];
    expect(await modelCache.verify()).toMatchObject({ damaged, removed: 0 });
    expect(await modelCache.verify({ repair: true })).toMatchObject({ damaged, removed: 1 });
    expect(await modelCache.verify()).toMatchObject({ files: 2, damaged: [] });
    expectWhole(await load('user/model'));
  });

  test('the command prints it', async () => {
    await load('user/model');
    await harmWeights();
    const main = fileURLToPath(new URL('../../web/dist/cli/main.js', import.meta.url));
    const store = join(folder, 'cache');
    await (await import('node:fs/promises')).cp(join(folder, 'v3'), join(store, 'peruse/models/v3'), { recursive: true });
    const run = (...options: string[]) =>
      spawnSync(process.execPath, [main, 'cache', 'verify', ...options], {
        encoding: 'utf8',
        env: { ...process.env, XDG_CACHE_HOME: store },
      });
    const first = run();
    expect(first.stdout).toContain('"reason":"its bytes are not those that were stored"');
    expect(first.status).not.toBe(0);
    expect(run('--repair').stdout).toContain('"removed":1');
    expect(run()).toMatchObject({ status: 0 });
  });
});
