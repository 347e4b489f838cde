import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DiskCache } from '../../web/src/cache/cache_node.js';
import { Sha256 } from '../../web/src/cache/sha256.js';
import { modelCache } from '../../web/src/model_cache.js';
import { type Content, startModelServer } from './support/model_server.js';
import { asked, expectWhole, folder, kWeights, load, serveAModel, server } from './support/served_model.js';

serveAModel();

describe('a download that is torn or damaged is never used', () => {
  const weights = 'user/model/resolve/main/model.safetensors';

  test('a connection that breaks', async () => {
    server.files.set(weights, (_, response) => {
      response.writeHead(200, { 'content-length': kWeights.length });
      response.write(kWeights.subarray(0, 1_000_000), () => response.destroy());
    });
    await expect(load('user/model')).rejects.toMatchObject({ code: 'network' });
    expect((await modelCache.list()).map(({ url }) => url.split('/').pop()).sort()).toEqual(['config.json', 'tokenizer.json']);
    expect((await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.part'))).toEqual([]);
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
    const parts = async () => (await readdir(join(folder, 'v3')).catch(() => [])).filter((name) => name.endsWith('.part'));
    const sizes = async () => Promise.all((await parts()).map((name) => stat(join(folder, 'v3', name)).then(({ size }) => size)));
    const isMidway = async () => (await sizes().catch(() => [])).some((size) => size > 1_000_000); // the files before it are smaller
    await expect.poll(isMidway, { timeout: 20_000 }).toBe(true);
    child.kill('SIGKILL');
    await new Promise((resolve) => {
      child.on('exit', resolve);
    });
    expect(await parts()).toHaveLength(1);

    server.files.set(weights, body);
    expect(Buffer.concat((await load('user/model')).weights).equals(body)).toBe(true);
    const [left] = await parts();
    await utimes(join(folder, 'v3', left!), 0, 0);
    await new DiskCache(folder).put('http://a.example/', new Response('x'));
    expect(await parts()).toEqual([]);
  });

  test('a file that was cut or lost on disk', async () => {
    await load('user/model');
    for (const harm of [(path: string) => truncate(path, 10), (path: string) => rm(path)]) {
      const bodies = (await readdir(join(folder, 'v3'))).filter((name) => name.endsWith('.body'));
      await Promise.all(bodies.map((name) => harm(join(folder, 'v3', name))));
      expectWhole(await load('user/model'));
    }
  });

  test('entries that are no entries', async () => {
    await load('user/model');
    for (const name of await readdir(join(folder, 'v3'))) {
      if (name.endsWith('.json')) await writeFile(join(folder, 'v3', name), '{"url":"x","body":"../../../etc/passwd"');
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
