import { mkdir, mkdtemp, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveFolders } from '../../web/src/cli/static_server.js';

let folder: string;
let server: Awaited<ReturnType<typeof serveFolders>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'peruse-served-'));
  await mkdir(join(folder, 'site/sub'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'secret');
  await writeFile(join(folder, 'site/index.html'), 'page');
  await writeFile(join(folder, 'site/sub/file.txt'), 'file');
  await symlink(join(folder, 'secret.txt'), join(folder, 'site/leak.txt'));
  await symlink(folder, join(folder, 'site/up'));
  await symlink(join(folder, 'site/sub'), join(folder, 'site/alias'));
  await symlink(join(folder, 'site'), join(folder, 'linked'));
  server = await serveFolders({ '/': join(folder, 'linked') });
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

function get(path: string, host?: string): Promise<{ status: number; text: string }> {
  const { port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const headers = host === undefined ? {} : { host };
    const asking = request({ host: '127.0.0.1', port, path, headers }, (response) => {
      let text = '';
      response.on('data', (words) => {
        text += words;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    asking.on('error', reject).end();
  });
}

test('what lies in the folder is served, also where the folder itself, or one within it, is reached by a link', async () => {
  expect(await get('/')).toEqual({ status: 200, text: 'page' });
  expect(await get('/sub/file.txt')).toEqual({ status: 200, text: 'file' });
  expect(await get('/alias/file.txt')).toEqual({ status: 200, text: 'file' });
});

test('a file that the client has is not sent again', async () => {
  const address = `${server.url}sub/file.txt`;
  const etag = (await fetch(address)).headers.get('etag')!;
  const again = (tag: string) => fetch(address, { headers: { 'if-none-match': tag } });
  expect((await again(etag)).status).toBe(304);
  expect(await (await again('W/"1-1"')).text()).toBe('file');
});

test.each([
  '/leak.txt',
  '/up/secret.txt',
  '/../secret.txt',
  '/%2e%2e/secret.txt',
  '/..%2fsecret.txt',
  '/up/site/index.html/../../secret.txt',
  '/%00',
])('%s leads nowhere', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'localhost.evil.example', '127.0.0.1@evil.example'])(
  'asked for as %j nothing is served',
  async (host) => {
    const { status, text } = await get('/', host);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(text).not.toContain('page');
  },
);

test.each(['127.0.0.1', 'localhost', 'localhost:8000', '[::1]:1'])('asked for as %s it is', async (host) => {
  expect((await get('/', host)).status).toBe(200);
});

test('files are compressed for clients that accept it, once for each version', async () => {
  const words = 'words and words. '.repeat(2000);
  await writeFile(join(folder, 'site/words.txt'), words);
  const ask = (encoding: string, method = 'GET') =>
    new Promise<{ headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
      const asking = request(new URL('/words.txt', server.url), { method, headers: { 'accept-encoding': encoding } }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => resolve({ headers: response.headers, body: Buffer.concat(parts) }));
      });
      asking.on('error', reject).end();
    });
  for (const [accepted, encoding, decode] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['identity', undefined, (body: Buffer) => body],
  ] as const) {
    const { headers, body } = await ask(accepted);
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toBe('Accept-Encoding');
    expect(Number(headers['content-length'])).toBe(body.length);
    expect(decode(body).toString()).toBe(words);
    const head = await ask(accepted, 'HEAD');
    expect({ length: head.body.length, announced: head.headers['content-length'] }).toEqual({ length: 0, announced: String(body.length) });
  }
  await writeFile(join(folder, 'site/words.txt'), 'other words '.repeat(2000));
  expect(brotliDecompressSync((await ask('br')).body).toString()).toContain('other words');
  expect((await get('/sub/file.txt')).text).toBe('file'); // too short to compress
});

test('with a host, addresses in numbers and names of the machine are answered, others never', async () => {
  const open = await serveFolders({ '/': join(folder, 'site') }, { host: '0.0.0.0' });
  try {
    const { port } = new URL(open.url);
    const status = (host: string) =>
      new Promise<number>((resolve, reject) => {
        request({ host: '127.0.0.1', port, headers: { host } }, (response) => resolve(response.resume().statusCode!))
          .on('error', reject)
          .end();
      });
    expect(await status('192.168.1.7:8000')).toBe(200);
    expect(await status('[fe80::1]:8000')).toBe(200);
    expect(await status(hostname())).toBe(200);
    expect(await status('evil.example')).toBe(421);
    expect(await status('192.168.1.7.evil.example')).toBe(421);
    expect((await get('/', '192.168.1.7')).status).toBe(421); // the other server is for this machine only
  } finally {
    await open.close();
  }
});

test('contents in place of files', async () => {
  const site = await serveFolders({ '/': join(folder, 'site') }, { generated: { '/files.json': '{"a":1}' } });
  expect(await (await fetch(new URL('files.json?x', site.url))).json()).toEqual({ a: 1 });
  await site.close();
});

test('a file that may still come is waited for, and no longer than that', async () => {
  let end = () => {};
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  const later = { below: ['/sub/', '/later/'], until };
  const waiting = await serveFolders({ '/': join(folder, 'site'), '/later/': join(folder, 'later') }, { later });
  const ask = async (path: string) => (await fetch(new URL(path, waiting.url))).status;
  expect(await ask('/sub/file.txt')).toBe(200);
  expect(await ask('/nothing.txt')).toBe(404); // not being built
  const late = ask('/sub/late.txt');
  const inNewFolder = ask('/later/');
  const never = ask('/sub/never.txt');
  await writeFile(join(folder, 'site/sub/late.txt'), 'late');
  await mkdir(join(folder, 'later'));
  await writeFile(join(folder, 'later/index.html'), 'page');
  expect(await late).toBe(200);
  expect(await inNewFolder).toBe(200);
  end();
  expect(await never).toBe(404);
  expect(await ask('/sub/nothing.txt')).toBe(404);
  await waiting.close();
});

test('readers that leave in the middle leave no file open', async () => {
  await writeFile(join(folder, 'site/large.bin'), new Uint8Array(8 << 20));
  const openFiles = async () => {
    const links = await Promise.all((await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
    return links.filter((path) => path.endsWith('large.bin')).length;
  };
  const { port } = new URL(server.url);
  const leave = () =>
    new Promise<void>((resolve) => {
      const asking = request({ host: '127.0.0.1', port, path: '/large.bin', agent: false }, (response) => {
        response.once('data', () => {
          asking.destroy();
          resolve();
        });
      });
      asking.on('error', () => {}).end();
    });
  await Promise.all(Array.from({ length: 40 }, leave));
  await expect.poll(openFiles, { timeout: 5000 }).toBe(0);
});

test('no page frames the demo, reads its files or learns its address', async () => {
  const { headers } = await fetch(server.url);
  expect(headers.get('content-security-policy')).toMatch(/frame-ancestors 'none'/);
  expect(headers.get('referrer-policy')).toBe('no-referrer');
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
});
