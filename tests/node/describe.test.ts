import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describe, env, pipeline } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));

let cache: string;
beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'peruse-describe-'));
  env.cacheFolder = cache;
});
afterAll(async () => {
  env.cacheFolder = undefined;
  await rm(cache, { recursive: true });
});

async function repository() {
  const { files } = await readTiny('bert-sequence');
  const onnx = new Uint8Array(await readFile(`${kFixtures}onnx/bert-sequence/model_quantized.onnx`));
  return { ...files, 'onnx/model_quantized.onnx': onnx } as Record<string, Uint8Array>;
}

test('each precision is described as it loads', async () => {
  const files = await repository();
  const { model, model_type, downloads, refused } = await describe(files);
  expect({ model, model_type }).toEqual({ model: 'the given files', model_type: 'bert' });
  expect(downloads.map(({ dtype, weights, file }) => `${dtype} ${weights} ${file}`)).toEqual([
    'fp32 safetensors model.safetensors',
    'fp16 safetensors model.safetensors',
    'q8 safetensors model.safetensors',
    'q4 safetensors model.safetensors',
    'q8 onnx onnx/model_quantized.onnx',
  ]);
  for (const { dtype, weights, bytes, memory, cached, tasks } of downloads) {
    expect(tasks).toEqual(['text-classification', 'feature-extraction', 'text-ranking']);
    expect(cached).toBe(true);
    const loaded = await pipeline('text-classification', files, { dtype, weights });
    expect(Math.abs(memory / loaded.info.weights.weightBytes - 1), `${dtype} ${weights}`).toBeLessThan(0.25); // Tiny layers are padded.
    expect(bytes, `${dtype} ${weights}`).toBe(loaded.info.bytes);
    await loaded.dispose();
  }
  expect(refused['question-answering']).toMatchObject({ code: 'missing_head' });
  expect(refused).not.toHaveProperty('text-classification');
});

test('from a server it fetches configuration, headers and sizes', async () => {
  const files = await repository();
  const large = Buffer.concat([files['model.safetensors']!, new Uint8Array()]);
  const server = await startModelServer({
    ...files,
    'model.safetensors': (request, response) => {
      const [, last] = /bytes=0-(\d+)/.exec(request.headers.range ?? '') ?? [];
      const part = last === undefined ? large : large.subarray(0, Number(last) + 1);
      response.writeHead(last === undefined ? 200 : 206, {
        'content-type': 'application/octet-stream',
        'content-length': part.length,
        etag: '"1"',
        ...(last === undefined ? {} : { 'content-range': `bytes 0-${part.length - 1}/${large.length}` }),
      });
      response.end(request.method === 'HEAD' ? undefined : part);
    },
  });
  try {
    const before = await describe(server.url);
    const local = await describe(files);
    expect(before.downloads).toEqual(local.downloads.map((one) => ({ ...one, cached: false })));
    const bodies = server.calls.filter(({ method, path }) => method === 'GET' && files[path] !== undefined);
    expect([...new Set(bodies.map(({ path, headers }) => `${path} ${headers.range ?? 'whole'}`))].sort()).toEqual([
      'config.json whole',
      'model.safetensors bytes=0-0',
      'model.safetensors bytes=0-65535',
    ]);
  } finally {
    await server.close();
  }
});

test('what has been loaded is cached', async () => {
  const files = await repository();
  const server = await startModelServer(files, { etag: '"1"' });
  try {
    expect((await describe(server.url)).downloads.every(({ cached }) => !cached)).toBe(true);
    await (await pipeline('text-classification', server.url, { dtype: 'fp32' })).dispose();
    const { downloads } = await describe(server.url);
    expect(downloads.map(({ weights, cached }) => [weights, cached])).toEqual([
      ['safetensors', true],
      ['safetensors', true],
      ['safetensors', true],
      ['safetensors', true],
      ['onnx', false],
    ]);
    expect((await describe(server.url, { offline: true })).downloads.map(({ weights }) => weights)).toEqual([
      'safetensors',
      'safetensors',
      'safetensors',
      'safetensors',
    ]);
  } finally {
    await server.close();
  }
});

