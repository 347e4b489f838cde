// What programs for transformers.js 2, 3 and 4 call besides pipelines: members of tokenizers, lists without pooling, inner names, settings.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, expectTypeOf, test } from 'vitest';
import { modelCache } from '../../web/dist/index_node.js';
import * as peruse from '../../web/dist/transformers/index_node.js';
import { startModelServer } from './support/model_server.js';
import { pipelineModel } from './support/pipeline_models.js';

const { AutoModel, AutoTokenizer, env, ModelRegistry, mean_pooling, pipeline, Tensor } = peruse;
const root = fileURLToPath(new URL('../..', import.meta.url));
const kSentiment = join(root, 'models/peruse-sentiment-convbert-tiny');
const kReader = join(root, 'models/peruse-reader-deberta-tiny');
const kBert = join(root, 'tests/fixtures/transformers_js/bert');
const kHere = { worker: false, variant: 'simd' } as const;
const kTexts = ['hello world', 'this is a simple test.'];
const kDefaults = { ...env };
afterEach(() => {
  Object.assign(env, kDefaults);
});
const unsupported = (words: string) => expect.objectContaining({ code: 'unsupported', message: expect.stringContaining(words) });

/** BERT's tokenizer with changed settings. */
function bertWith(settings: object): Record<string, Uint8Array | string> {
  const of = (name: string) => readFileSync(join(kBert, name), 'utf8');
  const config = { ...(JSON.parse(of('tokenizer_config.json')) as object), ...settings };
  return { 'config.json': of('config.json'), 'tokenizer.json': of('tokenizer.json'), 'tokenizer_config.json': JSON.stringify(config) };
}

