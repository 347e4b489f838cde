// teach() in Chromium: in a worker of its own, from a model that is fetched, to a directory and back.
import { expect, test } from 'vitest';
import { env, PeruseError, pipeline } from '../../web/bundle/peruse.js';
import { teach, type TeachProgress } from '../../web/bundle/peruse-teach.js';
import { kHeldBack, kTexts } from '../node/support/lessons.js';

const kModel = '/models/peruse-sentiment-convbert-tiny/';
const kTexts_ = kHeldBack.map(({ text }) => text);

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
  expect(framesMeanwhile).toBeGreaterThan(5); // The page's own thread was free.
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
  expect(error).toBeInstanceOf(PeruseError); // The class of the page's own file.
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

test('its settings are those of the page', async () => {
  env.wasmPath = '/nowhere/';
  try {
    await expect(teach('text-classification', kModel, kTexts)).rejects.toMatchObject({ code: 'no_wasm', message: /\/nowhere\// });
  } finally {
    env.wasmPath = undefined;
  }
});
