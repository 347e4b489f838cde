import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { env, type PipelineOptions, pipeline, type Source } from '../../web/dist/index_node.js';
import { convertCheckpoint, quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { peruse } from './cli/run_in_test.js';
import { startModelServer } from './support/model_server.js';
import { type Files, splitSafetensors, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kShards = [1, 2, 3].map((i) => `pytorch_model-0000${i}-of-00003.bin`);
const read = async (file: string) => new Uint8Array(await readFile(join(kFixtures, file)));

let root: string;
let folders = 0;
const newFolder = () => mkdtemp(join(root, `${++folders}-`));

interface Pair {
  safetensors: Files;
  pytorch: Files;
}
let single: Pair;
let legacy: Pair;
let sharded: Pair;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-pytorch-'));
  const { files } = await readTiny('convbert-masked-lm');
  const { 'model.safetensors': _, ...beside } = files;
  single = { safetensors: files, pytorch: { ...beside, 'pytorch_model.bin': await read('pytorch/convbert-masked-lm.bin') } };
  legacy = { safetensors: files, pytorch: { ...beside, 'pytorch_model.bin': await read('pytorch/convbert-masked-lm-legacy.bin') } };
  const { files: whole } = await readTiny('deberta-v2-sequence');
  const { 'model.safetensors': __, ...rest } = whole;
  const parts = await Promise.all(kShards.map(async (name) => [name, await read(`pytorch/${name}`)] as const));
  const index = { 'pytorch_model.bin.index.json': await read('pytorch/pytorch_model.bin.index.json') };
  sharded = { safetensors: whole, pytorch: { ...rest, ...index, ...Object.fromEntries(parts) } };
});
afterAll(() => rm(root, { recursive: true }));