describe('a tokenizer', () => {
  test('pads on the left if it is told, or if tokenizer_config.json says so; a model reads both alike', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(kBert);
    const right = tokenizer(kTexts, { padding: true });
    tokenizer.padding_side = 'left';
    const left = tokenizer(kTexts, { padding: true });
    const [short, long] = kTexts.map((text) => tokenizer.encode(text).map(BigInt));
    const padding = Array<bigint>(long!.length - short!.length).fill(0n);
    expect(left.input_ids.tolist()).toEqual([[...padding, ...short!], long]);
    expect(left.attention_mask.tolist()[0]).toEqual([...padding, ...short!.map(() => 1n)]);
    expect(right.input_ids.tolist()).toEqual([[...short!, ...padding], long]);
    const model = await AutoModel.from_pretrained(kBert, kHere);
    const [one, other] = await Promise.all([left, right].map(async (inputs) => (await model(inputs)).last_hidden_state));
    expect(one![0]!.tolist().slice(padding.length)).toEqual(other![0]!.tolist().slice(0, short!.length));
    const configured = await AutoTokenizer.from_pretrained(bertWith({ padding_side: 'left' }));
    expect(configured.padding_side).toBe('left');
    expect(configured(kTexts, { padding: true }).input_ids.tolist()).toEqual(left.input_ids.tolist());
    await model.dispose();
    for (const one of [tokenizer, configured]) one.dispose();
  });

  test('uses the pad_token_id and the model_max_length that a program sets', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(kBert);
    Object.assign(tokenizer, { pad_token_id: 7, model_max_length: 14 });
    const { input_ids } = tokenizer(kTexts, { padding: true, truncation: true });
    expect(input_ids.dims).toEqual([2, 14]);
    expect(input_ids.tolist()[0]!.slice(-2)).toEqual([7n, 7n]);
    tokenizer.dispose();
  });

  test('has the vocabulary, also where version 3 had it; numbers without a token are left out', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(kBert);
    const vocabulary = tokenizer.get_vocab();
    const { model } = JSON.parse(readFileSync(join(kBert, 'tokenizer.json'), 'utf8')) as { model: { vocab: Record<string, number> } };
    expect(Object.fromEntries(vocabulary)).toEqual(model.vocab);
    expect(tokenizer.model.tokens_to_ids.get('##l')).toBe(model.vocab['##l']);
    expect(tokenizer.model.tokens_to_ids.has('no token')).toBe(false);
    expect(tokenizer.model.vocab[5]).toBe(tokenizer.tokenize('a')[0]);
    tokenizer.dispose();
    expect(tokenizer.get_vocab()).toBe(vocabulary); // it was read before
    const files = bertWith({});
    const json = JSON.parse(files['tokenizer.json'] as string) as { model: { vocab: Record<string, number> } };
    json.model.vocab.late = 99;
    const other = await AutoTokenizer.from_pretrained({ ...files, 'tokenizer.json': JSON.stringify(json) });
    expect(other.get_vocab().get('late')).toBe(99);
    expect(other.get_vocab().size).toBe(vocabulary.size + 1);
    other.dispose();
    expect(() => other(kTexts[0]!)).toThrow(expect.objectContaining({ code: 'disposed' }));
    const disposed = await AutoTokenizer.from_pretrained(kBert);
    disposed.dispose();
    expect(() => disposed.get_vocab()).toThrow(expect.objectContaining({ code: 'disposed' }));
  });

  test("takes version 2's arguments of encode, and its inner call", async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(kBert);
    const bare = tokenizer.encode('hello', { add_special_tokens: false });
    for (const pair of [null, undefined]) expect(tokenizer.encode('hello', pair, { add_special_tokens: false })).toEqual(bare);
    expect(tokenizer.encode('hello', 'world')).toEqual(tokenizer.encode('hello', { text_pair: 'world' }));
    expect(tokenizer.encode('hello', null as never)).toEqual(tokenizer.encode('hello'));
    const inner = (tokenizer as unknown as { _call: typeof tokenizer })._call;
    expect(inner('hello').input_ids.tolist()).toEqual(tokenizer('hello').input_ids.tolist());
    tokenizer.dispose();
  });

  test('says what it does not do', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained(kSentiment);
    const cleaning = await AutoTokenizer.from_pretrained(bertWith({ clean_up_tokenization_spaces: true }));
    const ids = tokenizer.encode('A gem.');
    expect(tokenizer.decode(ids, { clean_up_tokenization_spaces: false, skip_special_tokens: true })).toBe('a gem.');
    expect(cleaning.batch_decode([[5, 6]], { clean_up_tokenization_spaces: true })).toEqual(cleaning.batch_decode([[5, 6]]));
    const decides = unsupported('tokenizer_config.json decides');
    expect(() => tokenizer.decode(ids, { clean_up_tokenization_spaces: true })).toThrow(decides);
    expect(() => cleaning.decode([5], { clean_up_tokenization_spaces: false })).toThrow(decides);
    expect(() => tokenizer.apply_chat_template([{ role: 'user', content: 'Hello.' }])).toThrow(unsupported('apply_chat_template'));
    tokenizer.dispose();
    cleaning.dispose();
  });
});

