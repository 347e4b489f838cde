// peruse/transformers: models that read token ids give what the text gives; names and functions of transformers.js.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { env, load, SemanticIndex } from '../../web/dist/index_node.js';
import * as peruse from '../../web/dist/transformers/index_node.js';
import { startModelServer } from './support/model_server.js';
import { pipelineModel } from './support/pipeline_models.js';

const { AutoModel, AutoModelForQuestionAnswering, AutoModelForSequenceClassification, AutoModelForTokenClassification, AutoTokenizer } =
  peruse;
const root = fileURLToPath(new URL('../..', import.meta.url));
const kSentiment = join(root, 'models/peruse-sentiment-convbert-tiny');
const kReader = join(root, 'models/peruse-reader-deberta-tiny');
const kTagger = join(root, 'models/peruse-tagger-convbert-tiny');
const kHere = { worker: false, variant: 'simd' } as const;
const kTexts = ['A gem.', 'Dull from the first scene to the last, and far too long.'];

/** The logits of one text, or of a pair. */
async function logitsOf(source: string, input: string | { text: string; text_pair: string }): Promise<number[]> {
  const model = await load(source, kHere);
  const pipe = await model.pipeline(model.info.weights.architecture.includes('Question') ? 'question-answering' : 'text-classification');
  const { logits } = await pipe.inspect(input, { output_logits: true });
  await Promise.all([pipe.dispose(), model.dispose()]);
  return [...logits!.data];
}

function expectClose(found: ArrayLike<number>, wanted: ArrayLike<number>): void {
  expect(found).toHaveLength(wanted.length);
  for (let i = 0; i < wanted.length; ++i) expect(Math.abs(found[i]! - wanted[i]!)).toBeLessThan(1e-5);
}

test('a classifier reads a padded batch: the logits of each text alone', async () => {
  const [tokenizer, model] = await Promise.all([
    AutoTokenizer.from_pretrained(kSentiment),
    AutoModelForSequenceClassification.from_pretrained(kSentiment, kHere),
  ]);
  const inputs = tokenizer(kTexts, { padding: true, truncation: true });
  expect(inputs.attention_mask.tolist()[0]).toContain(0n);
  const { logits } = await model(inputs);
  expect(logits.dims).toEqual([2, 2]);
  for (const [row, text] of kTexts.entries()) expectClose(logits[row]!.data, await logitsOf(kSentiment, text));
  expect(model.config).toMatchObject({ model_type: 'convbert' });
  expect(await peruse.AutoConfig.from_pretrained(kSentiment)).toEqual(model.config);
  await expect(peruse.AutoConfig.from_pretrained(kSentiment, { revison: 'main' } as object)).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  await expect(model({ ...inputs, token_type_ids: new peruse.Tensor<BigInt64Array>('int64', [0n], [1, 1]) })).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  const unknown = new peruse.Tensor<BigInt64Array>('int64', [2n, 1_000_000n], [1, 2]);
  await expect(model({ input_ids: unknown })).rejects.toMatchObject({ code: 'invalid_argument' });
  expect((await model(inputs)).logits.data).toEqual(logits.data); // the model still works
  await model.dispose();
  tokenizer.dispose();
});

test('a reader has start and end logits of a pair', async () => {
  const tokenizer = await AutoTokenizer.from_pretrained(kReader);
  const model = await AutoModelForQuestionAnswering.from_pretrained(kReader, kHere);
  const [question, context] = ['Where does Ada work?', 'Ada works in Paris.'];
  const { start_logits, end_logits } = await model(tokenizer(question, { text_pair: context }));
  const both = await logitsOf(kReader, { text: question, text_pair: context });
  expect(start_logits.dims).toEqual([1, both.length / 2]);
  expectClose(
    start_logits.data,
    both.filter((_, i) => i % 2 === 0),
  );
  expectClose(
    end_logits.data,
    both.filter((_, i) => i % 2 === 1),
  );
  await model.dispose();
  tokenizer.dispose();
});

