// What a visitor may choose: a checkpoint of one's own, from files that never leave the machine; the device.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { shown, startDemo, type Demo, type Visit } from './demo.js';

interface NamedFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** A tiny random ConvBERT with three labels; its fixture has no tokenizer, so here is a vocabulary of the right length. */
async function tinyCheckpoint(): Promise<NamedFile[]> {
  const folder = new URL('../../fixtures/tiny/convbert-sequence/', import.meta.url);
  const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', ...Array.from({ length: 43 }, (_, index) => String.fromCharCode(97 + index))];
  return [
    file('config.json', await readFile(new URL('config.json', folder))),
    file('model.safetensors', await readFile(new URL('model.safetensors', folder))),
    file('vocab.txt', Buffer.from(`${words.join('\n')}\n`)),
  ];
}

function file(name: string, buffer: Buffer): NamedFile {
  return { name, mimeType: 'application/octet-stream', buffer };
}

let demo: Demo;
let visit: Visit;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());
beforeEach(async () => {
  visit = await demo.visit();
});
afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

it('classifies with chosen files, and with the demo model again', async () => {
  const panel = visit.page.locator('#classify');
  await panel.locator('.examples button').first().click();
  await shown(panel, '.bars li');
  await panel.getByText('Model and device').click();
  await panel.getByLabel('Files of a checkpoint of your own').setInputFiles(await tinyCheckpoint());
  expect(await panel.locator('.chosen').textContent()).toBe('In use: config.json, model.safetensors, vocab.txt.');
  expect(await panel.locator('.bars').isVisible()).toBe(false);

  const before = visit.requests.length;
  await panel.locator('[name=text]').fill('a b c');
  await panel.locator('[type=submit]').click();
  await shown(panel, '.bars li');
  expect((await panel.locator('.bars .label').allTextContents()).sort()).toEqual(['LABEL_0', 'LABEL_1', 'LABEL_2']);
  expect(visit.requests.slice(before).filter((address) => /config|safetensors|vocab/.test(address))).toEqual([]);

  await panel.getByRole('button', { name: 'Back to the demo model' }).click();
  await panel.locator('.examples button').first().click();
  await panel.locator('.bars .label', { hasText: 'POSITIVE' }).waitFor();
});

it('says which model Peruse does not run, and goes on', async () => {
  const panel = visit.page.locator('#classify');
  const [, weights, vocabulary] = await tinyCheckpoint();
  await panel.getByText('Model and device').click();
  await panel.getByLabel('Files of a checkpoint of your own').setInputFiles([
    file('config.json', Buffer.from('{"model_type": "gpt2"}')), weights as NamedFile, vocabulary as NamedFile,
  ]);
  await panel.locator('.examples button').first().click();
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('unsupported');
  expect(await panel.locator('.error').textContent()).toMatch(/gpt2/);

  await panel.getByRole('button', { name: 'Back to the demo model' }).click();
  expect(await panel.locator('.error').textContent()).toBe('');
  await panel.locator('.examples button').first().click();
  await shown(panel, '.bars li');
});

it('says which file is missing', async () => {
  const panel = visit.page.locator('#classify');
  const [config, weights] = await tinyCheckpoint();
  await panel.getByText('Model and device').click();
  await panel.getByLabel('Files of a checkpoint of your own').setInputFiles([config as NamedFile, weights as NamedFile]);
  await panel.locator('.examples button').first().click();
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('not_found');
  expect(await panel.locator('.error').textContent()).toMatch(/tokenizer\.json|vocab\.txt/);
});

it('says that there is no GPU, and goes on with the CPU', async () => {
  const withoutGpu = await startDemo({ gpu: false });
  try {
    const { page, complaints } = await withoutGpu.visit();
    const panel = page.locator('#classify');
    await panel.getByText('Model and device').click();
    await panel.getByLabel('Device').selectOption('webgpu');
    await panel.locator('.examples button').first().click();
    await panel.locator('.error code').waitFor();
    expect(await panel.locator('.error code').textContent()).toBe('no_gpu');
    await panel.getByLabel('Device').selectOption('cpu');
    await panel.locator('.examples button').first().click();
    await shown(panel, '.bars li');
    expect(complaints).toEqual([]);
  } finally {
    await withoutGpu.close();
  }
});

it('computes the same on a GPU', async () => {
  const panel = visit.page.locator('#classify');
  await panel.getByText('Model and device').click();
  const bars: string[] = [];
  for (const device of ['cpu', 'webgpu']) {
    await panel.getByLabel('Device').selectOption(device);
    await panel.locator('.examples button').first().click();
    await shown(panel, '.bars li');
    bars.push((await panel.locator('.bars li').allInnerTexts()).join());
  }
  expect(await panel.locator('.runtime').textContent()).toContain(' on the GPU');
  expect(bars[1]).toBe(bars[0]);
});
