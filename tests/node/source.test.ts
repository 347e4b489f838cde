import { afterEach, describe, expect, test, vi } from 'vitest';
import { env } from '../../web/src/env.js';
import { webPaths } from '../../web/src/platform/paths.js';
import { type PathResolver, resolveSource, type Source } from '../../web/src/sources/source.js';
import { compact } from '../../web/src/sources/source_files.js';

const kPage: PathResolver = { baseUrl: () => 'https://example.org/app/index.html?x=1', findFolder: async () => undefined };
const kNode: PathResolver = { baseUrl: () => undefined, findFolder: async (text) => (text === 'models/here' ? text : undefined) };

const kDefaults = { ...env };
afterEach(() => {
  Object.assign(env, kDefaults);
  vi.unstubAllGlobals();
});

test.each([
  ['https://example.org/app/worker.js', './models/x', 'https://example.org/app/models/x/'],
  ['blob:https://example.org/7a5d7b0e', '/models/x', 'https://example.org/models/x/'],
  ['blob:https://example.org/7a5d7b0e', './models/x', 'https://example.org/models/x/'],
])('in a worker at %s, %s is the folder %s', async (script, source, base) => {
  vi.stubGlobal('location', new URL(script));
  expect(await resolveSource(source, {}, webPaths)).toMatchObject({ kind: 'url', base });
});

