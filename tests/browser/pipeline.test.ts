import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { env, type PipelineOptions, type ProgressInfo, pipeline, type Source } from '../../web/bundle/peruse.js';
import { checkLogits, readSharded } from '../node/support/sharded.js';
import { tinyText } from '../node/support/tiny.js';
import { fetchTiny } from './tiny_served.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function classifier(source: Source, options: PipelineOptions = {}) {
  const made = await pipeline('text-classification', source, options);
  kOpen.push(made);
  return made;
}

let tiny: Awaited<ReturnType<typeof fetchTiny>>;
let reader: Awaited<ReturnType<typeof fetchTiny>>;
beforeAll(async () => {
  tiny = await fetchTiny('deberta-v2-sequence');
  reader = await fetchTiny('deberta-v2-question');
});

async function expectReferenceLogits(classify: Awaited<ReturnType<typeof classifier>>) {
  for (const text of ['a', 'b', 'c', 'd']) {
    const logits = tiny.expected.get(`${text}.logits`)!;
    const labels = await classify(tinyText(tiny.expected.get(`${text}.input_ids`)!), { top_k: null, function_to_apply: 'none' });
    expect(labels).toHaveLength(logits.length);
    for (const { label, score } of labels) expect(Math.abs(score - logits[Number(label.slice(6))]!)).toBeLessThan(1e-5);
  }
}

test('works in a worker with the best build there is, and says why that one', async () => {
  const progress: ProgressInfo[] = [];
  const classify = await classifier(tiny.files, { progress_callback: (info) => progress.push(info) });
  await expectReferenceLogits(classify);
  expect(classify.info).toMatchObject({ worker: true, device: 'cpu' });
  const several = crossOriginIsolated && navigator.hardwareConcurrency > 1;
  expect(classify.info.variant).toBe(several ? 'relaxed-threads' : 'relaxed');
  // The number is measured, so a busy machine may get fewer threads.
  expect(classify.info.threads).toBeGreaterThanOrEqual(1);
  expect(classify.info.threads).toBeLessThanOrEqual(several ? Math.min(4, navigator.hardwareConcurrency) : 1);
  if (!crossOriginIsolated) expect(classify.info.reason).toContain('Cross-Origin-Embedder-Policy');
  expect(progress.at(-1)).toMatchObject({ status: 'ready' });
});

test.each(['simd', 'relaxed', 'simd-threads', 'relaxed-threads'] as const)(
  'the variant %s reproduces the reference logits',
  async (variant) => {
    const loading = classifier(tiny.files, { variant });
    if (variant.endsWith('-threads') && !crossOriginIsolated) {
      await expect(loading).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining('not cross-origin isolated') });
    } else {
      await expectReferenceLogits(await loading);
    }
  },
);

test('works without a worker, on one thread', async () => {
  const classify = await classifier(tiny.files, { worker: false });
  await expectReferenceLogits(classify);
  expect(classify.info).toMatchObject({ worker: false, threads: 1, variant: 'relaxed' });
});

test('Files are a source', async () => {
  const files = Object.entries(tiny.files).map(([name, content]) => new File([content as BlobPart], name));
  await expectReferenceLogits(await classifier(files));
});

test('weights in several files, from a URL and as Files', async () => {
  const base = new URL('/tests/fixtures/sharded/', location.href);
  const files = await readSharded(async (name) => new Uint8Array(await (await fetch(new URL(name, base))).arrayBuffer()));
  const list = Object.entries(files).map(([name, content]) => new File([content as BlobPart], name));
  for (const source of [base, list]) await checkLogits(await classifier(source), tiny.expected);
});

test("answers are cut from the caller's text by UTF-16 indices", async () => {
  const answer = await pipeline('question-answering', reader.files);
  kOpen.push(answer);
  const context = 't5 t17 \u{1F600} t3 t40 t22 \uD83D t8';
  const best = await answer('t1 t2', context);
  expect(context.slice(best.start, best.end)).toBe(best.answer);
});

describe('errors leave the library usable', () => {
  afterEach(async () => {
    await expectReferenceLogits(await classifier(tiny.files));
  });

  test('an address that answers with a page', async () => {
    await expect(classifier('/no/such/model/')).rejects.toMatchObject({
      name: 'PeruseError',
      code: 'not_found',
      message: expect.stringContaining(`${location.origin}/no/such/model/config.json`),
    });
  });

  test('a server that is not there', async () => {
    await expect(classifier('http://127.0.0.1:59999/m/')).rejects.toMatchObject({
      code: 'network',
      message: expect.stringContaining('http://127.0.0.1:59999/m/'),
    });
  });

  test('a truncated checkpoint', async () => {
    const files = { ...tiny.files, 'model.safetensors': tiny.files['model.safetensors']!.slice(0, 9999) };
    await expect(classifier(files)).rejects.toMatchObject({ code: 'truncated_file' });
  });

  test('an empty text without special tokens, then a good one', async () => {
    const classify = await classifier(tiny.files);
    await expect(classify('')).rejects.toMatchObject({ code: 'empty_text' });
    expect(await classify('t1')).toHaveLength(1);
  });

  test('builds that are elsewhere', async () => {
    env.filesPath = 'http://127.0.0.1:59999/wasm/';
    await expect(classifier(tiny.files, { worker: false })).rejects.toMatchObject({ code: 'no_wasm' });
    env.filesPath = undefined;
  });

  test('loading that is cancelled', async () => {
    const controller = new AbortController();
    const loading = classifier(tiny.files, { signal: controller.signal });
    controller.abort();
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
  });

  test('a pipeline that was disposed of', async () => {
    const classify = await classifier(tiny.files);
    const call = classify('t1');
    await classify.dispose();
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    await expect(classify('t1')).rejects.toMatchObject({ code: 'disposed' });
  });
});

test("an error from the worker has the original's cause", async () => {
  const error: unknown = await classifier('http://127.0.0.1:59999/model/', { worker: true }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'network',
    cause: { name: 'TypeError', message: expect.stringMatching(/^Failed to fetch/), stack: expect.stringContaining('peruse-worker') },
  });
  expect((error as Error).cause).toBeInstanceOf(Error);
});
