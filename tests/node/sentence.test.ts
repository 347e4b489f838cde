import { getEventListeners } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { onAbort } from '../../web/dist/errors.js';
import { env, type FeatureExtractionOptions, type PipelineOptions, pipeline, type Source } from '../../web/dist/index_node.js';
import { hasNoModules } from '../../web/src/sources/checkpoint.js';
import { hasOnlyOnnx } from '../../web/src/sources/onnx_files.js';
import { startHub } from './support/model_hub.js';
import { startModelServer } from './support/model_server.js';
import { onnxRepository } from './support/onnx_files.js';
import type { Files } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/sentence/', import.meta.url));
const kCases = ['mean', 'cls', 'max', 'sqrt', 'weighted', 'last', 'several', 'dense-tanh', 'dense-identity', 'old'].concat([
  'residual',
  'residual-narrow',
  'truncated',
  'unnamed',
  'longer',
  'lower-special',
  'qwen3-embedding',
  'embedding-gemma',
  'eurobert-nano',
  'eurobert-dense',
]);
const kTolerance = 1e-5;

interface Wanted {
  text: string;
  options: { prompt?: string; prompt_name?: string; dimensions?: number };
  vector: number[];
}

async function wantedOf(name: string): Promise<Wanted[]> {
  return JSON.parse(await readFile(join(kFixtures, name, 'texts.json'), 'utf8')) as Wanted[];
}

async function filesOf(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = await Promise.all(paths.map(async (path) => [path.slice(folder.length + 1), new Uint8Array(await readFile(path))]));
  return Object.fromEntries(read) as Files;
}

const load = (source: Source) => pipeline('feature-extraction', source, { variant: 'simd', worker: false });

function distance(found: ArrayLike<number>, wanted: number[]): number {
  expect(found).toHaveLength(wanted.length);
  return Math.max(...wanted.map((value, i) => Math.abs(found[i]! - value)));
}

describe("a folder's vectors are the library's", () => {
  test.each(kCases)('%s', async (name) => {
    const embed = await load(join(kFixtures, name));
    for (const { text, options, vector } of await wantedOf(name)) {
      const { data, dims } = await embed(text, { pooling: 'sentence', ...options });
      expect(dims).toEqual([1, vector.length]);
      expect(distance(data, vector), JSON.stringify({ text, options })).toBeLessThan(kTolerance);
    }
    await embed.dispose();
  });

  test.each(['old', 'dense-tanh'])('%s from bytes, Files of a chosen folder and a URL', async (name) => {
    const files = await filesOf(join(kFixtures, name));
    const chosen = Object.entries(files).map(([path, content]) => {
      const file = new File([content as BlobPart], path.split('/').at(-1)!);
      return Object.defineProperty(file, 'webkitRelativePath', { value: `model/${path}` });
    });
    const server = await startModelServer(files);
    try {
      const [{ text, vector }] = (await wantedOf(name)) as [Wanted];
      for (const source of [files, chosen, server.url]) {
        const embed = await load(source);
        expect(distance((await embed(text, { pooling: 'sentence' })).data, vector)).toBeLessThan(kTolerance);
        await embed.dispose();
      }
    } finally {
      await server.close();
    }
  });
});

