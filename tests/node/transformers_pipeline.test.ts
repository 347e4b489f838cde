// pipeline() of peruse/transformers: a callable, synchronous tokenizer; transformers.js's default models; which tokenizers return token_type_ids.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as peruse from '../../web/dist/transformers/index_node.js';
import { pipelineModel } from './support/pipeline_models.js';

const { AutoModelForSequenceClassification, AutoTokenizer, env, pipeline } = peruse;
const root = fileURLToPath(new URL('../..', import.meta.url));
const kSentiment = join(root, 'models/peruse-sentiment-convbert-tiny');
const kHere = { worker: false, variant: 'simd' } as const;

const kDefaults = {
  'Xenova/distilbert-base-uncased-finetuned-sst-2-english': 'models/peruse-sentiment-convbert-tiny',
  'Xenova/bert-base-multilingual-cased-ner-hrl': 'models/peruse-tagger-convbert-tiny',
  'Xenova/distilbert-base-cased-distilled-squad': 'models/peruse-reader-deberta-tiny',
  'Xenova/distilbert-base-uncased-mnli': 'models/peruse-zero-shot-deberta-tiny',
  'onnx-community/all-MiniLM-L6-v2-ONNX': 'tests/fixtures/sentence/mean',
};

const folder = mkdtempSync(join(tmpdir(), 'peruse-defaults-'));
const before = { localModelPath: env.localModelPath, offline: env.offline };
beforeAll(() => {
  for (const [id, path] of Object.entries(kDefaults)) {
    mkdirSync(dirname(join(folder, id)), { recursive: true });
    symlinkSync(join(root, path), join(folder, id));
  }
  Object.assign(env, { localModelPath: folder, offline: true });
});
afterAll(() => {
  Object.assign(env, before);
  rmSync(folder, { recursive: true });
});

test.each([false, true])('a pipeline has a synchronous tokenizer, worker: %s', async (worker) => {
  const classify = await pipeline('sentiment-analysis', kSentiment, { worker });
  expect(classify).toBeInstanceOf(peruse.TextClassificationPipeline);
  const { input_ids, attention_mask } = classify.tokenizer('A gem.', { padding: true, truncation: true });
  expect(input_ids.dims).toEqual([1, classify.tokenizer.encode('A gem.').length]);
  expect(attention_mask.tolist()).toEqual([input_ids.tolist()[0]!.map(() => 1n)]);
  expect(classify.tokenizer.decode(input_ids, { skip_special_tokens: true })).toBe('a gem.');
  expect(await classify('A gem.')).toEqual([{ label: 'POSITIVE', score: expect.any(Number) as number }]);
  const model = await AutoModelForSequenceClassification.from_pretrained(kSentiment, kHere);
  expect((await model(classify.tokenizer('A gem.'))).logits.dims).toEqual([1, 2]);
  await Promise.all([classify.dispose(), model.dispose()]);
  expect(() => classify.tokenizer('A gem.')).toThrow(expect.objectContaining({ code: 'disposed' }));
});

test('a pipeline has a model that reads what its tokenizer returns', async () => {
  const classify = await pipeline('sentiment-analysis', kSentiment, kHere);
  const inputs = classify.tokenizer(['A gem.', 'Dull, dull, dull.'], { padding: true });
  const model = await AutoModelForSequenceClassification.from_pretrained(kSentiment, kHere);
  const [{ logits }, alone] = await Promise.all([classify.model(inputs), model(inputs)]);
  expect(logits!.tolist()).toEqual(alone.logits.tolist());
  expect((await model.forward(inputs)).logits.tolist()).toEqual(alone.logits.tolist());
  expect(classify.model.config).toMatchObject({ model_type: 'convbert' });
  for (const bad of [{}, undefined, { input_ids: [[2, 5, 3]] }, { ...inputs, attention_mask: [[1]] }]) {
    await expect(model(bad as never)).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('input_ids') });
  }
  await Promise.all([classify.dispose(), model.dispose()]);
  const embed = await pipeline('feature-extraction', kSentiment, kHere);
  const { last_hidden_state } = await embed.model(embed.tokenizer('A gem.'));
  expect(last_hidden_state!.data).toEqual((await embed('A gem.')).data);
  await embed.dispose();
});

test('classes by their names: Auto, base and family', async () => {
  const tokenizer = await peruse.BertTokenizer.from_pretrained(kSentiment, { dtype: 'fp32', device: 'cpu', config: null } as object);
  const model = await peruse.ConvBertForSequenceClassification.from_pretrained(kSentiment, kHere);
  expect(tokenizer).toBeInstanceOf(peruse.PreTrainedTokenizer);
  expect(tokenizer).toBeInstanceOf(AutoTokenizer);
  expect(model).toBeInstanceOf(peruse.PreTrainedModel);
  expect(model).toBeInstanceOf(AutoModelForSequenceClassification);
  expect(model).not.toBeInstanceOf(peruse.AutoModel);
  expect(model).not.toBeInstanceOf(peruse.PreTrainedTokenizer);
  expect(tokenizer).not.toBeInstanceOf(peruse.PreTrainedModel);
  for (const Class of [peruse.PreTrainedModel, peruse.PreTrainedTokenizer, peruse.AutoModel, peruse.TextGenerationPipeline]) {
    expect(() => new Class()).toThrow(expect.objectContaining({ code: 'unsupported' }));
  }
  await expect(peruse.T5ForConditionalGeneration.from_pretrained('user/model')).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/user\/model/),
  });
  expect(() => peruse.random.seed(42)).toThrow(
    expect.objectContaining({ code: 'unsupported', message: expect.stringMatching(/random\.seed/) }),
  );
  await expect(AutoTokenizer.from_pretrained(kSentiment, { divice: 'cpu' } as object)).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(peruse.LogLevel).toEqual({ DEBUG: 10, INFO: 20, WARNING: 30, ERROR: 40, NONE: 50 });
  const missing = await AutoTokenizer.from_pretrained(join(folder, 'nothing')).catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(peruse.ModelFileNotFoundError);
  expect(new peruse.PeruseError('aborted', 'x')).not.toBeInstanceOf(peruse.ModelFileNotFoundError);
  await model.dispose();
  tokenizer.dispose();
});

