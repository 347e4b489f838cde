// Statements of docs/coming-from-transformers-js.md that no other test checks. porting_statements.json has the test of each statement; the device that
// compares it with the page is in porting_page.test.ts.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  env,
  FillMaskPipeline,
  type ProgressInfo,
  pipeline,
  QuestionAnsweringPipeline,
  TokenClassificationPipeline,
  ZeroShotClassificationPipeline,
} from '../../web/dist/index_node.js';
import { pipelineModel } from './support/pipeline_models.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const kSentiment = join(root, 'models/peruse-sentiment-convbert-tiny');
const kEmbedder = join(root, 'tests/fixtures/sentence/mean');
const kOnnx = join(root, 'tests/fixtures/transformers_js/bert');
const kHere = { worker: false } as const;
const before = { localModelPath: env.localModelPath, offline: env.offline, cache: env.cache };
afterEach(() => {
  vi.unstubAllGlobals();
  Object.assign(env, { allowLocalModels: true, useBrowserCache: true, useFSCache: true }, before);
});
/** What code sees in a page. */
const inPage = () => vi.stubGlobal('process', { ...process, versions: {} });

describe('settings', () => {
  test('defaults', () => {
    expect(env.localModelPath).toBeUndefined();
    expect(env.remoteHost).toBe('https://huggingface.co/');
    expect(env.remotePathTemplate).toBe('{model}/resolve/{revision}/');
  });

  test('allowLocalModels: false ignores localModelPath', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'peruse-local-'));
    mkdirSync(join(folder, 'user'));
    symlinkSync(kSentiment, join(folder, 'user/sentiment'));
    Object.assign(env, { localModelPath: folder, offline: true });
    await (await pipeline('text-classification', 'user/sentiment', kHere)).dispose();
    env.allowLocalModels = false;
    await expect(pipeline('text-classification', 'user/sentiment', kHere)).rejects.toMatchObject({ code: 'offline' });
    rmSync(folder, { recursive: true });
  });

  test('in a page allowLocalModels sets localModelPath unless it is set, and useBrowserCache sets the cache', () => {
    inPage();
    env.useFSCache = false;
    expect(env.cache).toBe(true);
    env.useBrowserCache = false;
    expect(env.cache).toBe(false);
    env.allowLocalModels = true;
    expect(env.localModelPath).toBe('/models/');
    env.localModelPath = '/mine/';
    env.allowLocalModels = true;
    expect(env.localModelPath).toBe('/mine/');
  });

  test('settings that change nothing have a notice', async () => {
    Object.assign(env, { useFS: true, useWasmCache: true, cacheKey: 'mine', experimental_useCrossOriginStorage: false });
    env.backends.onnx.wasm.proxy = false;
    const classify = await pipeline('text-classification', kSentiment, kHere);
    for (const name of ['useFS', 'useWasmCache', 'cacheKey', 'experimental_useCrossOriginStorage', 'backends.onnx.wasm.proxy']) {
      expect(classify.info.notices).toContainEqual(expect.stringContaining(`env.${name} is ignored`));
    }
    await classify.dispose();
  });
});

describe('options', () => {
  test("device 'dml' and 'coreml' are onnxruntime's, 'wasm' is the CPU, and the default is the CPU", async () => {
    for (const device of ['dml', 'coreml', 'wasm', undefined] as const) {
      const classify = await pipeline('text-classification', kSentiment, { ...kHere, ...(device && { device }) } as object);
      expect(classify.info.device).toBe('cpu');
      const notices = classify.info.notices.filter((one) => one.includes(`device '${device}' is onnxruntime's`));
      expect(notices).toHaveLength(device === 'dml' || device === 'coreml' ? 1 : 0);
      await classify.dispose();
    }
  });

  test('without quantized, the weights are the exact ones', async () => {
    const exact = await pipeline('text-classification', kSentiment, kHere);
    expect(exact.info.dtype).toBe('fp32');
    const floats = await pipeline('text-classification', kSentiment, { ...kHere, quantized: false });
    expect(await floats('A gem.')).toEqual(await exact('A gem.'));
    await Promise.all([exact.dispose(), floats.dispose()]);
  });

  test('add_special_tokens is ignored by pipelines with a notice', async () => {
    const classify = await pipeline('text-classification', kSentiment, kHere);
    const wanted = await classify('A gem.');
    expect(await classify('A gem.', { add_special_tokens: false } as object)).toEqual(wanted);
    expect(classify.info.notices).toContainEqual(expect.stringContaining('add_special_tokens is ignored'));
    await classify.dispose();
  });

  test('quantized, topk, multi_class and return_all_scores together, as programs for version 2 pass them', async () => {
    const classify = await pipeline('text-classification', kSentiment, { ...kHere, quantized: true });
    expect(classify.info.dtype).toBe('q8');
    expect(await classify('A gem.', { topk: 2 } as object)).toEqual(await classify('A gem.', { top_k: 2 }));
    await classify.dispose();
  });
});

test('several texts cost only their own tokens', async () => {
  const embed = await pipeline('feature-extraction', kEmbedder, kHere);
  const texts = ['A text.', 'A much longer text, which the other one would be padded to.'];
  let alone = 0;
  for (const text of texts) alone += await embed.tokenizer.count(text);
  const { tokens } = await embed.usage();
  await embed(texts, { pooling: 'mean' });
  expect((await embed.usage()).tokens - tokens).toBe(alone);
  await embed.dispose();
});

test('zero-shot classification and ranking cut a long text, never the label', async () => {
  const labels = { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } };
  const long = 't1 '.repeat(600);
  const choose = await pipeline('zero-shot-classification', await pipelineModel('convbert', 'sequence', labels), kHere);
  const rank = await pipeline('text-ranking', await pipelineModel('convbert', 'one-logit'), kHere);
  const { scores } = await choose(long, ['t3', 't4 t5'], { multi_label: true });
  expect(scores[0]).not.toBeCloseTo(scores[1]!, 6); // the labels were read
  expect(await rank('t3', [long])).toHaveLength(1);
  const [first] = await rank('t3', [long]);
  const [second] = await rank('t4 t5', [long]);
  expect(first!.score).not.toBeCloseTo(second!.score, 6);
  await expect(choose('t1', [long])).rejects.toMatchObject({ code: 'text_too_long' });
  await Promise.all([choose.dispose(), rank.dispose()]);
});

test('classes for instanceof', async () => {
  const classes = [FillMaskPipeline, QuestionAnsweringPipeline, TokenClassificationPipeline, ZeroShotClassificationPipeline];
  const fill = await pipeline('fill-mask', await pipelineModel('convbert', 'masked-lm'), kHere);
  expect(classes.filter((Class) => fill instanceof Class)).toEqual([FillMaskPipeline]);
  await fill.dispose();
});

test('progress_total counts the weights of an ONNX file', async () => {
  const told: ProgressInfo[] = [];
  const embed = await pipeline('feature-extraction', kOnnx, { ...kHere, progress_callback: (info) => void told.push(info) });
  await embed.dispose();
  const totals = told.filter((info) => info.status === 'progress_total');
  const { loaded, total, progress, files } = totals.at(-1)!;
  expect({ loaded, progress }).toEqual({ loaded: total, progress: 100 });
  expect(Object.keys(files)).toContain('onnx/model.onnx');
  expect(totals.filter((one) => one.total > 0 && !('onnx/model.onnx' in one.files))).toEqual([]);
});
