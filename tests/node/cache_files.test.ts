import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DiskCache } from '../../web/src/cache/cache_node.js';
import { lockFile } from '../../web/src/cache/lock_node.js';
import { env } from '../../web/src/env.js';
import { modelCache } from '../../web/src/model_cache.js';
import { loadFake } from './support/fake_load.js';
import { asked, expectWhole, folder, kWeights, load, serveAModel, server } from './support/served_model.js';

serveAModel();

const kBlock = (1 << 20) + 32;
const kKey = 'ab'.repeat(20);

async function weightsBody(): Promise<string> {
  const bodies = (await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.body'));
  for (const name of bodies) if ((await readFile(join(folder, 'v3', name))).length > kWeights.length) return join(folder, 'v3', name);
  throw new Error('no weights');
}

describe("the user's own files", () => {
  test('stay in folders named as older stores were', async () => {
    const theirs = { 'thesis.txt': 'mine', 'data.json': '{}', 'notes.body': 'x', 'a.lock': 'y' };
    for (const version of ['v1', 'v2']) {
      await mkdir(join(folder, version, 'inner'), { recursive: true });
      for (const [name, content] of Object.entries(theirs)) await writeFile(join(folder, version, name), content);
      await writeFile(join(folder, version, `${kKey}.json`), '{}'); // of an older store
    }
    expectWhole(await load('user/model'));
    await modelCache.clear();
    for (const version of ['v1', 'v2']) {
      expect((await readdir(join(folder, version))).sort()).toEqual([...Object.keys(theirs), 'inner'].sort());
    }
  });

  test('stay in the store, and behind links', async () => {
    await mkdir(join(folder, 'mine'));
    await writeFile(join(folder, 'mine', `${kKey}.json`), 'mine');
    await symlink(join(folder, 'mine'), join(folder, 'v1'));
    await mkdir(join(folder, 'v3'));
    await writeFile(join(folder, 'v3', 'mine.json'), '{}');
    await utimes(join(folder, 'v3', 'mine.json'), 0, 0);
    expectWhole(await load('user/model'));
    await modelCache.clear();
    expect(await readdir(join(folder, 'mine'))).toEqual([`${kKey}.json`]);
    expect(await readdir(join(folder, 'v3'))).toEqual(['mine.json']);
  });
});

describe('what is stored and is not what was stored', () => {
  test('blocks that changed places are found out', async () => {
    await loadFake('user/model');
    const path = await weightsBody();
    const body = await readFile(path);
    const [first, second] = [body.subarray(0, kBlock), body.subarray(kBlock, 2 * kBlock)];
    await writeFile(path, Buffer.concat([second, first, body.subarray(2 * kBlock)]));
    const again = await loadFake('user/model');
    expectWhole(again.record);
    expect(again.report.notices).toEqual([expect.stringContaining('is damaged')]);
  });

  test('so are the blocks of another file, or of another version of the file', async () => {
    await loadFake('user/model');
    const path = await weightsBody();
    const before = await readFile(path);
    await loadFake(`${server.url}m`); // the same bytes at another address
    const bodies = (await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.body')).map((name) => join(folder, 'v3', name));
    for (const body of bodies) {
      if (body !== path && (await readFile(body)).length === before.length) await writeFile(body, before);
    }
    const again = await loadFake(`${server.url}m`);
    expectWhole(again.record);
    expect(again.report.notices).toEqual([expect.stringContaining('is damaged')]);
  });

  test.each(['x-peruse-form', 'x-peruse-stored-at'])('an entry without its header %s is none', async (header) => {
    await load('user/model');
    const store = join(folder, 'v3');
    for (const name of (await readdir(store)).filter((one) => one.endsWith('.json'))) {
      const { sha256: _, ...entry } = JSON.parse(await readFile(join(store, name), 'utf8')) as {
        headers: [string, string][];
        sha256: string;
      };
      entry.headers = entry.headers.filter(([key]) => key !== header);
      const sha256 = createHash('sha256').update(JSON.stringify(entry)).digest('hex');
      await writeFile(join(store, name), JSON.stringify({ ...entry, sha256 }));
    }
    asked();
    expectWhole(await load('user/model'));
    expectWhole(await load('user/model'));
  });
});

describe('what nobody will use', () => {
  const names = [
    `${kKey}-${randomUUID()}.body`,
    `${kKey}-${randomUUID()}.body.part`,
    `${kKey}.json.${kKey}-${randomUUID()}.body`,
    `${kKey}.lock`,
  ];
  const put = async (age: number) => {
    await mkdir(join(folder, 'v3'), { recursive: true });
    for (const name of [...names, `${kKey}.json`]) {
      await writeFile(join(folder, 'v3', name), 'x');
      await utimes(join(folder, 'v3', name), Date.now() / 1000 - age, Date.now() / 1000 - age);
    }
  };

  test('goes with the first load after a day', async () => {
    await put(3600);
    await new DiskCache(folder).put('http://a.example/', new Response('x'));
    expect(await readdir(join(folder, 'v3'))).toEqual(expect.arrayContaining(names));
    await put(26 * 3600);
    await new DiskCache(folder).put('http://a.example/', new Response('x'));
    const left = await readdir(join(folder, 'v3'));
    expect(left).toHaveLength(2);
    expect(left).not.toContain(`${kKey}.json`);
  });

  test('goes with clear(), unless somebody may be writing it', async () => {
    await load('user/model');
    await put(3600);
    const fresh = `${kKey}-${randomUUID()}.body.part`;
    await writeFile(join(folder, 'v3', fresh), 'x');
    await modelCache.clear();
    expect(await readdir(join(folder, 'v3'))).toEqual([fresh]);
  });
});

test('a lock of another machine whose clock is ahead is not waited for', async () => {
  const path = join(folder, 'v3', `${kKey}.lock`);
  await mkdir(join(folder, 'v3'));
  await writeFile(path, `1 not-${hostname()}`);
  await utimes(path, Date.now() / 1000 + 86400, Date.now() / 1000 + 86400);
  const start = performance.now();
  (await lockFile(path, new AbortController().signal))();
  expect(performance.now() - start).toBeLessThan(5000);
});

test('few file handles are enough to list and to clear many files', async () => {
  const cache = new DiskCache(folder);
  const headers = { 'x-peruse-stored-at': '1', 'x-peruse-form': 'sealed-blocks', 'content-type': 'text/plain' };
  for (let i = 0; i < 400; ++i) await cache.put(`http://a.example/${i}`, new Response('x', { headers }));
  const index = new URL('../../web/dist/index_node.js', import.meta.url).href;
  const script = `
    import { env, modelCache } from '${index}';
    env.cacheFolder = process.argv[1];
    console.log((await modelCache.list()).length, await modelCache.clear(), (await modelCache.list()).length);`;
  // Importing the package opens about 100 files at once.
  const command = `ulimit -n 160; exec "$0" --input-type=module -e "$1" "$2"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', command, process.execPath, script, folder], { encoding: 'utf8' });
  expect({ stdout, stderr }).toEqual({ stdout: '400 400 0\n', stderr: '' });
  expect(await readdir(join(folder, 'v3'))).toEqual([]);
});

test('a store that cannot be read is an error, not an empty list', async () => {
  await writeFile(join(folder, 'file'), 'x');
  env.cacheFolder = join(folder, 'file');
  await expect(modelCache.list()).rejects.toMatchObject({ code: 'invalid_argument' });
});
