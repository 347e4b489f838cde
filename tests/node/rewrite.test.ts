import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pipeline, type Source } from '../../web/dist/index_node.js';
import { convertCheckpoint, quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { trimCheckpoint } from '../../web/dist/quantize/trim.js';
import { peruse } from './cli/run_in_test.js';
import { startModelServer } from './support/model_server.js';
import { joinSafetensors, splitSafetensors } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kSentence = `${kRoot}tests/fixtures/sentence/`;
const kTiny = 'deberta-v2-sequence';

let root: string;
let folders = 0;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-rewrite-'));
});
afterAll(() => rm(root, { recursive: true }));

async function newFolder(): Promise<string> {
  const folder = join(root, String(folders++));
  await mkdir(folder);
  return folder;
}

async function failure(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  return promise.then(
    () => ({ code: 'none', message: '' }),
    (error: { code: string; message: string }) => error,
  );
}

describe('every file that makes the model', () => {
  test.each(['cls', 'dense-tanh', 'old', 'several'])('of the sentence-transformers folder %s is written', async (name) => {
    const [{ text, options, vector }] = JSON.parse(await readFile(`${kSentence}${name}/texts.json`, 'utf8')) as [
      { text: string; options: object; vector: number[] },
    ];
    const folder = await newFolder();
    await convertCheckpoint(kSentence + name, folder);
    const files = async (of: string) => (await readdir(of, { recursive: true, withFileTypes: true })).filter((one) => one.isFile());
    const names = async (of: string) => (await files(of)).map(({ name: file, parentPath }) => join(parentPath, file).slice(of.length));
    const ofFixture = ['/texts.json', '/expected.safetensors'];
    const original = (await names(`${kSentence}${name}`)).filter((file) => !ofFixture.includes(file));
    expect((await names(folder)).sort()).toEqual(original.sort());
    const embed = await pipeline('feature-extraction', folder, { variant: 'simd', worker: false });
    const { data } = (await embed(text, { pooling: 'sentence', ...options })) as { data: Float32Array };
    expect(Math.max(...vector.map((value, i) => Math.abs(value - data[i]!)))).toBeLessThan(1e-5);
    await embed.dispose();
  });

  test('a quantised model keeps its pooling', async () => {
    const folder = await newFolder();
    await quantizeCheckpoint(`${kSentence}cls`, folder);
    const vectors: Float32Array[] = [];
    for (const source of [`${kSentence}cls`, folder]) {
      const embed = await pipeline('feature-extraction', source, { variant: 'simd', worker: false, dtype: 'q8' });
      vectors.push((await embed('some words', { pooling: 'sentence' })).data);
      await embed.dispose();
    }
    expect(vectors[1]).toEqual(vectors[0]);
  });

  test('from a URL too', async () => {
    const names = await readdir(`${kSentence}dense-tanh`, { recursive: true, withFileTypes: true });
    const paths = names.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    const files = await Promise.all(paths.map(async (path) => [path.slice(`${kSentence}dense-tanh/`.length), await readFile(path)]));
    const server = await startModelServer(Object.fromEntries(files) as Record<string, Uint8Array>);
    try {
      const folder = await newFolder();
      await convertCheckpoint(server.url, folder);
      expect(await readdir(join(folder, '2_Dense'))).toEqual(['config.json', 'model.safetensors']);
    } finally {
      await server.close();
    }
  });
});