describe('a server is asked for no file that the model does not need', () => {
  const requestsOf = async (files: Files, task: 'feature-extraction' | 'text-ranking' = 'feature-extraction') => {
    const server = await startModelServer(files);
    try {
      await (await pipeline(task, server.url, { variant: 'simd', worker: false })).dispose();
      return [...server.requests].sort();
    } finally {
      await server.close();
    }
  };
  const released = (version: string) => JSON.stringify({ __version__: { sentence_transformers: version } });

  test('a folder as most on the hub: each file once, and nothing that is missing', async () => {
    const {
      '2_Normalize/config.json': _,
      'expected.safetensors': __,
      'texts.json': ___,
      ...files
    } = await filesOf(join(kFixtures, 'mean'));
    files['config_sentence_transformers.json'] = new TextEncoder().encode(released('2.0.0'));
    expect(await requestsOf(files)).toEqual(Object.keys(files).sort());
  });

  test('a folder with another name of the settings: the names before it', async () => {
    const { 'sentence_bert_config.json': settings, ...files } = await filesOf(join(kFixtures, 'mean'));
    const requests = await requestsOf({ ...files, 'sentence_distilbert_config.json': settings! });
    expect(requests.filter((path) => path.startsWith('sentence_'))).toEqual(
      ['bert', 'distilbert', 'roberta'].map((name) => `sentence_${name}_config.json`),
    );
    expect(requests).toContain('2_Normalize/config.json'); // the release 6 writes it
  });

  test('a folder without modules.json: only that file in vain', async () => {
    const files = await filesOf(join(kFixtures, 'mean'));
    const own = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];
    const requests = await requestsOf(Object.fromEntries(own.map((name) => [name, files[name]!])));
    expect(requests).toEqual([...own, 'modules.json'].sort());
  });

  describe('a repository of transformers.js', async () => {
    const { 'expected.safetensors': _, ...model } = await onnxRepository(
      'modernbert-bare/sentence_mean_quantized.onnx',
      'model_quantized.onnx',
    );
    model['tokenizer_config.json'] = new TextEncoder().encode('{}');
    const texts = Object.keys(model).filter((name) => !name.startsWith('onnx/'));
    const loadFrom = async (
      files: Files,
      id: string,
      options: PipelineOptions = {},
      task: 'feature-extraction' | 'text-ranking' = 'feature-extraction',
    ) => {
      const hub = await startHub(new Map(Object.entries(files)));
      const { remoteHost, cache } = env;
      Object.assign(env, { remoteHost: hub.origin, cache: false });
      try {
        const pipe = await pipeline(task, id, { variant: 'simd', worker: false, ...options });
        await pipe.dispose();
        return { requests: hub.log.sort(), file: pipe.info.weights.file };
      } finally {
        Object.assign(env, { remoteHost, cache });
        await hub.close();
      }
    };
    const hubRequests = async (id: string, options: PipelineOptions = {}) => (await loadFrom(model, id, options)).requests;
    const needed = [...texts.map((name) => `GET ${name}`), 'GET onnx/model_quantized.onnx', 'HEAD onnx/model_quantized.onnx'].sort();

    test.each(['Xenova/tiny', 'Xenova/tiny-ONNX'])('%s: nothing that is missing', async (id) => {
      expect(await hubRequests(id)).toEqual(needed);
      expect(await hubRequests(id, { dtype: 'q8' })).toEqual(needed);
    });

    test.each(['onnx-community/tiny', 'someone/tiny-ONNX'])('%s: only modules.json in vain', async (id) => {
      expect(await hubRequests(id)).toEqual([...needed, 'GET modules.json'].sort());
    });

    test("another name with weights: 'onnx': only modules.json in vain", async () => {
      expect(await hubRequests('someone/tiny', { weights: 'onnx' })).toEqual([...needed, 'GET modules.json'].sort());
    });

    test('Xenova/ranker: no modules.json either', async () => {
      const ranker = await onnxRepository('bert-sequence/model_quantized.onnx', 'model_quantized.onnx');
      const { requests } = await loadFrom(ranker, 'Xenova/ranker', {}, 'text-ranking');
      expect(requests).toContain('HEAD onnx/model_quantized.onnx');
      expect(requests).not.toContain('GET modules.json');
    });

    test('a folder of that name in a path is read whole', () => {
      const names = ['./Xenova/tiny', '/models/Xenova/tiny', 'https://host/Xenova/tiny/'];
      expect(names.map((name) => [hasOnlyOnnx(name), hasNoModules(name)])).toEqual(names.map(() => [false, false]));
    });

    test('safetensors of such a name are loaded if it has no ONNX file', async () => {
      expect((await loadFrom((await readTiny('modernbert-bare')).files, 'Xenova/tiny')).file).toBe('model.safetensors');
    });
  });
});

test('a prompt means the whole folder; other poolings stay as they are', async () => {
  const embed = await load(join(kFixtures, 'mean'));
  const wanted = await wantedOf('mean');
  const { text, vector } = wanted.find(({ options }) => options.prompt_name === 'passage')!;
  expect(distance((await embed(text, { prompt_name: 'passage' })).data, vector)).toBeLessThan(kTolerance);
  const plain = await embed(text, { pooling: 'mean', normalize: true });
  const empty = await embed(text, { prompt: '' }); // not the default prompt
  expect(distance(plain.data, Array.from(empty.data))).toBeLessThan(kTolerance);
  expect((await embed(text)).dims).toEqual([1, 5, 8]);
  const cut = await embed(text, { pooling: 'mean', dimensions: 3, normalize: true });
  expect(Math.hypot(...cut.data)).toBeCloseTo(1, 6);
  expect(cut.dims).toEqual([1, 3]);
  await embed.dispose();
});

