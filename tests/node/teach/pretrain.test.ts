import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { pipeline } from '../../../web/dist/index_node.js';
import { pretrain, type TeachProgress, type WritableDirectory } from '../../../web/dist/teach/index_node.js';
import { kLines } from '../support/lessons.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const kReader = `${kRoot}models/peruse-reader-deberta-tiny`;

const folder = await mkdtemp(join(tmpdir(), 'peruse-pretrained-'));
afterAll(() => rm(folder, { recursive: true }));

const kQuick = { epochs: 2, learning_rate: 2e-3, batch_size: 8 };

test('masked words are learnt, told of, used and saved', async () => {
  const progress: TeachProgress[] = [];
  const trained = await pretrain('mlm', kSentiment, kLines, {
    ...kQuick,
    epochs: 10,
    validation: kLines.slice(0, 8),
    progress_callback: (one) => progress.push(one),
  });
  const { report } = trained;
  console.log('mlm', report.milliseconds, report.memory, report.validation);
  expect(trained.task).toBe('fill-mask');
  expect(report).toMatchObject({ method: 'full', labels: [], examples: kLines.length, validation_examples: 8, steps: 50 });
  expect(report.fresh).toContain('generator_predictions.dense.weight');
  expect(report.epochs.at(-1)!.validation!.loss).toBeLessThan(0.8 * report.epochs[0]!.validation!.loss);
  expect(report.validation!.accuracy).toBeGreaterThan(0);
  expect(progress[0]).toMatchObject({ phase: 'loading', load: { status: 'initiate' } });
  expect(progress.at(-1)).toMatchObject({ step: 50, steps: 50, validation: { examples: 8 } });

  const fill = await trained.pipeline();
  const found = await fill('The rose is in the [MASK].');
  expect(found[0]).toMatchObject({ token_str: expect.any(String), score: expect.any(Number) });
  const where = join(folder, 'mlm');
  await trained.save(where);
  expect(JSON.parse(await readFile(join(where, 'config.json'), 'utf8'))).toMatchObject({ model_type: 'convbert' });
  const again = await pipeline('fill-mask', where);
  expect(await again('The rose is in the [MASK].')).toEqual(found);
  expect((await pretrain('mlm', where, kLines.slice(0, 8), { epochs: 1 })).report.fresh).toEqual([]);
  await Promise.all([fill.dispose(), again.dispose(), trained.dispose()]);
});

describe('replaced tokens', () => {
  test('are learnt with a new generator, and both are gone on with', async () => {
    const progress: TeachProgress[] = [];
    const trained = await pretrain('rtd', kReader, kLines, {
      ...kQuick,
      validation: 0.25,
      progress_callback: (one) => progress.push(one),
    });
    const { report } = trained;
    console.log('rtd', report.milliseconds, report.memory, report.epochs);
    expect(trained.task).toBe('replaced-token-detection');
    expect(report.epochs[1]!.generator_loss).toBeLessThan(report.epochs[0]!.generator_loss!);
    expect(report.validation).toMatchObject({ accuracy: expect.any(Number), f1: expect.any(Number) });
    expect(report.trained_parameters).toBeGreaterThan(report.parameters); // includes the generator's
    expect(progress.at(-1)!.generator_loss).toBeGreaterThan(0);
    expect([...trained.files.keys()]).toEqual(expect.arrayContaining(['generator/config.json', 'generator/model.safetensors']));
    const layers = (name: string) =>
      (JSON.parse(new TextDecoder().decode(trained.files.get(name))) as { num_hidden_layers: number }).num_hidden_layers;
    expect(layers('generator/config.json')).toBe(Math.floor(layers('config.json') / 2));
    const detect = await trained.pipeline();
    expect(await detect('The rose is in the yard.')).toBeInstanceOf(Array);
    await detect.dispose();

    const where = join(folder, 'rtd');
    await trained.save(where);
    expect((await readdir(join(where, 'generator'))).sort()).toEqual(['config.json', 'model.safetensors']);
    const on = await pretrain('rtd', where, kLines, { ...kQuick, epochs: 1, generator: join(where, 'generator') });
    expect(on.report.fresh).toEqual([]);
    expect(on.report.epochs[0]!.generator_loss).toBeLessThan(report.epochs[0]!.generator_loss!);
  });

  test('a generator of other words is refused', async () => {
    await expect(pretrain('rtd', kReader, kLines, { generator: `${kRoot}tests/fixtures/tiny/bert-masked-lm` })).rejects.toMatchObject({
      name: 'PeruseError',
      code: 'shape_mismatch',
      message: expect.stringMatching(/^the generator knows 48 tokens and the model \d+/i),
    });
  });

  test('are saved to a directory handle with a folder in it', async () => {
    const trained = await pretrain('rtd', kSentiment, kLines.slice(0, 8), { epochs: 1 });
    const written: string[] = [];
    const handle = (path: string): WritableDirectory => ({
      getDirectoryHandle: async (name) => handle(`${path}${name}/`),
      getFileHandle: async (name) => ({
        createWritable: async () => ({ write: async () => void written.push(path + name), close: async () => {} }),
      }),
    });
    await trained.save(handle(''));
    expect(written.sort()).toEqual([...trained.files.keys()].sort());
    const { getDirectoryHandle: _, ...without } = handle('');
    await expect(trained.save(without)).rejects.toMatchObject({
      code: 'invalid_argument',
      message: expect.stringMatching(/getDirectoryHandle/),
    });
  });
});