test('taggers, encoders and masked language models have an output for each token, and zeros for padding', async () => {
  const tokenizer = await AutoTokenizer.from_pretrained(kTagger);
  const inputs = tokenizer(kTexts, { padding: true });
  const tokens = inputs.input_ids.dims[1]!;
  const tagger = await AutoModelForTokenClassification.from_pretrained(kTagger, kHere);
  const { logits } = await tagger(inputs);
  expect(logits.dims.slice(0, 2)).toEqual([2, tokens]);
  expect(logits[0]![-1]!.data.every((value) => value === 0)).toBe(true);
  const encoder = await AutoModel.from_pretrained(kTagger, kHere);
  const { last_hidden_state } = await encoder(inputs);
  const extract = await peruse.pipeline('feature-extraction', kTagger, kHere);
  const alone = await extract(kTexts[1]!);
  expectClose(last_hidden_state[1]!.data, alone.data);
  expectClose(
    peruse.mean_pooling(last_hidden_state, inputs.attention_mask)[0]!.data,
    (await extract(kTexts[0]!, { pooling: 'mean' })).data,
  );
  await Promise.all([tagger.dispose(), encoder.dispose(), extract.dispose()]);
  tokenizer.dispose();
  const files = await pipelineModel('convbert', 'masked-lm');
  const masked = await peruse.AutoModelForMaskedLM.from_pretrained(files, kHere);
  const own = await AutoTokenizer.from_pretrained(files);
  const { logits: words } = await masked(own('t1 t2'));
  expect(words.dims).toEqual([1, own.encode('t1 t2').length, masked.config.vocab_size]);
  await masked.dispose();
  own.dispose();
});

test('the tokenizer has the calls of transformers.js', async () => {
  const tokenizer = await AutoTokenizer.from_pretrained(kSentiment);
  const { input_ids, attention_mask, token_type_ids } = tokenizer('A gem.');
  expect(input_ids).toMatchObject({ type: 'int64', dims: [1, input_ids.size] });
  expect([...input_ids.data].map(Number)).toEqual(tokenizer.encode('A gem.'));
  expect([attention_mask.size, token_type_ids!.size]).toEqual([input_ids.size, input_ids.size]);
  expect(tokenizer('A gem.', { return_tensor: false }).input_ids).toEqual(tokenizer.encode('A gem.'));
  expect(tokenizer(['A gem.'], { return_tensor: false }).input_ids).toEqual([tokenizer.encode('A gem.')]);
  expect(tokenizer('A', { text_pair: 'B' }).input_ids.size).toBe(tokenizer.encode('A', { text_pair: 'B' }).length);
  expect(tokenizer('A gem of a film.', { truncation: true, max_length: 4 }).input_ids.dims).toEqual([1, 4]);
  expect(tokenizer('A gem of a film.', { max_length: 4 }).input_ids.dims).toEqual([1, 4]);
  expect(tokenizer('A gem of a film.', { max_length: 4, truncation: false }).input_ids.size).toBeGreaterThan(4);
  const [cut, kept] = ([true, 'longest_first'] as const).map((truncation) => tokenizer('A gem of a film.', { truncation, max_length: 4 }));
  const all = tokenizer.encode('A gem of a film.');
  expect(cut!.input_ids.tolist()).toEqual([all.slice(0, 4).map(BigInt)]);
  expect(kept!.input_ids.tolist()).toEqual([[...all.slice(0, 3), all.at(-1)!].map(BigInt)]);
  expect(tokenizer('A', { padding: 'max_length', max_length: 9 }).input_ids.dims).toEqual([1, 9]);
  expect(tokenizer('A', { padding: 'max_length', max_length: 9999 }).input_ids.dims).toEqual([1, tokenizer.model_max_length]);
  expect(() => tokenizer(kTexts)).toThrow(
    expect.objectContaining({ code: 'invalid_argument', message: expect.stringContaining('padding: true') }),
  );
  expect(tokenizer.tokenize('a gem')).toEqual(expect.arrayContaining([expect.any(String)]));
  const [decoded] = tokenizer.batch_decode(input_ids, { skip_special_tokens: true });
  expect(decoded).toBe(tokenizer.decode(tokenizer.encode('A gem.'), { skip_special_tokens: true }));
  tokenizer.dispose();
});

