// A server sends something else instead of a file, once. The load fails, or falls back; the next load on a sound server succeeds.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { env, modelCache, pipeline } from '../../web/dist/index_node.js';
import * as kit from '../../web/src/sources/folders/folder_kit.js';
import { healing } from '../../web/src/sources/folders/healing.js';
import { openFolder } from '../../web/src/sources/folders/open_folder.js';
import { badAnswer } from '../../web/src/sources/http/download.js';
import { parseObject } from '../../web/src/sources/json.js';
import { readSmall } from '../../web/src/sources/read_files.js';
import { sendable } from '../../web/src/sources/sendable.js';
import { resolveSource } from '../../web/src/sources/source.js';
import { hub, useFreshHub } from './support/fresh_hub.js';
import { MapCache } from './support/map_cache.js';
import { filesOf, type Hub, kSentiment, sends } from './support/model_hub.js';

useFreshHub([env]);

async function classify(source: string = 'user/model', options: { offline?: boolean } = {}) {
  const model = await pipeline('text-classification', source, { worker: false, ...options });
  const [answer] = await model('A gem.');
  const { notices } = model.info;
  await model.dispose();
  return { label: answer!.label, notices };
}

const kPointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 1578357\n`;
const kBodies: [string, string, string | undefined][] = [
  ['an empty body', '', 'application/json'],
  ['HTML', '<!doctype html><title>Sign in</title>', 'text/html'],
  ['HTML that claims to be JSON', '\n<html><body>Sign in</body></html>', 'application/json'],
  ['XML', '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', 'application/xml'],
  ['a JSON error', '{"error":"Rate limit reached"}', 'application/json'],
  ['another JSON error', '{"statusCode":429,"message":"Too many requests"}', 'application/json'],
  ['a pointer of Git LFS', kPointer, 'text/plain'],
  ['a sentence', 'Rate limit reached', 'text/plain'],
];
const kNames = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];

describe.each(['in a folder', "in the caller's own cache"])('%s', (where) => {
  beforeEach(() => {
    if (where !== 'in a folder') env.cache = new MapCache();
    hub.files.set('tokenizer_config.json', Buffer.from('{}'));
  });

  test.each(kNames.flatMap((name) => kBodies.map(([what, body, type]) => [name, what, body, type] as const)))(
    '%s is %s once: it is asked for again',
    async (name, _, body, type) => {
      hub.fault = (request, response, file) => file === name && sends(body, type)(request, response);
      await expect(classify()).rejects.toMatchObject({ name: 'PeruseError', code: expect.stringMatching(/malformed_file|truncated_file/) });
      hub.fault = () => false;
      hub.log.length = 0;
      expect((await classify()).label).toBe('POSITIVE');
      expect(hub.log).toContain(`GET ${name}`);
      hub.log.length = 0;
      expect((await classify()).label).toBe('POSITIVE');
      expect(hub.log).toEqual([]);
    },
  );

  test('a wrong file that an earlier version stored is fetched again', async () => {
    await classify();
    const wrong = Buffer.from('{"model_type":"convbert","x":');
    for (const name of ['config.json', 'tokenizer.json']) {
      const right = hub.files.get(name)!;
      hub.files.set(name, wrong);
      await modelCache.delete('user/model').catch(() => (env.cache as MapCache).entries.clear());
      await expect(classify()).rejects.toMatchObject({ code: expect.stringMatching(/malformed_file|truncated_file/) });
      hub.files.set(name, right);
      expect((await classify()).label).toBe('POSITIVE');
    }
  });
});

test('the same in the own cache of a page, which serves its worker, with a local folder before the hub', async () => {
  Object.assign(env, { cache: new MapCache(), localModelPath: `${hub.origin}local` });
  const paths = { baseUrl: () => hub.origin, findFolder: async () => undefined };
  const readConfig = async () => {
    const stop = new AbortController();
    const spec = await resolveSource('user/model', {}, paths);
    const sent = await sendable(spec, stop.signal, { kit: async () => kit });
    try {
      return await healing(async (opened) => {
        const file = await (await openFolder(sent, { opened })).open('config.json', stop.signal);
        return parseObject('config.json', file.found ? await readSmall(file) : new Uint8Array());
      });
    } finally {
      stop.abort();
    }
  };
  hub.fault = (request, response, file) =>
    request.url!.startsWith('/local/')
      ? sends('no', 'text/plain', 404)(request, response)
      : file === 'config.json' && sends('{"model_type":', 'application/json')(request, response);
  await expect(readConfig()).rejects.toMatchObject({ code: 'malformed_file' });
  const { fault } = hub;
  hub.fault = (request, ...given) => request.url!.startsWith('/local/') && fault(request, ...given);
  expect(await readConfig()).toMatchObject({ model_type: 'convbert' });
  hub.log.length = 0;
  expect(await readConfig()).toMatchObject({ model_type: 'convbert' });
  expect(hub.log.filter((line) => !line.includes('local'))).toEqual([]);
});

test('stored weights that are not those of the model are fetched again, if the server has others', async () => {
  const right = hub.files.get('model.safetensors')!;
  const wrong = new Uint8Array(right);
  wrong.fill(0x20, 8, 200);
  const cache = new MapCache();
  env.cache = cache;
  hub.files.set('model.safetensors', wrong);
  await expect(classify()).rejects.toMatchObject({ code: 'malformed_file' });
  hub.files.set('model.safetensors', right);
  await classify();
  const url = `${hub.origin}user/model/resolve/main/model.safetensors`;
  cache.entries.set(url, new Response(wrong, { headers: { 'content-length': String(wrong.length), etag: '"old"' } }));
  hub.log.length = 0;
  expect((await classify()).label).toBe('POSITIVE');
  expect(hub.log).toEqual(['HEAD model.safetensors', 'GET model.safetensors']);
});

test('a stored file that the server has, too, names the cache in the error', async () => {
  const cache = new MapCache();
  env.cache = cache;
  await classify();
  hub.files.set('config.json', Buffer.from('{"model_type":'));
  const url = `${hub.origin}user/model/resolve/main/config.json`;
  cache.entries.set(url, new Response('{"model_type":', { headers: { 'content-length': '14' } }));
  await expect(classify()).rejects.toMatchObject({ code: expect.stringMatching(/malformed_file|truncated_file/) });
  env.offline = true;
  await expect(classify()).rejects.toMatchObject({ message: expect.stringContaining("modelCache.delete('user/model') removes it") });
});

describe('a file that was missing', () => {
  test('and was needed is asked for again by the next load', async () => {
    const right = hub.files.get('tokenizer.json')!;
    hub.files.delete('tokenizer.json');
    hub.files.delete('vocab.txt');
    await expect(classify()).rejects.toMatchObject({ code: 'not_found' });
    hub.files.set('tokenizer.json', right);
    expect((await classify()).label).toBe('POSITIVE');
  });

  test('and is optional counts as missing for a day', async () => {
    hub.files.delete('tokenizer_config.json');
    const cache = new MapCache();
    env.cache = cache;
    await classify();
    hub.log.length = 0;
    await classify();
    expect(hub.log).toEqual([]);
    const url = `${hub.origin}user/model/resolve/main/tokenizer_config.json`;
    const age = (hours: number) => {
      const { status, headers } = cache.entries.get(url)!;
      const aged = new Headers(headers);
      aged.set('x-peruse-stored-at', String(Date.now() - hours * 3600_000));
      cache.entries.set(url, new Response('', { status, headers: aged }));
    };
    age(25);
    const before = hub.origin;
    hub.fault = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    expect((await classify()).label).toBe('POSITIVE'); // the hub is down: what was known counts
    expect(hub.log).toEqual(['GET tokenizer_config.json']);
    hub.fault = () => false;
    hub.files.set('tokenizer_config.json', Buffer.from('{}'));
    hub.log.length = 0;
    await classify();
    expect(hub.log).toEqual(['GET tokenizer_config.json']);
    expect(cache.entries.get(url)!.status).toBe(200);
    expect(hub.origin).toBe(before);
  });
});

describe('a model at an address of its own', () => {
  const kFaults: [string, Hub['fault']][] = [
    ...[400, 401, 403, 407, 408, 429, 451, 500, 503, 520].map((status): [string, Hub['fault']] => [
      String(status),
      (request, response) => sends('no', 'text/html', status)(request, response),
    ]),
    ...['RepoNotFound', 'RevisionNotFound'].map((reason): [string, Hub['fault']] => [
      `404 as a hub does that says ${reason}`,
      (_, response) => {
        response.writeHead(404, { 'x-error-code': reason }).end('no');
        return true;
      },
    ]),
    ['HTML with 200', (request, response) => sends('<html>Sign in</html>', 'text/html')(request, response)],
    ['HTML with 200 and no type', (request, response) => sends('<html>Sign in</html>')(request, response)],
    [
      'a redirect to a page',
      (request, response) => {
        if (request.url === '/login') return sends('<html>Sign in</html>', 'text/html')(request, response);
        response.writeHead(302, { location: '/login' }).end();
        return true;
      },
    ],
    [
      "a redirect to another server's 404",
      (request, response) => {
        if (request.headers.host?.startsWith('localhost')) return sends('no', 'text/plain', 404)(request, response);
        response.writeHead(302, { location: hub.origin.replace('127.0.0.1', 'localhost') }).end();
        return true;
      },
    ],
    [
      'a broken connection',
      (request) => {
        request.socket.destroy();
        return true;
      },
    ],
  ];

  test.each(kFaults)('that is stored loads, with a notice, while the server answers %s', async (_, fault) => {
    await classify(hub.origin);
    hub.fault = fault;
    const loaded = await classify(hub.origin);
    expect(loaded.label).toBe('POSITIVE');
    expect(loaded.notices).toEqual([expect.stringContaining('is loaded from the cache: ')]);
    hub.fault = () => false;
    expect((await classify(hub.origin, { offline: true })).label).toBe('POSITIVE');
  });

  test.each([404, 410])('that the server removed (%i) stays stored until another load has succeeded', async (status) => {
    await classify(hub.origin);
    hub.fault = (request, response) => sends('gone', 'text/plain', status)(request, response);
    await expect(classify(hub.origin)).rejects.toMatchObject({ code: 'not_found' });
    hub.fault = () => false;
    expect((await classify(hub.origin, { offline: true })).label).toBe('POSITIVE');
    hub.files.delete('tokenizer_config.json');
    expect((await classify(hub.origin)).label).toBe('POSITIVE');
    expect((await modelCache.list()).map(({ url }) => url.split('/').pop()).sort()).toEqual(
      ['config.json', 'model.safetensors', 'tokenizer.json'].sort(),
    );
  });

  test('a new file of which the download fails leaves the stored one in use', async () => {
    await classify(hub.origin);
    hub.files.set('config.json', Buffer.concat([hub.files.get('config.json')!, Buffer.from('\n')]));
    hub.fault = (request, response, file) =>
      request.method === 'GET' && file === 'config.json' && sends('no', 'text/plain', 500)(request, response);
    expect((await classify(hub.origin)).notices).toEqual([expect.stringContaining('the server answered 500')]);
  });
});

test('files of models are not taken for bad answers', async () => {
  for (const [name, content] of filesOf(kSentiment))
    expect(badAnswer(content.subarray(0, 4096), content.length <= 4096), name).toBeUndefined();
  const files = ['{}', '{"error": 5, "message": 6}', '{"model_type":"bert","type":"x"}', '<s>\n<pad>\n', '#version: 0.2\n', '[]'];
  for (const text of files) expect(badAnswer(Buffer.from(text), true), text).toBeUndefined();
  expect(badAnswer(await readFile(join(kSentiment, 'config.json')), true)).toBeUndefined();
});