describe('a pipeline', () => {
  test('returns one padded tensor for several texts without pooling', async () => {
    const embed = await pipeline('feature-extraction', kBert, kHere);
    const all = await embed(kTexts);
    const alone = await Promise.all(kTexts.map((text) => embed(text)));
    const [short, long] = alone.map(({ dims }) => dims[1]!);
    expect(all).toBeInstanceOf(Tensor);
    expect(all.dims).toEqual([2, long, 32]);
    expect(all[0]!.tolist().slice(0, short)).toEqual(alone[0]![0]!.tolist());
    expect(
      all[0]!
        .tolist()
        .slice(short)
        .flat()
        .every((value) => value === 0),
    ).toBe(true);
    expect(all.slice(null, 0).tolist()).toEqual((await embed(kTexts, { pooling: 'cls' })).tolist());
    const inputs = embed.tokenizer(kTexts, { padding: true });
    const pooled = await embed(kTexts, { pooling: 'mean' });
    for (const [i, value] of mean_pooling(all, inputs.attention_mask).data.entries()) expect(value).toBeCloseTo(pooled.data[i]!, 5);
    expect((await embed(['hello'])).dims).toEqual([1, 7, 32]);
    expect((await embed([])).dims).toEqual([0, 0]);
    await embed.dispose();
  });

  test('leaves the matrices of late interaction a list', async () => {
    const embed = await pipeline('feature-extraction', join(root, 'tests/fixtures/late_interaction/pylate'), kHere);
    const found = await embed(['a text', 'another'], { pooling: 'multi_vector' });
    expect(Array.isArray(found)).toBe(true);
    expect(found.map(({ dims }) => dims.length)).toEqual([2, 2]);
    await embed.dispose();
  });

  test('has its inner call, is a Pipeline, and names the option for a setting that cannot change', async () => {
    const classify = await pipeline('sentiment-analysis', kSentiment, kHere);
    const { _call } = classify as unknown as { _call: typeof classify };
    expect(await _call('A gem.')).toEqual(await classify('A gem.'));
    const { _call: run } = classify.model as unknown as { _call: typeof classify.model };
    const inputs = classify.tokenizer('A gem.');
    expect((await run(inputs)).logits!.tolist()).toEqual((await classify.model(inputs)).logits!.tolist());
    expect(classify).toBeInstanceOf(peruse.Pipeline);
    expect(classify.model).not.toBeInstanceOf(peruse.Pipeline);
    expect(() => new peruse.Pipeline()).toThrow(unsupported('pipeline(task, model)'));
    expect(() => Object.assign(classify.model.config, { id2label: { 0: 'bad', 1: 'good' } })).toThrow(
      unsupported('{ config: { id2label } }'),
    );
    await classify.dispose();
  });

  test("takes version 2's topk in every task that has top_k", async () => {
    const fill = await pipeline('fill-mask', await pipelineModel('convbert', 'masked-lm'), kHere);
    const text = `t1 ${fill.tokenizer.mask_token} t2`;
    expect(await fill(text, { topk: 2 })).toEqual(await fill(text, { top_k: 2 }));
    expect(await fill(text, { topk: 2, top_k: 3 })).toHaveLength(3);
    const answer = await pipeline('question-answering', kReader, kHere);
    const given = ['Where does Ada work?', 'Ada works in Paris.'] as const;
    expect(await answer(...given, { topk: 2 })).toEqual(await answer(...given, { top_k: 2 }));
    expect(await answer(...given, { topk: 1 })).toEqual(await answer(...given));
    await Promise.all([fill.dispose(), answer.dispose()]);
  });

  test('of another task names transformers.js', async () => {
    await expect(pipeline('text-generation' as never, kSentiment)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/text-generation.*use transformers\.js/),
    });
  });
});

test('variables have the types that programs give them', () => {
  type Made<T extends peruse.PipelineType> = Awaited<ReturnType<typeof pipeline<T>>>;
  expectTypeOf<Made<'embeddings'>>().toExtend<peruse.FeatureExtractionPipeline & peruse.FeatureExtractionPipelineType>();
  expectTypeOf<Made<'fill-mask'>>().toExtend<peruse.FillMaskPipeline>();
  expectTypeOf<Made<'question-answering'>>().toExtend<peruse.QuestionAnsweringPipeline>();
  expectTypeOf<Made<'sentiment-analysis'>>().toExtend<peruse.TextClassificationPipeline>();
  expectTypeOf<Made<'ner'>>().toExtend<peruse.TokenClassificationPipeline>();
  expectTypeOf<Made<'zero-shot-classification'>>().toExtend<peruse.ZeroShotClassificationPipeline>();
  type Loaded = Awaited<ReturnType<typeof AutoModel.from_pretrained>>;
  expectTypeOf<Loaded>().toExtend<peruse.PreTrainedModel>();
  expectTypeOf<Awaited<ReturnType<peruse.PreTrainedModel>>[string]>().toEqualTypeOf<peruse.Tensor>();
  expectTypeOf<peruse.TextClassificationPipeline['tokenizer']>().toEqualTypeOf<peruse.PreTrainedTokenizer>();
  expectTypeOf<'LABEL_0'>().toExtend<peruse.TextClassificationOutput[number]['label']>();
  expectTypeOf<peruse.ZeroShotClassificationOutput>().toHaveProperty('scores');
  expectTypeOf<'q8' | 'fp32'>().toExtend<peruse.DataType>();
  expectTypeOf<'wasm' | 'webgpu'>().toExtend<peruse.DeviceType>();
  const embedder = new Proxy(() => undefined, { get: () => 'feature-extraction' });
  expect(embedder).toBeInstanceOf(peruse.FeatureExtractionPipeline);
});