test('a folder that says nothing is mean pooling, cut to what the model takes', async () => {
  const { 'modules.json': _, ...files } = await filesOf(join(kFixtures, 'cls'));
  const embed = await load(files);
  const text = Array.from({ length: 100 }, () => 'a').join(' ');
  const { data } = await embed(text, { pooling: 'sentence' });
  const mean = await embed(text, { pooling: 'mean', truncation: true });
  expect(distance(data, Array.from(mean.data))).toBeLessThan(kTolerance);
  await embed.dispose();
});

test('what can not be is one clear error', async () => {
  const embed = await load(join(kFixtures, 'weighted'));
  const failing = (options: FeatureExtractionOptions) => embed('a b', options).catch((error: unknown) => error);
  const refused = (words: RegExp) => ({ code: 'invalid_argument', message: expect.stringMatching(words) });
  expect(await failing({ prompt_name: 'nope' })).toMatchObject(refused(/no prompt "nope"; it has .*query/));
  expect(await failing({ prompt: 'a', prompt_name: 'query' })).toMatchObject(refused(/exclude each other/));
  expect(await failing({ prompt: 'a', pooling: 'mean' })).toMatchObject(refused(/need pooling "sentence", "splade"/));
  expect(await failing({ dimensions: 9, pooling: 'sentence' })).toMatchObject(refused(/dimensions is 9 and a vector has 8/));
  expect(await failing({ dimensions: 2 })).toMatchObject(refused(/dimensions needs a pooling/));
  await embed.dispose();

  const files = await filesOf(join(kFixtures, 'dense-tanh'));
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const spoilt = (name: string, value: unknown) =>
    load({ ...files, [name]: encode(value) }).then(
      () => undefined,
      (error: unknown) => error,
    );
  const modules = JSON.parse(new TextDecoder().decode(files['modules.json'])) as Record<string, string>[];
  const strange = modules.map((one, i) => (i === 2 ? { ...one, type: 'my.own.Module' } : one));
  expect(await spoilt('modules.json', strange)).toMatchObject({ code: 'unsupported', message: expect.stringContaining('my.own.Module') });
  expect(await spoilt('2_Dense/config.json', { in_features: 9, out_features: 5 })).toMatchObject({
    code: 'shape_mismatch',
    message: expect.stringMatching(/2_Dense takes vectors of 9 numbers and gets 8/),
  });
  const { '2_Dense/model.safetensors': _, ...without } = files;
  await expect(load(without)).rejects.toMatchObject({ code: 'not_found', message: expect.stringMatching(/2_Dense has neither/) });
});

// Node warns of more than ten listeners on a signal, and this folder has more files.
test('however many files are opened at once, the signal of a load has one listener', async () => {
  const { signal, abort } = ((controller) => ({ signal: controller.signal, abort: () => controller.abort() }))(new AbortController());
  const done: number[] = [];
  const unfollow = Array.from({ length: 20 }, (_, i) => onAbort(signal, () => done.push(i)));
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  for (const stop of unfollow.slice(2)) stop();
  unfollow[5]!(); // a second call does nothing
  abort();
  expect(done).toEqual([0, 1]);
  expect(getEventListeners(signal, 'abort')).toHaveLength(0);

  const again = new AbortController();
  onAbort(again.signal, () => done.push(-1))();
  expect(getEventListeners(again.signal, 'abort')).toHaveLength(0);

  const warnings: string[] = [];
  const warned = (warning: Error) => warnings.push(warning.name);
  process.on('warning', warned);
  const server = await startModelServer(await filesOf(join(kFixtures, 'dense-tanh')));
  try {
    await (await load(server.url)).dispose();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(warnings).not.toContain('MaxListenersExceededWarning');
  } finally {
    process.off('warning', warned);
    await server.close();
  }
});