async function write(files: Files): Promise<string> {
  const folder = await newFolder();
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

async function vectors(source: Source, options: PipelineOptions = {}) {
  const embed = await pipeline('feature-extraction', source, { variant: 'simd', ...options });
  try {
    const texts = [1, 5, 12].map((length) => tinyText(Array.from({ length }, (_, i) => (i * 7 + length) % 40)));
    return { info: embed.info, vectors: await embed(texts, { pooling: 'mean' }) };
  } finally {
    await embed.dispose();
  }
}

describe('a checkpoint from PyTorch is the one of the safetensors file', () => {
  test('from bytes, Files, a folder and a URL, here and in a worker', async () => {
    const expected = await vectors(single.safetensors);
    const folder = await write(single.pytorch);
    const server = await startModelServer(single.pytorch);
    try {
      const list = Object.entries(single.pytorch).map(([name, content]) => new File([content as BlobPart], name));
      for (const source of [single.pytorch, list, folder, server.url]) {
        for (const worker of [false, true]) {
          const found = await vectors(source, { worker });
          expect(found.vectors).toEqual(expected.vectors);
          expect(found.info.weights.weightBytes).toBe(expected.info.weights.weightBytes);
        }
      }
    } finally {
      await server.close();
    }
  });

  test('in the legacy form, and in shards', async () => {
    expect((await vectors(legacy.pytorch)).vectors).toEqual((await vectors(legacy.safetensors)).vectors);
    const found = await vectors(sharded.pytorch, { dtype: 'fp16' });
    expect(found.vectors).toEqual((await vectors(sharded.safetensors, { dtype: 'fp16' })).vectors);
    expect(found.info.bytes).toBe(Object.values(sharded.pytorch).reduce((sum, { length }) => sum + length, 0));
  });

  test('from the cache', async () => {
    const before = { cache: env.cache, cacheFolder: env.cacheFolder };
    const server = await startModelServer(single.pytorch);
    try {
      env.cache = true;
      env.cacheFolder = await newFolder();
      const first = await vectors(server.url);
      const offline = await vectors(server.url, { offline: true });
      expect(offline.vectors).toEqual(first.vectors);
      expect(server.requests.filter((path) => path === 'pytorch_model.bin')).toHaveLength(1);
    } finally {
      Object.assign(env, before);
      await server.close();
    }
  });

  test('and safetensors wins where both are there', async () => {
    const both = { ...single.safetensors, 'pytorch_model.bin': new Uint8Array(3) };
    expect((await vectors(both)).vectors).toEqual((await vectors(single.safetensors)).vectors);
  });
});

describe('written again', () => {
  test.each([
    ['a file', () => single],
    ['a legacy file', () => legacy],
  ])('%s as safetensors holds the same numbers, tied ones once', async (_, pair) => {
    const folder = await newFolder();
    const report = await convertCheckpoint(pair().pytorch, folder);
    const { header, body } = splitSafetensors(new Uint8Array(await readFile(join(folder, 'model.safetensors'))));
    const original = splitSafetensors(pair().safetensors['model.safetensors']!);
    for (const [name, { dtype, shape, data_offsets: at }] of Object.entries(original.header)) {
      if (name === '__metadata__') continue;
      expect(header[name], name).toMatchObject({ dtype, shape });
      expect(body.subarray(...header[name]!.data_offsets), name).toEqual(original.body.subarray(...at));
    }
    expect(header.__metadata__).toEqual({ format: 'pt', 'generator_lm_head.weight': expect.stringMatching(/word_embeddings\.weight$/) });
    expect(header['generator_lm_head.weight']).toBeUndefined();
    expect(report).toEqual({ tensors: Object.keys(header).length - 1, bytes: body.length, file: expect.stringMatching(/\.bin$/) });
    expect((await vectors(folder)).vectors).toEqual((await vectors(pair().safetensors)).vectors);
  });

  test('shards stay shards, under the names of safetensors', async () => {
    const folder = await newFolder();
    await convertCheckpoint(sharded.pytorch, folder);
    expect((await readdir(folder)).sort()).toEqual([
      'config.json',
      'model-00001-of-00003.safetensors',
      'model-00002-of-00003.safetensors',
      'model-00003-of-00003.safetensors',
      'model.safetensors.index.json',
      'tokenizer.json',
    ]);
    expect((await vectors(folder)).vectors).toEqual((await vectors(sharded.pytorch)).vectors);
  });

  test('by the command', async () => {
    const [source, target] = [await write(legacy.pytorch), await newFolder()];
    const { code, lines, err } = await peruse(['convert', source, target]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines[0]).toMatchObject({ folder: target, tensors: expect.any(Number), bytes: expect.any(Number) });
    expect((await vectors(target)).vectors).toEqual((await vectors(legacy.safetensors)).vectors);
    expect((await peruse(['convert', source])).code).toBe(2);
    expect((await peruse(['convert', target, target])).err).toMatch(/over the one/);
  });

  test('as q8, with the bits of quantising while loading', async () => {
    const folder = await newFolder();
    const { quantized } = await quantizeCheckpoint(single.pytorch, folder);
    expect(quantized).toBeGreaterThan(8);
    const found = await vectors(folder);
    expect(found.info.dtype).toBe('q8');
    expect(found.vectors).toEqual((await vectors(single.safetensors, { dtype: 'q8' })).vectors);
  });
});

describe('peruse inspect', () => {
  const inspect = async (model: string) => {
    const { code, err, lines } = await peruse(['inspect', model, '--json']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return lines[0];
  };

  test('says of it what it says of the safetensors file', async () => {
    const expected = await inspect(await write(single.safetensors));
    const found = await inspect(await write(single.pytorch));
    for (const key of ['model_type', 'dtypes', 'runs', 'tasks'] as const) expect(found[key], key).toEqual(expected[key]);
    expect(found.files).toEqual(['pytorch_model.bin']);
    expect((await inspect(await write(sharded.pytorch))).files).toEqual(kShards);
  });

  test('reads no more of a large file than the list of its tensors', async () => {
    const content = single.pytorch['pytorch_model.bin']!;
    const server = await startModelServer({
      'config.json': single.pytorch['config.json']!,
      'pytorch_model.bin': (request, response) => {
        if (request.method === 'HEAD') return void response.writeHead(200, { 'content-length': content.length }).end();
        const end = Number(/bytes=0-(\d+)/.exec(request.headers.range ?? '')![1]) + 1;
        response.writeHead(206, { 'content-length': Math.min(end, content.length) }).end(content.subarray(0, end));
      },
    });
    try {
      expect((await inspect(server.url)).files).toEqual(['pytorch_model.bin']);
      const reads = server.calls.filter(({ method, path }) => method === 'GET' && path === 'pytorch_model.bin');
      expect([...new Set(reads.map(({ headers }) => headers.range))].sort()).toEqual(['bytes=0-0', 'bytes=0-65535']);
    } finally {
      await server.close();
    }
  });
});

describe('refused by name, and nothing is left behind', () => {
  const failure = (files: Files) =>
    vectors(files).then(
      () => undefined,
      (error: unknown) => error,
    );
  const withFile = (content: Uint8Array): Files => ({ ...single.pytorch, 'pytorch_model.bin': content });

  test('a file that would run code, a torn one, a damaged one, one that is something else', async () => {
    const sound = single.pytorch['pytorch_model.bin']!;
    const replaced = (from: string, to: string) => Buffer.from(Buffer.from(sound).toString('latin1').replace(from, to), 'latin1');
    const system = replaced('ctorch._utils\n_rebuild_tensor_v2\n', 'cos\nsystem\n');
    expect(await failure(withFile(system))).toMatchObject({ code: 'unsupported', message: expect.stringContaining('names os.system') });
    expect(await failure(withFile(sound.subarray(0, 50_000)))).toMatchObject({ code: 'truncated_file' });
    const damaged = sound.slice();
    const { body } = splitSafetensors(single.safetensors['model.safetensors']!);
    damaged[Buffer.from(sound).indexOf(body.subarray(0, 32))]! ^= 1; // of some tensor
    expect(await failure(withFile(damaged))).toMatchObject({ code: 'malformed_file', message: expect.stringContaining('damaged') });
    const pointer = new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\noid sha256:0\n');
    expect(await failure(withFile(pointer))).toMatchObject({ code: 'malformed_file', message: expect.stringContaining('Git LFS') });
    const folder = await newFolder();
    await expect(convertCheckpoint(withFile(damaged), folder)).rejects.toMatchObject({ code: 'malformed_file' });
    await expect(convertCheckpoint(withFile(system), folder)).rejects.toMatchObject({ code: 'unsupported' });
    expect(await readdir(folder)).toEqual([]);
  });
});
