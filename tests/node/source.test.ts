import { afterEach, describe, expect, test } from 'vitest';
import { env, resolveSource, type PlaceReader, type Source } from '../../web/src/source.js';

const kPage: PlaceReader = { baseUrl: () => 'https://example.org/app/index.html?x=1', findFolder: async () => undefined };
const kNode: PlaceReader = { baseUrl: () => undefined, findFolder: async (text) => (text === 'models/here' ? text : undefined) };

afterEach(() => { env.remoteHost = 'https://huggingface.co/'; });

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
    expect(await resolveSource(source, {}, kPage)).toEqual({ kind: 'url', name: source, base });
  });

  test('a URL object is a folder', async () => {
    expect(await resolveSource(new URL('https://a.example/m'), {}, kPage)).toMatchObject({ base: 'https://a.example/m/' });
  });

  test('a revision and another hub are honoured', async () => {
    env.remoteHost = 'https://hub.example/';
    expect(await resolveSource('user/model', { revision: 'refs/pr/1' }, kPage))
      .toMatchObject({ base: 'https://hub.example/user/model/resolve/refs%2Fpr%2F1/' });
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
    [''], ['  '], ['a/b/c'], ['no spaces here'], ['https://'], [{}], [[]], [null], [7], [{ 'config.json': 7 }], [new URL('data:,x')],
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