describe('the target folder', () => {
  test.each(['', ' ', '\t\n'])('named %j is refused', async (name) => {
    const { files } = await readTiny(kTiny);
    expect(await failure(convertCheckpoint(files, name))).toMatchObject({ code: 'invalid_argument' });
    expect((await peruse(['convert', `${kRoot}models/peruse-sentiment-convbert-tiny`, name])).code).not.toBe(0);
    expect((await peruse(['teach', 'text-classification', 'm', 'e.jsonl', '--out', name])).err).toContain('--out is missing');
    expect((await peruse(['pretrain', 'mlm', 'm', 'e.txt', '--out', name])).err).toContain('--out is missing');
  });

  test('is written without following links', async () => {
    const { files } = await readTiny(kTiny);
    const source = await newFolder();
    for (const [name, content] of Object.entries(files)) await writeFile(join(source, name), content);
    const folder = await newFolder();
    const names = ['config.json', 'tokenizer.json', 'model.safetensors', 'model.safetensors.partial'];
    for (const name of names) await symlink(join(source, name), join(folder, name));
    await quantizeCheckpoint(source, folder, { overwrite: true });
    for (const [name, content] of Object.entries(files)) expect(new Uint8Array(await readFile(join(source, name)))).toEqual(content);
    expect(await readlink(join(folder, 'model.safetensors.partial'))).toBe(join(source, 'model.safetensors.partial'));
    expect((await readdir(source)).sort()).toEqual(Object.keys(files).sort());
    const { lstat } = await import('node:fs/promises');
    for (const name of names.slice(0, 3)) expect((await lstat(join(folder, name))).isSymbolicLink()).toBe(false);
  });

  test('whose inner folder is a link is refused', async () => {
    const folder = await newFolder();
    await symlink(await newFolder(), join(folder, '1_Pooling'));
    const error = await failure(convertCheckpoint(`${kSentence}cls`, folder));
    expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('1_Pooling is a symbolic link') });
  });

  test('that holds a model is left as it is, unless the caller wants it replaced', async () => {
    const { files } = await readTiny(kTiny);
    const folder = await newFolder();
    const theirs = { 'config.json': '{"mine":1}', 'vocab.txt': 'a\nb\n', 'notes.txt': 'mine' };
    for (const [name, content] of Object.entries(theirs)) await writeFile(join(folder, name), content);
    const error = await failure(convertCheckpoint(files, folder));
    expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(/holds a model \(config\.json\).*overwrite/) });
    expect((await peruse(['convert', `${kSentence}cls`, folder])).err).toContain('overwrite');
    expect((await readdir(folder)).sort()).toEqual(Object.keys(theirs).sort());
    await convertCheckpoint(files, folder, { overwrite: true });
    expect((await readdir(folder)).sort()).toEqual([...Object.keys(files), 'notes.txt'].sort()); // the old model's vocabulary is gone
    expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('keeps nothing half-written after %s', async (signal) => {
    const { files } = await readTiny(kTiny);
    const folder = await newFolder();
    let begun = () => {};
    const sending = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const server = await startModelServer({
      ...files,
      'model.safetensors': (_, response) => {
        response.writeHead(200, { 'content-length': files['model.safetensors']!.length });
        response.write(files['model.safetensors']!.subarray(0, 20_000)); // the rest never arrives
        begun();
      },
    });
    try {
      const child = spawn(process.execPath, [`${kRoot}web/dist/cli/main.js`, 'convert', '--no-cache', server.url, folder]);
      const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
      await sending;
      while (!(await readdir(folder)).some((name) => name.endsWith('.partial'))) await wait(20);
      child.kill(signal);
      expect(await ended).toBe({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
      expect(await readdir(folder)).toEqual([]);
    } finally {
      await server.close();
    }
  });
});