test('with the same seed the same, with another another', async () => {
  for (const objective of ['mlm', 'rtd'] as const) {
    const losses = await Promise.all(
      [1, 1, 2].map(async (seed) => (await pretrain(objective, kSentiment, kLines.slice(0, 16), { epochs: 1, seed })).report.losses),
    );
    expect(losses[0], objective).toEqual(losses[1]);
    expect(losses[0], objective).not.toEqual(losses[2]);
  }
});

test('a long line is read in pieces', async () => {
  const { report } = await pretrain('mlm', kSentiment, [kLines.join(' ')], { epochs: 1, max_length: 32 });
  expect(report.examples).toBeGreaterThan(5);
});

test('is cancelled at once', async () => {
  const stop = new AbortController();
  const progress_callback = ({ step }: TeachProgress) => {
    if (step > 0) stop.abort();
  };
  const trained = pretrain('mlm', kSentiment, kLines, { epochs: 1000, signal: stop.signal, progress_callback });
  await expect(trained).rejects.toMatchObject({ name: 'AbortError' });
});

const loose = pretrain as unknown as (...given: unknown[]) => Promise<unknown>;

test.each([
  ['no objective', ['clm', kSentiment, kLines], 'invalid_argument', /^The objective must be 'mlm' or 'rtd', not 'clm'/],
  ['no list', ['mlm', kSentiment, 'text'], 'invalid_argument', /^The lines must be a list, not a string/],
  ['an empty list', ['mlm', kSentiment, []], 'invalid_argument', /no lines/],
  ['no text', ['mlm', kSentiment, ['a', 7]], 'invalid_argument', /^line 1: it is a number, not a string/],
  ['an empty text', ['mlm', kSentiment, ['a', ' ']], 'empty_text', /^line 1: it is empty/],
  ['a bad line to measure by', ['mlm', kSentiment, ['a'], { validation: [{}] }], 'invalid_argument', /^validation line 0: it is an object/],
  ['a share', ['mlm', kSentiment, ['a'], { validation: 2 }], 'invalid_argument', /a share between 0 and 1/],
  ['an option of teaching', ['mlm', kSentiment, ['a'], { method: 'lora' }], 'invalid_argument', /^Pre-training has no option 'method'/],
  ['a generator of mlm', ['mlm', kSentiment, ['a'], { generator: kReader }], 'invalid_argument', /^generator is for 'rtd'/],
  ['a type', ['mlm', kSentiment, ['a'], { mask_share: '1' }], 'invalid_argument', /^mask_share must be a number/],
  ['a share of words', ['mlm', kSentiment, ['a'], { mask_share: 1 }], 'invalid_argument', /Option mask_share is 1/],
  [
    'no number',
    ['rtd', kSentiment, ['a'], { detection_weight: NaN }],
    'invalid_argument',
    /^detection_weight must be a finite number, not NaN/,
  ],
])('%s is refused', async (_, given, code, message) => {
  await expect(loose(...(given as unknown[]))).rejects.toMatchObject({
    name: 'PeruseError',
    code,
    message: expect.stringMatching(message as RegExp),
  });
});