test('texts that are none throw one typed error', async () => {
  const tokenizer = await AutoTokenizer.from_pretrained(kSentiment);
  const refused = expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(/^text(_pair)? must be/) });
  for (const text of [null, undefined, 5, ['a', null], { text: 'a' }]) expect(() => tokenizer(text as never)).toThrow(refused);
  expect(() => tokenizer('a', { text_pair: ['b'] })).toThrow(refused);
  expect(() => tokenizer(['a'], { text_pair: 'b' })).toThrow(refused);
  expect(tokenizer('a', null as never)).toEqual(tokenizer('a'));
  tokenizer.dispose();
});

test.each([false, true])('problem_type belongs to one pipeline, although two share an engine, worker: %s', async (worker) => {
  const load = () => pipeline('text-classification', kSentiment, { worker });
  const changed = await load();
  const [before] = await changed('A gem.');
  const config = changed.model.config as Record<string, unknown>;
  config.problem_type = 'multi_label_classification';
  const [after] = await changed('A gem.');
  expect(after!.score).not.toBeCloseTo(before!.score, 2);
  expect(() => {
    config.model_type = 'bert';
  }).toThrow(expect.objectContaining({ code: 'unsupported' }));
  const other = await load();
  expect(other.model.config.problem_type).toBeUndefined();
  expect(await other('A gem.')).toEqual([before]);
  (other.model.config as Record<string, unknown>).problem_type = 'multi_label_classification';
  expect(await other('A gem.')).toEqual([after]);
  await Promise.all([changed.dispose(), other.dispose()]);
});

test.each([
  ['sentiment-analysis', 'Xenova/distilbert-base-uncased-finetuned-sst-2-english', ['A gem.']],
  ['ner', 'Xenova/bert-base-multilingual-cased-ner-hrl', ['Ada lives in Rome.']],
  ['question-answering', 'Xenova/distilbert-base-cased-distilled-squad', ['Who wrote it?', 'Ada wrote it.']],
  ['zero-shot-classification', 'Xenova/distilbert-base-uncased-mnli', ['A goal.', ['sport', 'art']]],
  ['embeddings', 'onnx-community/all-MiniLM-L6-v2-ONNX', ['A gem.']],
] as const)('%s without a model loads %s', async (task, id, given) => {
  const pipe = await pipeline(task, null, kHere);
  expect(pipe.info).toMatchObject({ model: id, notices: [`No model was named: ${id} is transformers.js's default.`] });
  expect(await (pipe as unknown as (...given: readonly unknown[]) => Promise<unknown>)(...given)).toBeDefined();
  await pipe.dispose();
});

test('a task without a default model throws, and a model that cannot be loaded frees everything', async () => {
  await expect(pipeline('text-ranking')).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('model') });
  await expect(pipeline('fill-mask', undefined, kHere)).rejects.toMatchObject({
    code: 'offline',
    message: expect.stringContaining('onnx-community/ettin-encoder-32m-ONNX'),
  });
});

test('token_type_ids as in transformers: by model_input_names, by the class, by return_token_type_ids', async () => {
  const bert = await AutoTokenizer.from_pretrained(kSentiment);
  expect(Object.keys(bert('A gem.'))).toEqual(['input_ids', 'attention_mask', 'token_type_ids']);
  expect(Object.keys(bert('A gem.', { return_token_type_ids: false }))).toEqual(['input_ids', 'attention_mask']);
  bert.dispose();
  const files = await pipelineModel('deberta-v2', 'sequence');
  const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  for (const [settings, config, has] of [
    [{}, {}, true], // by the model: deberta-v2
    [{ tokenizer_class: 'RobertaTokenizerFast' }, { model_type: 'roberta' }, false],
    [{ tokenizer_class: 'PreTrainedTokenizerFast', model_input_names: ['input_ids', 'attention_mask'] }, {}, false],
    [{ tokenizer_class: 'PreTrainedTokenizerFast', model_input_names: ['input_ids', 'token_type_ids'] }, { model_type: 'x' }, true],
    [{ tokenizer_class: 'DebertaV2Tokenizer' }, { model_type: 'deberta-v2' }, true],
    [{ tokenizer_class: 'DistilBertTokenizer' }, { model_type: 'distilbert' }, false],
  ] as const) {
    const old = JSON.parse(new TextDecoder().decode(files['config.json'] as Uint8Array)) as object;
    const changed = { ...files, 'tokenizer_config.json': json(settings), 'config.json': json({ ...old, ...config }) };
    const tokenizer = await AutoTokenizer.from_pretrained(changed);
    expect('token_type_ids' in tokenizer('a'), JSON.stringify([settings, config])).toBe(has);
    expect('token_type_ids' in tokenizer('a', { return_token_type_ids: true })).toBe(true);
    tokenizer.dispose();
  }
});