describe('a model that is replaced stays whole until the new one is complete', () => {
  const kMine = { 'config.json': '{"mine":1}', 'model.safetensors': 'my weights', 'vocab.txt': 'a\nb\n', 'notes.txt': 'mine' };
  async function occupied(): Promise<string> {
    const folder = await newFolder();
    for (const [name, content] of Object.entries(kMine)) await writeFile(join(folder, name), content);
    return folder;
  }
  async function expectMine(folder: string): Promise<void> {
    const names = (await readdir(folder)).sort();
    expect(names).toEqual(Object.keys(kMine).sort());
    for (const [name, content] of Object.entries(kMine)) expect(await readFile(join(folder, name), 'utf8')).toBe(content);
  }
  const kWrites = [
    ['convert', (source: Source, folder: string) => convertCheckpoint(source, folder, { overwrite: true })],
    ['quantize', (source: Source, folder: string) => quantizeCheckpoint(source, folder, { overwrite: true })],
    ['trim', (source: Source, folder: string) => trimCheckpoint(source, folder, { overwrite: true, texts: ['a b'] })],
    ['shrink', (source: Source, folder: string) => shrinkCheckpoint(source, folder, { overwrite: true })],
  ] as const;

  test.each(kWrites)('%s from a source that is cut, or does not exist', async (_, write) => {
    const { files } = await readTiny(kTiny);
    const folder = await occupied();
    const cut = { ...files, 'model.safetensors': files['model.safetensors']!.slice(0, -1) };
    expect((await failure(write(cut, folder))).code).toBe('truncated_file');
    await expectMine(folder);
    expect((await failure(write(join(root, 'no-such-model'), folder))).code).not.toBe('none');
    await expectMine(folder);
  });

  test('shrink whose comparison fails', async () => {
    const { files } = await readTiny(kTiny);
    const folder = await occupied();
    const texts = ['a b', 3 as unknown as string];
    expect((await failure(shrinkCheckpoint(files, folder, { overwrite: true, compare: texts }))).code).toBe('invalid_argument');
    await expectMine(folder);
  });

  test.each(kWrites)('%s onto its own source is refused', async (_, write) => {
    const { files } = await readTiny(kTiny);
    const source = await newFolder();
    for (const [name, content] of Object.entries(files)) await writeFile(join(source, name), content);
    const link = join(root, `link-${folders}`);
    await symlink(source, link);
    for (const folder of [source, link]) {
      expect(await failure(write(source, folder))).toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(/made from/) });
    }
    for (const [name, content] of Object.entries(files)) expect(new Uint8Array(await readFile(join(source, name)))).toEqual(content);
  });

  test('by Ctrl-C', async () => {
    const { files } = await readTiny(kTiny);
    const folder = await occupied();
    let begun = () => {};
    const sending = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const server = await startModelServer({
      ...files,
      'model.safetensors': (_, response) => {
        response.writeHead(200, { 'content-length': files['model.safetensors']!.length });
        response.write(files['model.safetensors']!.subarray(0, 20_000)); // the rest never arrives
        begun();
      },
    });
    try {
      const child = spawn(process.execPath, [`${kRoot}web/dist/cli/main.js`, 'convert', '--no-cache', '--overwrite', server.url, folder]);
      const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
      await sending;
      while (!(await readdir(folder)).some((name) => name.endsWith('.partial'))) await wait(20);
      child.kill('SIGINT');
      expect(await ended).toBe(130);
      await expectMine(folder);
      expect((await readdir(root)).filter((name) => name.includes('saving'))).toEqual([]);
    } finally {
      await server.close();
    }
  });
});

describe('names that meet', () => {
  test('of two shards are refused', async () => {
    const { files } = await readTiny(kTiny);
    const { header } = splitSafetensors(files['model.safetensors']!);
    const [first, ...rest] = Object.keys(header).filter((name) => name !== '__metadata__');
    const map = Object.fromEntries([...rest.map((name) => [name, 'model-1.bin']), [first, 'pytorch_model-1.bin']]);
    const { 'model.safetensors': weights, ...others } = files;
    const sharded = {
      ...others,
      'pytorch_model.bin.index.json': new TextEncoder().encode(JSON.stringify({ weight_map: map })),
      'pytorch_model-1.bin': weights!,
      'model-1.bin': weights!,
    };
    const folder = await newFolder();
    const error = await failure(convertCheckpoint(sharded, folder));
    expect(error).toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/'model-1.bin'.*'pytorch_model-1.bin'.*'model-1.safetensors'/),
    });
    expect(await readdir(folder)).toEqual([]);
  });

  test('of a quantised tensor and its scales are refused', async () => {
    const { files } = await readTiny(kTiny);
    const { header, body } = splitSafetensors(files['model.safetensors']!);
    const [name] = Object.keys(header)
      .find((one) => one.endsWith('layer.0.intermediate.dense.weight'))!
      .split('\n');
    const other = Object.keys(header).find((one) => one.endsWith('layer.0.intermediate.dense.bias'))!;
    const { [other]: bias, ...rest } = header;
    const weights = joinSafetensors({ ...rest, [`${name}_scale`]: bias! }, body);
    const error = await failure(quantizeCheckpoint({ ...files, 'model.safetensors': weights }, await newFolder()));
    expect(error).toMatchObject({ code: 'unsupported', message: expect.stringContaining(`${name}_scale`) });
  });
});