describe('on a page', () => {
  test.each([
    ['https://models.example/m', 'https://models.example/m/'],
    ['https://models.example/m/#part', 'https://models.example/m/'],
    ['https://models.example/m?sig=1', 'https://models.example/m/?sig=1'],
    ['./models/x/', 'https://example.org/app/models/x/'],
    ['../x', 'https://example.org/x/'],
    ['/x', 'https://example.org/x/'],
    ['user/model', 'https://huggingface.co/user/model/resolve/main/'],
    ['bert-base-uncased', 'https://huggingface.co/bert-base-uncased/resolve/main/'],
  ])('%s is the folder %s', async (source, base) => {
    expect(await resolveSource(source, {}, kPage)).toMatchObject({ kind: 'url', name: source, base });
  });

  test('a URL object is a folder', async () => {
    expect(await resolveSource(new URL('https://a.example/m'), {}, kPage)).toMatchObject({ base: 'https://a.example/m/' });
  });

  test('a revision and another hub are honoured', async () => {
    env.remoteHost = 'https://hub.example/';
    expect(await resolveSource('user/model', { revision: 'refs/pr/1' }, kPage)).toMatchObject({
      base: 'https://hub.example/user/model/resolve/refs%2Fpr%2F1/',
    });
  });

  test.each(['..', '../../other/model/resolve/main', 'refs/../x', '.', '', 'a//b', '/x', 7, null, {}])(
    'the revision %j is refused',
    async (revision) => {
      const options = { revision: revision as string };
      const refused = { name: 'PeruseError', code: 'invalid_argument', message: expect.stringContaining('A revision is') };
      if (revision !== null) await expect(resolveSource('user/model', options, kPage)).rejects.toMatchObject(refused);
      await expect(resolveSource('https://huggingface.co/user/model/tree/%2e%2e%2Fx', {}, kPage)).rejects.toMatchObject(refused);
    },
  );

  test.each([
    ['https://huggingface.co/user/model', {}, 'user/model/resolve/main/'],
    ['https://huggingface.co/user/model/', { revision: 'v2' }, 'user/model/resolve/v2/'],
    ['https://huggingface.co/user/model/tree/v1.0', {}, 'user/model/resolve/v1.0/'],
    ['https://huggingface.co/user/model/tree/refs%2Fpr%2F1', {}, 'user/model/resolve/refs%2Fpr%2F1/'],
    ['https://huggingface.co/user/model/resolve/main', {}, 'user/model/resolve/main/'],
    ['https://huggingface.co/user/model/resolve/main/sub/folder/', {}, 'user/model/resolve/main/sub/folder/'],
  ])('a page of the hub, %s, means its model', async (page, options, path) => {
    expect(await resolveSource(page, options, kPage)).toMatchObject({ name: page, base: `https://huggingface.co/${path}`, hub: true });
  });

  test('the name of a folder beside the page is looked up on the hub, with a hint for who meant the folder', async () => {
    expect(await resolveSource('models/x', {}, kPage)).toMatchObject({ hub: true, hint: expect.stringContaining("written './models/x'") });
    expect(await resolveSource('user/x', {}, kPage)).not.toHaveProperty('hint');
    expect(await resolveSource('models/x', {}, kNode)).not.toHaveProperty('hint');
  });

  test('a token that is none is refused before it is sent', async () => {
    await expect(resolveSource('user/model', { token: 'hf_\u00e4\n' }, kPage)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test("only the hub is sent a token, and only the hub's revisions are used without asking", async () => {
    env.token = 'secret';
    const spec = (source: Source, options = {}) => resolveSource(source, options, kPage);
    expect(await spec('user/model')).toMatchObject({ hub: true, token: 'secret', keep: { immutable: true } });
    expect(await spec('user/model', { token: 'other' })).toMatchObject({ token: 'other' });
    expect(await spec('https://huggingface.co/user/model/resolve/main')).toMatchObject({
      hub: true,
      token: 'secret',
      keep: { immutable: true },
    });
    for (const elsewhere of ['https://huggingface.co.evil.example/m', 'http://huggingface.co/m', 'https://models.example/m', './m']) {
      const found = await spec(elsewhere, { token: 'secret' });
      expect(found).not.toHaveProperty('token');
      expect(found).toMatchObject({ keep: { immutable: false } });
    }
  });

  test('settings: no cache, offline, a local folder first', async () => {
    Object.assign(env, { cache: false, offline: true });
    expect(await resolveSource('user/model', {}, kPage)).toEqual({
      kind: 'url',
      name: 'user/model',
      base: 'https://huggingface.co/user/model/resolve/main/',
      hub: true,
      offline: true,
    });
    Object.assign(env, kDefaults, { localModelPath: './models' });
    for (const [setting, options] of [
      [false, { offline: true }],
      [true, {}],
    ] as const) {
      env.offline = setting;
      const spec = await resolveSource('user/model', options, kPage);
      expect(spec).toMatchObject({
        kind: 'either',
        first: { base: 'https://example.org/app/models/user/model/' },
        second: { hub: true, offline: true },
      });
      expect(spec.kind === 'either' && spec.first).not.toHaveProperty('offline'); // the page's own server is allowed
      env.localModelPath = 'https://elsewhere.example/models';
      expect(await resolveSource('user/model', options, kPage)).toMatchObject({ first: { offline: true } });
      env.localModelPath = './models';
    }
    env.offline = false;
    const inNode: PathResolver = {
      baseUrl: () => undefined,
      findFolder: async (text) => (text === './models/user/model/' ? '/disk' : undefined),
    };
    expect(await resolveSource('user/model', {}, inNode)).toEqual({ kind: 'folder', name: 'user/model', path: '/disk' });
    expect(await resolveSource('user/other', {}, inNode)).toMatchObject({ kind: 'url' });
  });

  test('a folder of chosen files is its own files, not those below it', async () => {
    const chosen = ['m/config.json', 'm/onnx/config.json'].map((path) => {
      const file = new File([path], 'config.json');
      Object.defineProperty(file, 'webkitRelativePath', { value: path });
      return file;
    });
    const spec = await resolveSource(chosen, {}, kPage);
    expect(spec.kind === 'bytes' && (await (spec.files.get('config.json') as File).text())).toBe('m/config.json');
  });

  test('a directory handle gives its files', async () => {
    const handle = {
      kind: 'directory' as const,
      name: 'm',
      async *values() {
        yield { kind: 'directory' as const, name: 'onnx' };
        yield { kind: 'file' as const, name: 'config.json', getFile: async () => new File(['{}'], 'config.json') };
      },
    };
    const spec = await resolveSource(handle, {}, kPage);
    expect(spec.kind === 'bytes' && [...spec.files.keys()]).toEqual(['config.json']);
    const refused = {
      ...handle,
      values: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new DOMException('no permission', 'NotAllowedError')) }),
      }),
    } as unknown as typeof handle;
    await expect(resolveSource(refused, {}, kPage)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining("'m' can't be read: no permission"),
    });
  });

  test('files come as an object, a Map or a list', async () => {
    const bytes = new Uint8Array([1]);
    for (const source of [{ 'config.json': bytes }, new Map([['config.json', bytes]]), [new File([bytes], 'config.json')]]) {
      const spec = await resolveSource(source as Source, {}, kPage);
      expect(spec).toMatchObject({ kind: 'bytes' });
      if (spec.kind === 'bytes') expect([...spec.files.keys()]).toEqual(['config.json']);
    }
  });

  test.each([
    [''],
    ['  '],
    ['a/b/c'],
    ['user/..'],
    ['user/.'],
    ['user/...'],
    ['no spaces here'],
    ['https://'],
    [{}],
    [[]],
    [null],
    [7],
    [{ 'config.json': 7 }],
    [[7]],
    [new URL('data:,x')],
  ])('%j is refused', async (source) => {
    await expect(resolveSource(source as Source, {}, kPage)).rejects.toMatchObject({ name: 'PeruseError', code: 'invalid_argument' });
  });
});

describe('in Node', () => {
  test('an existing folder comes before a hub id', async () => {
    expect(await resolveSource('models/here', {}, kNode)).toEqual({ kind: 'folder', name: 'models/here', path: 'models/here' });
    expect(await resolveSource('models/elsewhere', {}, kNode)).toMatchObject({ kind: 'url' });
  });

  test.each(['./models/none', '/models/none', '../none', 'C:\\models'])('%s must exist', async (source) => {
    await expect(resolveSource(source, {}, kNode)).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('a view of a larger buffer is copied before it is sent, a whole buffer is not', () => {
  const whole = new Uint8Array([1, 2, 3, 4]);
  const view = whole.subarray(1, 3);
  const { files, own } = compact({
    kind: 'bytes',
    name: 'x',
    files: new Map([
      ['view', view],
      ['whole', whole],
    ]),
  });
  const copy = files.get('view') as Uint8Array<ArrayBuffer>;
  expect(copy).toEqual(view);
  expect(copy.buffer.byteLength).toBe(2);
  expect(files.get('whole')).toBe(whole);
  expect(own).toEqual([copy.buffer]);
  expect(own![0]).toBe(copy.buffer);
});