test('a model that does not run says why', async () => {
  const { 'tokenizer.json': _, 'vocab.txt': __, ...without } = (await readTiny('bert-sequence')).files as Record<string, Uint8Array>;
  const { downloads, refused } = await describe(without);
  expect(downloads[0]!.tasks).toEqual([]);
  expect(refused['text-classification']).toMatchObject({ code: 'not_found', message: expect.stringContaining('the tokenizer is missing') });
  await expect(describe({ 'config.json': '{}' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(describe('x/y', { dtype: 'q8' } as object)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining("no option 'dtype'"),
  });
});

test('files that lie are errors, not refusals', async () => {
  const files = await repository();
  const { 'onnx/model_quantized.onnx': _, ...only } = files;
  await expect(describe({ ...only, 'model.safetensors': new Uint8Array(9).fill(255) })).rejects.toMatchObject({ code: 'malformed_file' });
  await expect(describe({ ...only, 'model.safetensors': files['model.safetensors']!.slice(0, 50) })).rejects.toMatchObject({
    code: 'truncated_file',
  });
});

test('ONNX files run the tasks of the class that config.json names', async () => {
  const { 'model.safetensors': _, ...files } = await repository();
  const { downloads, refused } = await describe(files);
  expect(downloads.map(({ dtype, weights, tasks }) => [dtype, weights, tasks])).toEqual([
    ['q8', 'onnx', ['text-classification', 'feature-extraction', 'text-ranking']],
  ]);
  expect(refused['question-answering']).toMatchObject({
    code: 'missing_head',
    message: expect.stringContaining('BertForSequenceClassification'),
  });
});

test.each([
  ['int8', ['config.json', 'tokenizer.json', 'model.safetensors']],
  ['sentence-normalized', ['modules.json', 'tokenizer.json', 'model.safetensors']],
])('static embeddings, %s, are described by the header of their table', async (name, needed) => {
  const folder = `${kFixtures}static/${name}/`;
  const server = await startModelServer({
    ...Object.fromEntries(await Promise.all(needed.map(async (file) => [file, new Uint8Array(await readFile(folder + file))]))),
  });
  try {
    const { model_type, downloads, refused } = await describe(server.url);
    expect(model_type).toBe('static');
    const sizes = await Promise.all(needed.map(async (file) => (await readFile(folder + file)).length));
    const local = await describe(folder);
    for (const [index, { dtype, memory, bytes, cached, tasks }] of downloads.entries()) {
      expect({ bytes, cached, tasks }).toEqual({ bytes: sizes.reduce((a, b) => a + b), cached: false, tasks: ['feature-extraction'] });
      const loaded = await pipeline('feature-extraction', folder, { dtype: dtype as 'fp32' });
      expect(Math.abs(memory / loaded.info.weights.weightBytes - 1), dtype).toBeLessThan(0.25);
      expect(local.downloads[index]).toEqual({ ...downloads[index], cached: true });
      await loaded.dispose();
    }
    expect(downloads.map(({ dtype }) => dtype)).toEqual(['fp32', 'fp16', 'q8', 'q4']);
    expect(refused['text-classification']).toMatchObject({ code: 'missing_head', message: expect.stringContaining('teach()') });
    const bodies = server.calls.filter(({ method, path }) => method === 'GET' && path === 'model.safetensors');
    expect(bodies.every(({ headers }) => headers.range?.startsWith('bytes=0-'))).toBe(true);
  } finally {
    await server.close();
  }
});

test('precisions whose weights exceed the memory of an engine do not fit', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'peruse-large-'));
  try {
    const [words, width, wide] = [1_100_000, 1024, 8];
    const sizes = {
      vocab_size: words,
      hidden_size: width,
      num_hidden_layers: 1,
      num_attention_heads: 4,
      head_dim: 2,
      intermediate_size: wide,
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify({ model_type: 'eurobert', architectures: ['EuroBertModel'], ...sizes }));
    await writeFile(join(folder, 'tokenizer.json'), '{}');
    const shapes: Record<string, number[]> = { 'embed_tokens.weight': [words, width], 'norm.weight': [width] };
    for (const name of ['input_layernorm', 'post_attention_layernorm']) shapes[`layers.0.${name}.weight`] = [width];
    for (const name of ['q', 'k', 'v']) shapes[`layers.0.self_attn.${name}_proj.weight`] = [8, width];
    for (const name of ['self_attn.o', 'mlp.down']) shapes[`layers.0.${name}_proj.weight`] = [width, 8];
    for (const name of ['gate', 'up']) shapes[`layers.0.mlp.${name}_proj.weight`] = [wide, width];
    let at = 0;
    const header: Record<string, object> = {};
    for (const [name, shape] of Object.entries(shapes)) {
      const end = at + 4 * shape.reduce((product, size) => product * size);
      header[name] = { dtype: 'F32', shape, data_offsets: [at, end] };
      at = end;
    }
    const json = Buffer.from(JSON.stringify(header));
    const file = await open(join(folder, 'model.safetensors'), 'w'); // the weights are a hole in the file
    await file.write(Buffer.from(new BigUint64Array([BigInt(json.length)]).buffer));
    await file.write(json);
    await file.truncate(8 + json.length + at);
    await file.close();
    const { downloads } = await describe(folder);
    expect(downloads.map(({ dtype, fits }) => `${dtype} ${fits}`)).toEqual(['fp32 false', 'fp16 true', 'q8 true', 'q4 true']);
    expect(downloads[0]!.memory).toBeGreaterThan(4.5e9);
  } finally {
    await rm(folder, { recursive: true });
  }
});