test('functions and names', async () => {
  expect(peruse.softmax([1, 1])).toEqual([0.5, 0.5]);
  expect(peruse.softmax(new Float32Array(2 ** 18))[0]).toBe(2 ** -18);
  const rows = new peruse.Tensor<Float32Array>('float32', [1, 3, 2, 6], [2, 2]);
  expectClose(peruse.layer_norm(rows, [2], { eps: 0 }).data, [-1, 1, -1, 1]);
  expect((await peruse.matmul(rows, new peruse.Tensor<Float32Array>('float32', [1, 0, 0, 1], [2, 2]))).tolist()).toEqual(rows.tolist());
  expectClose(peruse.log_softmax([1, 1]), [Math.log(0.5), Math.log(0.5)]);
  expect(peruse.full([2], 3)).toMatchObject({ type: 'float32', dims: [2], data: Float32Array.of(3, 3) });
  expect(peruse.full_like(rows, true)).toMatchObject({ type: 'bool', dims: [2, 2] });
  expect(
    [peruse.ones([1]), peruse.ones_like(rows), peruse.zeros([3]), peruse.zeros_like(rows)].map(({ type, data }) => [type, data[0]]),
  ).toEqual([
    ['int64', 1n],
    ['int64', 1n],
    ['int64', 0n],
    ['int64', 0n],
  ]);
  expect(() => peruse.load_image('a.png')).toThrow(expect.objectContaining({ code: 'unsupported' }));
  await expect(peruse.AutoModelForCausalLM.from_pretrained('user/model')).rejects.toMatchObject({ code: 'unsupported' });
  expect(() => new peruse.TextStreamer()).toThrow(expect.objectContaining({ code: 'unsupported' }));
  expect(await peruse.ModelRegistry.is_cached('user/never-loaded')).toBe(false);
});

test("ModelRegistry lists and removes a model's stored files", async () => {
  const files = readdirSync(kSentiment).filter((name) => /^(config|tokenizer.*)\.json$|\.safetensors$/.test(name));
  const server = await startModelServer(
    Object.fromEntries(files.map((name) => [`user/small/resolve/main/${name}`, readFileSync(join(kSentiment, name))])),
  );
  const before = { ...env };
  const folder = mkdtempSync(join(root, 'build/registry-'));
  Object.assign(env, { remoteHost: server.url, cacheFolder: folder });
  try {
    const { ModelRegistry } = peruse;
    expect(await ModelRegistry.is_cached_files('user/small')).toEqual({ allCached: false, files: [] });
    await (await load('user/small', kHere)).dispose();
    expect(await ModelRegistry.is_cached_files('small')).toEqual({ allCached: false, files: [] }); // another model, whose id ends like this one's
    const { allCached, files: stored } = await ModelRegistry.is_pipeline_cached_files('text-classification', 'user/small');
    expect(allCached).toBe(true);
    expect(stored.map(({ file }) => file)).toEqual(expect.arrayContaining(files));
    expect(stored.every(({ cached }) => cached)).toBe(true);
    const { filesDeleted, filesCached } = await ModelRegistry.clear_pipeline_cache('text-classification', 'user/small');
    expect([filesDeleted, filesCached]).toEqual([stored.length, stored.length]);
    expect(await ModelRegistry.is_cached('user/small')).toBe(false);
  } finally {
    Object.assign(env, before);
    await server.close();
    rmSync(folder, { recursive: true });
  }
});

test.each(['@huggingface/transformers', '@xenova/transformers'])('a program that imports %s runs on the alias package', (name) => {
  mkdirSync(join(root, 'build'), { recursive: true });
  const app = mkdtempSync(join(root, 'build/alias-'));
  try {
    cpSync(join(root, 'web/alias'), join(app, 'node_modules', name), { recursive: true });
    symlinkSync(root, join(app, 'node_modules/peruse'));
    writeFileSync(
      join(app, 'program.mjs'),
      `import { AutoModelForCausalLM, AutoTokenizer, pipeline } from '${name}';
      const classify = await pipeline('sentiment-analysis', ${JSON.stringify(kSentiment)});
      const [{ label }] = await classify('A gem.');
      const tokenizer = await AutoTokenizer.from_pretrained(${JSON.stringify(kSentiment)});
      console.log(typeof label, tokenizer('A gem.').input_ids.dims[0], typeof AutoModelForCausalLM);
      await classify.dispose();`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], { cwd: app, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'string 1 function\n', stderr: '' });
  } finally {
    rmSync(app, { recursive: true });
  }
});

test('SemanticIndex says that a tokenizer without offsets cannot split texts', async () => {
  const embed = await peruse.pipeline('feature-extraction', kSentiment, kHere);
  const index = new SemanticIndex(embed as never, { chunk_tokens: 8 });
  await expect(index.add(kTexts)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('peruse/transformers'),
  });
  await embed.dispose();
});
