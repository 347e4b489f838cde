import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeWhole } from '../../../web/dist/cache/write_file_node.js';
import { checkSaveOptions } from '../../../web/dist/sources/save_plan.js';
import { saveToDisk } from '../../../web/dist/sources/staged_folder_node.js';
import { saveToHandle, type WritableDirectory } from '../../../web/dist/teach/taught.js';

const root = await mkdtemp(join(tmpdir(), 'peruse-save-'));
afterAll(() => rm(root, { recursive: true }));

const bytes = (content: string) => new TextEncoder().encode(content) as Uint8Array<ArrayBuffer>;
const model = (name: string) =>
  new Map(['model.safetensors', 'config.json', 'tokenizer.json', '1_Pooling/config.json'].map((file) => [file, bytes(`${name} ${file}`)]));
const adapter = () =>
  new Map(['adapter_model.safetensors', 'config.json', 'adapter_config.json'].map((file) => [file, bytes(`adapter ${file}`)]));
const read = (folder: string, file: string) => readFile(join(folder, file), 'utf8');

test('a new folder, and one that holds a model: files of that one alone go', async () => {
  const folder = join(root, 'deep/er/model');
  await saveToDisk(folder, new Map([...model('old'), ['vocab.txt', bytes('old')]]));
  await writeFile(join(folder, 'README.md'), 'mine');
  await saveToDisk(folder, model('new'), { overwrite: true });
  expect((await readdir(folder)).sort()).toEqual(['1_Pooling', 'README.md', 'config.json', 'model.safetensors', 'tokenizer.json']);
  for (const file of model('').keys()) expect(await read(folder, file)).toBe(`new ${file}`);
  expect(await readdir(join(root, 'deep/er'))).toEqual(['model']);
});

test('a model or an adapter in the folder is replaced only with overwrite', async () => {
  const [folder, other] = [join(root, 'full'), join(root, 'adapter')];
  await saveToDisk(folder, model('full'));
  await saveToDisk(other, adapter());
  const message = expect.stringMatching(
    /full holds a model \(config\.json, model\.safetensors\): name another folder, or set overwrite to true\.$/,
  );
  for (const files of [adapter(), model('new')])
    await expect(saveToDisk(folder, files)).rejects.toMatchObject({ code: 'invalid_argument', message });
  await expect(saveToDisk(other, model('new'), { overwrite: false })).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(await read(folder, 'config.json')).toBe('full config.json');
  await saveToDisk(folder, adapter(), { overwrite: true });
  expect((await readdir(folder)).sort()).toEqual(['1_Pooling', ...adapter().keys()].sort());
});

test('a folder whose only file of a model is a config.json is kept, too', async () => {
  const folder = join(root, 'mine');
  await mkdir(folder);
  await writeFile(join(folder, 'config.json'), 'mine');
  await expect(saveToDisk(folder, model('new'))).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(await read(folder, 'config.json')).toBe('mine');
});

test.each([[null], [{ overwrite: 'yes' }], [{ force: true }]])('the options %j are refused', (options) => {
  expect(() => checkSaveOptions(options as never)).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
});

test('two saves at once: the folder is one of both', async () => {
  const folder = join(root, 'both');
  for (let round = 0; round < 5; ++round) {
    await Promise.all(['a', 'b', 'c'].map((name) => saveToDisk(folder, model(name), { overwrite: true })));
    const contents = await Promise.all([...model('').keys()].map((file) => read(folder, file)));
    expect(new Set(contents.map((content) => content[0])).size).toBe(1);
  }
  expect((await readdir(root)).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a link in the folder is replaced, not written through', async () => {
  const folder = join(root, 'linked');
  await mkdir(folder);
  await writeFile(join(root, 'precious'), 'precious');
  await symlink(join(root, 'precious'), join(folder, 'tokenizer.json'));
  await saveToDisk(folder, model('new'));
  expect(await read(root, 'precious')).toBe('precious');
  expect(await read(folder, 'tokenizer.json')).toBe('new tokenizer.json');
});

test('a blank name is refused', async () => {
  for (const name of ['', '  '])
    await expect(saveToDisk(name, model('a'))).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/^Name a folder/),
    });
});