const kEmbedders: Record<string, Partial<NonNullable<Awaited<ReturnType<typeof describe>>['vectors']>>> = {
  'sentence/mean': { kind: 'dense', pooling: ['mean'], similarity: 'cosine' },
  'sentence/several': { kind: 'dense' },
  'sentence/old': { kind: 'dense', pooling: ['mean', 'max'] },
  'sentence/dense-tanh': { kind: 'dense', pooling: ['mean'] },
  'sentence/truncated': { kind: 'dense', dimensions: 3 },
  'sentence/qwen3-embedding': { kind: 'dense', pooling: ['lasttoken'] },
  'sentence/embedding-gemma': { kind: 'dense', pooling: ['mean'] },
  'sparse/splade': { kind: 'sparse', pooling: ['splade'], similarity: 'dot' },
  'sparse/router-idf': { kind: 'sparse', pooling: ['splade'], similarity: 'dot' },
  'late_interaction/plain': { kind: 'multi_vector', dimensions: 6, pooling: [], similarity: 'maxsim' },
  'late_interaction/pylate': { kind: 'multi_vector', dimensions: 6, pooling: [], similarity: 'maxsim' },
  'late_interaction/stanford': { kind: 'multi_vector', dimensions: 6, pooling: [], similarity: 'maxsim' },
};

test.each(Object.keys(kEmbedders))('the vectors of %s are those of a load', async (name) => {
  const folder = join(kFixtures, name);
  const { vectors } = await describe(folder);
  expect(vectors).toMatchObject(kEmbedders[name]!);
  const embed = await pipeline('feature-extraction', folder, { worker: false, variant: 'simd' });
  try {
    const pooling = { dense: 'sentence', sparse: 'splade', multi_vector: 'multi_vector' } as const;
    const found = await embed('t5 t6 t7', { pooling: pooling[vectors!.kind] });
    const { size, dims } = found as { size: number; dims: number[] };
    expect(vectors!.kind === 'sparse' ? size : dims.at(-1)).toBe(vectors!.dimensions);
  } finally {
    await embed.dispose();
  }
});

test('the vectors of a masked language model that is loaded with pooling splade', async () => {
  const folder = join(kFixtures, 'sparse/plain');
  expect(await describe(folder)).not.toHaveProperty('vectors');
  const { vectors } = await describe(folder, { pooling: 'splade' });
  const embed = await pipeline('feature-extraction', folder, { worker: false, variant: 'simd', pooling: 'splade' });
  const { size } = await embed('t5 t6 t7', { pooling: 'splade' });
  await embed.dispose();
  expect(vectors).toMatchObject({ kind: 'sparse', pooling: ['splade'], similarity: 'dot', dimensions: size });
  const { refused, vectors: none } = await describe(join(kFixtures, 'sentence/mean'), { pooling: 'splade' });
  expect(refused['feature-extraction']).toMatchObject({ code: 'missing_head', message: expect.stringContaining('sparse embeddings') });
  expect(none).toBeUndefined();
});

test('prompts are described by name; a classifier has no vectors', async () => {
  const { vectors } = await describe(join(kFixtures, 'sentence/embedding-gemma'));
  const { prompts } = JSON.parse(await readFile(join(kFixtures, 'sentence/embedding-gemma/config_sentence_transformers.json'), 'utf8')) as {
    prompts: Record<string, string>;
  };
  expect(vectors?.prompts).toEqual(prompts);
  expect(Object.keys(prompts).length).toBeGreaterThan(1);
  expect(await describe((await readTiny('bert-sequence')).files)).not.toHaveProperty('vectors');
});
