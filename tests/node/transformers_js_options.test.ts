// Options, names and events of transformers.js that Peruse accepts.

import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  FeatureExtractionPipeline,
  load,
  type PipelineOptions,
  type ProgressInfo,
  pipeline,
  TextClassificationPipeline,
} from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { pipelineModel } from './support/pipeline_models.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const kSentiment = join(root, 'models/peruse-sentiment-convbert-tiny');
const kEmbedder = join(root, 'tests/fixtures/sentence/mean');
const classifier = (options: PipelineOptions = {}) => pipeline('text-classification', kSentiment, { worker: false, ...options });

describe('options of a load', () => {
  test.each([
    ['session_options', { session_options: { logSeverityLevel: 3 } }, /session_options is ignored/],
    ['use_external_data_format', { use_external_data_format: true }, /use_external_data_format is ignored/],
    ['config', { config: { model_type: 'bert' } }, /config is ignored except for id2label/],
    ['device gpu', { device: 'gpu' }, /device 'gpu' is onnxruntime's/],
    ['device webnn', { device: 'webnn' }, /device 'webnn' is onnxruntime's/],
    ['device cuda', { device: 'cuda' }, /device 'cuda' is onnxruntime's/],
  ] as [string, PipelineOptions, RegExp][])('%s is accepted with a notice', async (_, options, notice) => {
    const classify = await classifier(options);
    expect(classify.info.notices).toEqual([expect.stringMatching(notice)]);
    expect(classify.info.device).toBe('cpu');
    await classify.dispose();
  });

  test('empty session_options, null and undefined have no notice', async () => {
    const nothing = { session_options: {}, config: null, dtype: null, device: null, use_external_data_format: undefined };
    const classify = await classifier(nothing as unknown as PipelineOptions);
    expect(classify.info.notices).toEqual([]);
    await classify.dispose();
  });

  test('dtype and device as objects mean those of the file', async () => {
    const classify = await classifier({ dtype: { model: 'q8', other: 'fp32' }, device: { model: 'wasm' } });
    expect(classify.info).toMatchObject({ dtype: 'q8', device: 'cpu' });
    await classify.dispose();
    const model = await load(kSentiment, { worker: false, dtype: { model: 'fp16' } });
    expect(model.info.dtype).toBe('fp16');
    await model.dispose();
    const other = await classifier({ dtype: { decoder: 'q8' } });
    expect(other.info).toMatchObject({ dtype: 'fp32', notices: ["dtype has no entry for the file 'model', so the default was used."] });
    await other.dispose();
    await expect(classifier({ dtype: ['q8'] } as never)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test("config's id2label names the labels", async () => {
    const classify = await classifier({ config: { id2label: { 0: 'bad', 1: 'good' } } } as PipelineOptions);
    expect((await classify('A gem.', { top_k: null })).map(({ label }) => label).sort()).toEqual(['bad', 'good']);
    expect(classify.info.notices).toEqual([]);
    await classify.dispose();
  });

  test('cache_dir is where the files of this load are stored', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'peruse-cache-dir-'));
    const server = await startModelServer((await pipelineModel('convbert', 'sequence')) as Record<string, Uint8Array>);
    try {
      await (await pipeline('text-classification', server.url, { worker: false, cache_dir: folder })).dispose();
      expect((await readdir(folder, { recursive: true })).length).toBeGreaterThan(0);
    } finally {
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });

  test('a typo throws as before', async () => {
    await expect(classifier({ sesion_options: {} } as PipelineOptions)).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

describe('options of a call', () => {
  test('padding and batch_size change nothing, and have one notice each', async () => {
    const classify = await classifier();
    const plain = await classify(['A gem.', 'Dull.']);
    for (let i = 0; i < 2; ++i) expect(await classify(['A gem.', 'Dull.'], { padding: true, batch_size: 1 })).toEqual(plain);
    expect(classify.info.notices).toEqual(['padding', 'batch_size'].map((name) => expect.stringContaining(`Option ${name} is ignored`)));
    await classify.dispose();
    const embed = await pipeline('feature-extraction', kEmbedder, { worker: false });
    await embed('A text.', { pooling: 'mean', max_length: 4 } as object);
    expect(embed.info.notices).toEqual([expect.stringContaining('Option max_length is ignored')]);
    await embed.dispose();
  });

  test('return_all_scores is top_k: null', async () => {
    const classify = await classifier();
    expect(await classify('A gem.', { return_all_scores: true })).toEqual(await classify('A gem.', { top_k: null }));
    expect(await classify('A gem.', { return_all_scores: false })).toHaveLength(1);
    await classify.dispose();
  });

  test('multi_class is multi_label, and labels may be one string', async () => {
    const labels = { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } };
    const choose = await pipeline('zero-shot-classification', await pipelineModel('convbert', 'sequence', labels), { worker: false });
    const both = await choose('t1 t2', ['t3', 't4'], { multi_label: true });
    expect(await choose('t1 t2', 't3, t4', { multi_class: true })).toEqual(both);
    expect(await choose('t1 t2', 't3,t4', { multi_class: true, multi_label: false })).toEqual(await choose('t1 t2', ['t3', 't4']));
    await choose.dispose();
  });
});

describe('a long text', () => {
  const long = 'word '.repeat(600);

  test('is cut by a classifier, with a notice of the tokens that were left out', async () => {
    const classify = await classifier();
    const cut = await classify(long, { truncation: true });
    expect(classify.info.notices).toEqual([]);
    expect(await classify(['A gem.', long])).toEqual([...(await classify('A gem.')), ...cut]);
    const [notice, ...others] = classify.info.notices;
    expect(others).toEqual([]);
    const [, kept, lost, all] = /^The model reads (\d+) tokens: input 1 lost (\d+) of its (\d+) tokens\./.exec(notice!)!.map(Number);
    expect(all).toBe(await classify.tokenizer.count(long));
    expect(lost).toBe(all! - kept!);
    await expect(classify(long, { truncation: false })).rejects.toMatchObject({ code: 'text_too_long' });
    await classify.dispose();
  });

  test('is counted in tokens, not in characters', async () => {
    const classify = await classifier();
    await classify([long, 'x'.repeat(5000), 'A gem.']); // a word of 5000 letters is one token
    const { ids } = await classify.tokenizer.encode(long, { truncation: true });
    const all = await classify.tokenizer.count(long);
    expect(classify.info.notices).toEqual([
      expect.stringContaining(`The model reads ${ids.length} tokens: input 0 lost ${all - ids.length} of its ${all} tokens. `),
    ]);
    await classify.dispose();
  });

  test('is cut by an embedder, and max_length cuts a classified text', async () => {
    const embed = await pipeline('feature-extraction', kEmbedder, { worker: false });
    const cut = await embed(long, { pooling: 'mean', truncation: true });
    expect((await embed(long, { pooling: 'mean' })).data).toEqual(cut.data);
    expect(embed.info.notices).toEqual([expect.stringMatching(/input 0 lost \d+ of its \d+ tokens/)]);
    await expect(embed(long, { pooling: 'mean', truncation: false })).rejects.toMatchObject({ code: 'text_too_long' });
    await embed.dispose();
    const classify = await classifier();
    expect(await classify('A gem of a film.', { max_length: 4 })).toEqual(
      await classify('A gem of a film.', { max_length: 4, truncation: true }),
    );
    await classify.dispose();
  });
});

describe('names', () => {
  test("pipeline('embeddings') is feature-extraction", async () => {
    const embed = await pipeline('embeddings', kEmbedder, { worker: false });
    expect(embed.task).toBe('feature-extraction');
    expect(embed).toBeInstanceOf(FeatureExtractionPipeline);
    expect(embed).not.toBeInstanceOf(TextClassificationPipeline);
    expect(() => new FeatureExtractionPipeline()).toThrow(expect.objectContaining({ code: 'unsupported' }));
    await embed.dispose();
  });

  test('model.config is config.json', async () => {
    for (const worker of [true, false]) {
      const classify = await classifier({ worker });
      expect(classify.model.config).toMatchObject({ model_type: 'convbert', id2label: { 0: expect.any(String) } });
      await classify.dispose();
    }
  });

  test('progress_total comes before each progress, with the bytes of all files', async () => {
    const told: ProgressInfo[] = [];
    const classify = await classifier({ progress_callback: (info) => void told.push(info) });
    await classify.dispose();
    const totals = told.filter((info) => info.status === 'progress_total');
    expect(totals).toHaveLength(told.filter((info) => info.status === 'progress').length);
    const { files, loaded, progress, total } = totals.at(-1)!;
    expect({ progress, loaded }).toEqual({ progress: 100, loaded: total });
    expect(Object.values(files).reduce((sum, file) => sum + file.loaded, 0)).toBe(loaded);
  });
});