function directory(files: Map<string, string>, writes = Infinity): WritableDirectory {
  let left = writes;
  return {
    async *keys() {
      yield* files.keys();
    },
    async removeEntry(name) {
      files.delete(name);
    },
    async getDirectoryHandle(folder) {
      return { getFileHandle: (name) => this.getFileHandle(`${folder}/${name}`, { create: true }) };
    },
    async getFileHandle(name) {
      return {
        async createWritable() {
          let written = '';
          return {
            async write(content) {
              written = new TextDecoder().decode(content);
            },
            async close() {
              if (--left < 0) throw new Error('The page was closed.');
              files.set(name, written);
            },
          };
        },
      };
    },
  };
}

test('a save to a directory handle that is interrupted leaves no model', async () => {
  for (let writes = 0; writes < 4; ++writes) {
    const files = new Map([...model('old')].map(([name, content]) => [name, new TextDecoder().decode(content)]));
    await expect(saveToHandle(directory(files, writes), model('new'), { overwrite: true })).rejects.toThrow(/closed/);
    expect(files.has('config.json')).toBe(false);
  }
  const files = new Map([
    ['model.safetensors', 'old'],
    ['config.json', 'old'],
  ]);
  await expect(saveToHandle(directory(files), model('new'))).rejects.toMatchObject({ code: 'invalid_argument' });
  expect([...files.values()]).toEqual(['old', 'old']);
  await saveToHandle(directory(files), model('new'), { overwrite: true });
  expect([...files.values()].every((content) => content.startsWith('new'))).toBe(true);
  await expect(saveToHandle(directory(files), adapter())).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('weights without a configuration, which an interrupted save leaves, are no model', async () => {
  const folder = join(root, 'interrupted');
  await saveToDisk(folder, model('old'));
  await rm(join(folder, 'config.json'));
  await saveToDisk(folder, model('new'));
  for (const file of model('').keys()) expect(await read(folder, file)).toBe(`new ${file}`);
  const spans = join(root, 'spans');
  await saveToDisk(spans, new Map([['gliner_config.json', bytes('mine')]]));
  await expect(saveToDisk(spans, model('new'))).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('a save removes what killed saves of the same folder have left a day ago, and nothing else', async () => {
  const place = await mkdtemp(join(root, 'left-'));
  const folder = join(place, 'model');
  const id = (digit: string) => `${digit.repeat(8)}-1111-4111-8111-111111111111`;
  const [old, young] = [new Date(Date.now() - 25 * 3600_000), new Date()];
  const leave = async (path: string, time: Date) => {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, 'model.safetensors'), 'left');
    await utimes(path, time, time);
  };
  await leave(join(place, `.model.${id('1')}.partial`), old);
  await leave(join(place, `.model.${id('2')}.partial`), young);
  await leave(join(place, `.model.other.${id('3')}.partial`), old);
  await leave(join(place, '.model.mine.partial'), old);
  await leave(join(folder, `.model.${id('4')}.partial`), old);
  await writeFile(join(folder, `config.json.${id('5')}.partial`), 'left');
  await utimes(join(folder, `config.json.${id('5')}.partial`), old, old);
  await writeFile(join(place, '.model.saving'), `999999 ${hostname()}`); // the lock of a process that has ended
  await saveToDisk(folder, model('new'));
  await writeWhole(folder, 'config.json', 'new config.json');
  expect((await readdir(place)).sort()).toEqual(
    ['.model.mine.partial', `.model.${id('2')}.partial`, `.model.other.${id('3')}.partial`, 'model'].sort(),
  );
  expect((await readdir(folder)).sort()).toEqual(['1_Pooling', 'config.json', 'model.safetensors', 'tokenizer.json']);
});