test('a model has no sentence_embedding, which the pipeline returns', async () => {
  const folder = join(root, 'tests/fixtures/sentence/dense-tanh');
  const model = await AutoModel.from_pretrained(folder, kHere);
  const embed = await pipeline('feature-extraction', folder, kHere);
  const found: object = await model(embed.tokenizer('t1 t2'));
  expect(Object.keys(found)).toEqual(['last_hidden_state']);
  const { dims } = await embed('t1 t2', { pooling: 'sentence' });
  expect(dims).toEqual([1, expect.any(Number)]);
  await Promise.all([embed.dispose(), model.dispose()]);
});

test('functions on lists', () => {
  const found = peruse.softmax(Float32Array.of(1, 2));
  expect(found).toBeInstanceOf(Float32Array);
  expect([...found]).toEqual([...Float32Array.from(peruse.softmax([1, 2]))]);
  expect(peruse.log_softmax(Float32Array.of(1, 2))).toBeInstanceOf(Float32Array);
  expect(() => peruse.softmax(new Tensor('float32', [1, 2]) as never)).toThrow(
    expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining('tensor.data') }),
  );
  expect([peruse.max([3, 7, 7]), peruse.min(BigInt64Array.of(3n, -1n))]).toEqual([
    [7, 1],
    [-1n, 1],
  ]);
  expect(() => peruse.max([])).toThrow(expect.objectContaining({ code: 'invalid_argument' }));
  expect(peruse.round(0.12345, 2)).toBe(0.12);
  expect(peruse.getTopItems([1, 3, 2], 2)).toEqual([
    [1, 3],
    [2, 2],
  ]);
  expect(peruse.getTopItems([1, 3])).toHaveLength(2);
});

test('the lists of ModelRegistry that Peruse does not have name describe()', async () => {
  const lists = [
    'get_available_dtypes',
    'get_file_metadata',
    'get_files',
    'get_model_files',
    'get_pipeline_files',
    'get_tokenizer_files',
  ] as const;
  for (const name of lists) await expect(ModelRegistry[name]('user/model')).rejects.toThrow(unsupported('describe()'));
});

test('HF_TOKEN is not read, and an answer 401 says what to set', async () => {
  const server = await startModelServer({ 'user/gated/resolve/main/config.json': (_, response) => void response.writeHead(401).end() });
  process.env.HF_TOKEN = 'hf_secret';
  try {
    env.remoteHost = server.url;
    await expect(pipeline('ner', 'user/gated', kHere)).rejects.toMatchObject({
      code: 'unauthorized',
      message: expect.stringContaining('token'),
    });
    expect(server.calls.map(({ headers }) => headers.authorization)).toEqual(server.calls.map(() => undefined));
  } finally {
    delete process.env.HF_TOKEN;
    await server.close();
  }
});

describe('files at a path of their own', () => {
  const names = readdirSync(kSentiment).filter((name) => /^(config|tokenizer.*)\.json$|\.safetensors$/.test(name));

  test.each([
    ['{model}/', 'models/user/small/'],
    ['/{model}/{revision}', 'models/user/small/a%2Fb/'],
    ['v1/{model}/files', 'models/v1/user/small/files/'],
  ])('remotePathTemplate %s', async (template, place) => {
    const server = await startModelServer(
      Object.fromEntries(names.map((name) => [decodeURIComponent(`${place}${name}`), readFileSync(join(kSentiment, name))])),
    );
    const folder = mkdtempSync(join(tmpdir(), 'peruse-template-'));
    try {
      Object.assign(env, { remoteHost: `${server.url}models`, remotePathTemplate: template, cacheFolder: folder });
      const options = { ...kHere, revision: 'a/b' };
      await (await pipeline('sentiment-analysis', 'user/small', options)).dispose();
      expect(server.calls.some(({ path }) => path === decodeURIComponent(`${place}config.json`))).toBe(true);
      const { files } = await ModelRegistry.is_cached_files('user/small', { revision: 'a/b' });
      expect(files.map(({ file }) => file)).toEqual(expect.arrayContaining(names));
      expect(await modelCache.delete('user/small')).toBe(files.length);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
