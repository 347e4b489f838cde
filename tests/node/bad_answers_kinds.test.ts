// A server sends something else instead of a file, once: every kind of file, and every function that reads models. The next call on a sound
// server succeeds without modelCache.delete, also if the wrong file was stored before.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, describe as group, test } from 'vitest';
import { describe, env, pipeline } from '../../web/dist/index_node.js';
import * as tokenizers from '../../web/dist/index_tokenizer_node.js';
import { convertCheckpoint } from '../../web/dist/quantize/quantize.js';
import { trimCheckpoint } from '../../web/dist/quantize/trim.js';
import { teach } from '../../web/dist/teach/index_node.js';
import { folder, hub, useFreshHub } from './support/fresh_hub.js';
import { MapCache } from './support/map_cache.js';
import { filesOf, kSentiment, sends } from './support/model_hub.js';
import { onnxRepository } from './support/onnx_files.js';
import { readSharded } from './support/sharded.js';
import type { Files } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

useFreshHub([env, tokenizers.env]);

const bytes = async (path: string) => new Uint8Array(await readFile(join(kFixtures, path)));
const put = (files: Files) => {
  hub.files = new Map(Object.entries(files));
};

type Run = () => Promise<unknown>;

async function runs(task: 'text-classification' | 'feature-extraction', options: object = {}): Promise<void> {
  const model = await pipeline(task, 'user/model', { worker: false, ...options });
  await (model as unknown as (text: string) => Promise<unknown>)('t1 t2');
  await model.dispose();
}

interface Kind {
  prepare(): Promise<void>;
  run: Run;
  /** The files of this kind. */
  names: string[];
}

const kKinds: Record<string, Kind> = {
  'modules of sentence-transformers': {
    prepare: async () => {
      const { files } = await readTiny('deberta-v2-bare');
      const pooling = { word_embedding_dimension: 32, pooling_mode_mean_tokens: true };
      const modules = [
        { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
        { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
      ];
      const json = (value: unknown) => Buffer.from(JSON.stringify(value));
      const { hidden_size } = JSON.parse(Buffer.from(files['config.json']!).toString()) as { hidden_size: number };
      put({
        ...files,
        'modules.json': json(modules),
        '1_Pooling/config.json': json({ ...pooling, word_embedding_dimension: hidden_size }),
        'sentence_bert_config.json': json({ max_seq_length: 32, do_lower_case: false }),
      });
    },
    run: () => runs('feature-extraction'),
    names: ['modules.json', '1_Pooling/config.json', 'sentence_bert_config.json'],
  },
  shards: {
    prepare: async () => put(await readSharded((name) => bytes(`sharded/${name}`))),
    run: () => runs('text-classification'),
    names: ['model.safetensors.index.json', 'model-00002-of-00003.safetensors'],
  },
  'ONNX files': {
    prepare: async () => put(await onnxRepository('bert-sequence/model.onnx')),
    run: () => runs('text-classification', { dtype: 'fp32' }),
    names: ['onnx/model.onnx', 'config.json'],
  },
  adapters: {
    prepare: async () => {
      const { files } = await readTiny('deberta-v2-sequence');
      const own = ['adapter_config.json', 'adapter_model.safetensors'] as const;
      const adapter = await Promise.all(own.map(async (name) => [name, await bytes(`adapters/linear/${name}`)]));
      put({ ...files, ...Object.fromEntries(adapter) });
    },
    run: () => runs('text-classification', { adapter: 'user/adapter' }),
    names: ['adapter_config.json', 'adapter_model.safetensors'],
  },
};

const kBodies = [
  ['HTML', '<!doctype html><title>Sign in</title>', 'text/html'],
  ['a JSON error', '{"error":"Rate limit reached"}', 'application/json'],
  ['cut JSON', '{"x":', 'application/octet-stream'],
  ['nothing', '', 'application/octet-stream'],
] as const;
const kBad = expect.objectContaining({
  name: 'PeruseError',
  code: expect.stringMatching(/malformed_file|truncated_file|not_found|unsupported/) as string,
}) as Error;

const kCases = Object.entries(kKinds).flatMap(([kind, { names }]) =>
  names.flatMap((name) => kBodies.map(([what, body, type]) => [kind, name, what, body, type] as const)),
);

test.each(kCases)('%s: %s is %s once', async (kind, name, _, body, type) => {
  const { prepare, run } = kKinds[kind]!;
  await prepare();
  hub.fault = (request, response, file) => file === name && sends(body, type)(request, response);
  await expect(run()).rejects.toEqual(kBad);
  hub.fault = () => false;
  await run();
  hub.log.length = 0;
  await run();
  expect(hub.log).toEqual([]);
});

group('every function that reads a model', () => {
  const kFunctions: Record<string, { names: string[]; run: Run }> = {
    'describe()': { names: ['config.json'], run: () => describe('user/model') },
    'Tokenizer.from_pretrained()': {
      names: ['tokenizer.json'],
      run: async () => (await tokenizers.Tokenizer.from_pretrained('user/model')).dispose(),
    },
    'convert()': {
      names: ['config.json', 'model.safetensors'],
      run: () => convertCheckpoint('user/model', join(folder, 'out'), { overwrite: true }),
    },
    'trim()': {
      names: ['config.json', 'tokenizer.json'],
      run: () => trimCheckpoint('user/model', join(folder, 'out'), { overwrite: true, texts: ['A gem.', 'A bore.'], force: true }),
    },
    'teach()': {
      names: ['config.json', 'tokenizer.json', 'model.safetensors'],
      run: async () => {
        const examples = ['good', 'fine', 'bad', 'poor'].map((text, index) => ({ text, label: index < 2 ? 'yes' : 'no' }));
        await teach('text-classification', 'user/model', examples, { method: 'head' });
      },
    },
  };
  const cases = Object.entries(kFunctions).flatMap(([what, { names }]) => names.map((name) => [what, name] as const));

  test.each(cases)('%s fetches %s again, if the server or the cache gave a wrong one', async (what, name) => {
    hub.files = filesOf(kSentiment);
    const { run } = kFunctions[what]!;
    const cache = new MapCache();
    for (const own of [env, tokenizers.env]) own.cache = cache;
    hub.fault = (request, response, file) => file === name && sends('{"x":', 'application/octet-stream')(request, response);
    await expect(run()).rejects.toEqual(kBad);
    hub.fault = () => false;
    await run();
    const url = `${hub.origin}user/model/resolve/main/${name}`;
    expect([...cache.entries.keys()].some((key) => key.startsWith(url))).toBe(true);
    // as an earlier version of the library, which did not look at contents, stored it
    cache.entries.set(url, new Response('{"x":', { headers: { 'content-length': '5', etag: '"old"' } }));
    await run();
    expect((await cache.match(url))!.headers.get('etag')).not.toBe('"old"');
  });
});
