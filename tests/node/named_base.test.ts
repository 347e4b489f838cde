import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { env, type PipelineOptions, pipeline, type Source } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { type Files, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kAdapter = fileURLToPath(new URL('../fixtures/adapters/embeddings/', import.meta.url));
const kTexts = [3, 9].map((length) => tinyText(Array.from({ length }, (_, i) => (i * 7 + length) % 40)));
const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));

let root: string;
let base: Files;
let expected: number[];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-base-'));
  base = (await readTiny('electra-sequence')).files;
  await write('base', base);
  expected = await vectors(base, 'mean', { adapter: kAdapter });
});
afterAll(() => rm(root, { recursive: true }));

async function write(name: string, files: Files): Promise<string> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(root, name, file, '..'), { recursive: true });
    await writeFile(join(root, name, file), content);
  }
  return join(root, name);
}

async function adapterNaming(name: unknown): Promise<Files> {
  const read = async (file: string) => new Uint8Array(await readFile(join(kAdapter, file)));
  const config = JSON.parse(new TextDecoder().decode(await read('adapter_config.json'))) as object;
  const modules = ['Transformer', 'Pooling'].map((type, index) => ({
    idx: index,
    name: String(index),
    path: index === 0 ? '' : '1_Pooling',
    type: `sentence_transformers.models.${type}`,
  }));
  return {
    'adapter_config.json': json({ ...config, base_model_name_or_path: name }),
    'adapter_model.safetensors': await read('adapter_model.safetensors'),
    'modules.json': json(modules),
    'sentence_bert_config.json': json({ max_seq_length: 32, do_lower_case: false }),
    '1_Pooling/config.json': json({ word_embedding_dimension: 32, pooling_mode_mean_tokens: true }),
    'tokenizer.json': base['tokenizer.json']!,
  };
}

async function vectors(source: Source, pooling: 'mean' | 'sentence', options: PipelineOptions = {}): Promise<number[]> {
  const embed = await pipeline('feature-extraction', source, { variant: 'simd', worker: false, ...options });
  try {
    const found = await embed(kTexts, { pooling });
    return [...found.data];
  } finally {
    await embed.dispose();
  }
}

function expectClose(found: number[]): void {
  expect(found).toHaveLength(expected.length);
  expect(Math.max(...found.map((value, i) => Math.abs(value - expected[i]!)))).toBeLessThan(1e-5);
}

test('a folder that names a folder, here and in a worker', async () => {
  const folder = await write('adapter', await adapterNaming(join(root, 'base')));
  for (const worker of [false, true]) expectClose(await vectors(folder, 'sentence', { worker }));
  const embed = await pipeline('feature-extraction', folder, { variant: 'simd', worker: false });
  expect(embed.info).toMatchObject({ model: folder, shared: false });
  await embed.dispose();
});

test('an adapter on the hub that names a model of the hub, and files that do', async () => {
  const files = await adapterNaming('user/base');
  const on = (id: string, all: Files) =>
    Object.fromEntries(Object.entries(all).map(([name, content]) => [`${id}/resolve/main/${name}`, content]));
  const server = await startModelServer({ ...on('user/base', base), ...on('user/adapter', files) });
  const { remoteHost } = env;
  env.remoteHost = server.url;
  try {
    expectClose(await vectors('user/adapter', 'sentence'));
    expectClose(await vectors(files, 'sentence'));
  } finally {
    env.remoteHost = remoteHost;
    await server.close();
  }
});

test('a name that means nothing here is an error with a way out, and nothing is asked for', async () => {
  for (const name of [null, '', '/content/my-model', 'http://127.0.0.1:9/m/', '../up', 7]) {
    const folder = await write('unnamed', await adapterNaming(name));
    await expect(vectors(folder, 'mean')).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('option adapter') });
  }
  const server = await startModelServer(await adapterNaming(join(root, 'base')));
  try {
    // Files from a server must not name a folder of this machine.
    await expect(vectors(server.url, 'mean')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('option adapter'),
    });
  } finally {
    await server.close();
  }
});

test('an adapter that cannot be read as JSON is malformed; no adapter at all stays what it was', async () => {
  const files = { ...(await adapterNaming('user/base')), 'adapter_config.json': new TextEncoder().encode('{') };
  await expect(vectors(files, 'mean')).rejects.toMatchObject({ code: 'malformed_file' });
  const { 'adapter_config.json': _, ...rest } = files;
  await expect(vectors(rest, 'mean')).rejects.toMatchObject({ code: 'not_found', message: expect.stringContaining('config.json') });
});
