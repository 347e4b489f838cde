import { expect, test } from 'vitest';
import { env, PeruseError, pipeline } from '../../web/bundle/peruse.js';
import { pretrain, type TeachProgress, teach } from '../../web/bundle/peruse-teach.js';
import { kHeldBack, kLines, kTexts } from '../node/support/lessons.js';

const kModel = '/models/peruse-sentiment-convbert-tiny/';
const kTexts_ = kHeldBack.map(({ text }) => text);

async function digest(content: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', content)).join(' ');
}

test('a page teaches, uses, saves and loads again', async () => {
  const progress: TeachProgress[] = [];
  let frames = 0;
  const count = () => {
    ++frames;
    if (frames < 1e6) requestAnimationFrame(count);
  };
  count();
  const taught = await teach('text-classification', kModel, kTexts, {
    method: 'full',
    epochs: 12,
    learning_rate: 2e-3,
    batch_size: 8,
    validation: kHeldBack,
    progress_callback: (one) => progress.push(one),
  });
  const framesMeanwhile = frames;
  frames = 1e6;
  expect(framesMeanwhile).toBeGreaterThan(5); // the page's thread was free
  expect(taught.report.validation!.accuracy).toBeGreaterThanOrEqual(0.75);
  expect(progress.at(-1)).toMatchObject({ step: taught.report.steps });
  const classify = await taught.pipeline();
  const directory = await (await navigator.storage.getDirectory()).getDirectoryHandle('taught', { create: true });
  await taught.save(directory);
  const again = await pipeline('text-classification', directory as unknown as Parameters<typeof pipeline>[1]);
  expect(await again(kTexts_, { top_k: null })).toEqual(await classify(kTexts_, { top_k: null }));
  await Promise.all([classify.dispose(), again.dispose(), taught.dispose()]);
  const error = await taught.save('folder').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'disposed' });
  expect(error).toBeInstanceOf(PeruseError); // the page's own class
});

test('a page has no folders by name; an adapter is used at once', async () => {
  const taught = await teach('text-classification', kModel, kTexts, { method: 'lora', epochs: 1 });
  await expect(taught.save('folder')).rejects.toMatchObject({ code: 'unsupported' });
  expect([...taught.files.keys()]).toEqual(expect.arrayContaining(['adapter_config.json', 'adapter_model.safetensors', 'config.json']));
  const classify = await taught.pipeline();
  expect(['plant', 'tool']).toContain((await classify('A rose.'))[0]!.label);
  await classify.dispose();
});

test('cancelling ends it at once', async () => {
  const stop = new AbortController();
  const lesson = teach('text-classification', kModel, kTexts, {
    method: 'full',
    epochs: 10_000,
    signal: stop.signal,
    progress_callback: ({ step }) => {
      if (step === 2) stop.abort();
    },
  });
  await expect(lesson).rejects.toMatchObject({ name: 'AbortError', code: 'aborted' });
});

test('a page that is isolated teaches by threads, and the same to the bit', async () => {
  const lesson = (threads?: number) =>
    teach('text-classification', kModel, kTexts, { method: 'full', epochs: 2, ...(threads === undefined ? {} : { threads }) });
  const alone = await lesson(1);
  expect(alone.report.threads).toBe(1);
  const { report } = await lesson();
  if (crossOriginIsolated) {
    expect(report.threads).toBe(Math.min(4, navigator.hardwareConcurrency));
    const two = await lesson(2);
    expect(two.report.threads).toBe(2);
    expect(two.report.losses).toEqual(alone.report.losses);
    expect(await digest(two.files.get('model.safetensors')!)).toBe(await digest(alone.files.get('model.safetensors')!));
  } else {
    expect(report.threads).toBe(1);
    expect(report.reason).toMatch(/^one thread, because the page is not cross-origin isolated/);
    await expect(lesson(2)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/2 threads were requested, but the page is not/),
    });
  }
  expect(report.losses).toEqual(alone.report.losses);
});

test('a page goes on with pre-training by masked words, and fills a mask with what was learnt', async () => {
  const progress: TeachProgress[] = [];
  const read = await pretrain('mlm', kModel, kLines, {
    epochs: 2,
    learning_rate: 2e-3,
    validation: 0.2,
    progress_callback: (one) => progress.push(one),
  });
  expect(read.task).toBe('fill-mask');
  expect(read.report).toMatchObject({ method: 'full', labels: [], examples: 32, validation_examples: 8, steps: 4 });
  expect(read.report.losses.every(Number.isFinite)).toBe(true);
  expect(progress.at(-1)).toMatchObject({ step: 4, steps: 4, validation: { examples: 8 } });
  const fill = await read.pipeline();
  expect((await fill('The rose is in the [MASK].'))[0]).toMatchObject({ token_str: expect.any(String), score: expect.any(Number) });
  await Promise.all([fill.dispose(), read.dispose()]);
});

test('and by replaced tokens, with a generator that is saved beside the model', async () => {
  const read = await pretrain('rtd', '/models/peruse-reader-deberta-tiny/', kLines.slice(0, 16), { epochs: 1 });
  expect(read.task).toBe('replaced-token-detection');
  expect(read.report).toMatchObject({ examples: 16, steps: 1, fresh: expect.arrayContaining(['mask_predictions.dense.weight']) });
  expect(read.report.epochs[0]).toMatchObject({ loss: expect.any(Number), generator_loss: expect.any(Number) });
  expect([...read.files.keys()]).toEqual(expect.arrayContaining(['generator/config.json', 'generator/model.safetensors']));
  await read.dispose();
  await expect(pretrain('mlm', kModel, [])).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('its settings are those of the page', async () => {
  env.filesPath = '/nowhere/';
  try {
    await expect(teach('text-classification', kModel, kTexts)).rejects.toMatchObject({ message: expect.stringMatching(/\/nowhere\//) });
  } finally {
    env.filesPath = undefined;
  }
});
