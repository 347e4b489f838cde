import type { Locator } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { file, type NamedFile, tinyClassifier, tinyNli, tinyTagger } from './checkpoints.js';
import { answered, chooseBundled, chooseFiles, type Demo, nameElsewhere, openDrawer, startDemo, trained, type Visit } from './demo.js';

let demo: Demo;
let visit: Visit;
let panel: Locator;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());
beforeEach(async () => {
  visit = await demo.visit({ at: 'sort' });
  panel = visit.page.locator('#sort');
  await trained(panel);
});
afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

async function expectTinyModel(): Promise<void> {
  await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
  await panel.locator('[name=text]').fill('a b c');
  await answered(panel);
  expect((await panel.locator('.details .bars .label').allTextContents()).sort()).toEqual(['LABEL_0', 'LABEL_1', 'LABEL_2']);
}

async function serveElsewhere(address: string, files: readonly NamedFile[]): Promise<void> {
  await visit.page.context().route(`${address}**`, (route) => {
    const found = files.find(({ name }) => route.request().url() === address + name);
    const headers = { 'access-control-allow-origin': '*' };
    return route.fulfill(found ? { body: found.buffer, headers } : { status: 404, headers, body: 'Entry not found' });
  });
}

it('classifies with chosen files, and with the demo model again', async () => {
  const before = visit.requests.length;
  await chooseFiles(panel, await tinyClassifier());
  await panel.locator('.chosen', { hasText: 'In use: config.json, model.safetensors, vocab.txt.' }).waitFor();
  await expectTinyModel();
  expect(visit.requests.slice(before).filter((address) => /config|safetensors|vocab/.test(address))).toEqual([]);

  await chooseBundled(panel);
  await panel.locator('.details .bars .label', { hasText: 'delivery' }).waitFor();
});

async function drop(files: readonly NamedFile[]): Promise<void> {
  const contents = files.map(({ name, buffer }) => ({ name, bytes: [...buffer] }));
  const dropped = await visit.page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const { name, bytes } of all) transfer.items.add(new File([new Uint8Array(bytes)], name));
    return transfer;
  }, contents);
  await visit.page.locator('footer').dispatchEvent('drop', { dataTransfer: dropped });
}

it('classifies with files that are dropped on the page', async () => {
  await drop(await tinyClassifier());
  await panel.locator('.chosen', { hasText: 'config.json' }).waitFor();
  expect(await visit.page.locator('#ask .chosen').textContent()).toBe('');
  await expectTinyModel();
});

it('reads a text that is dropped on the page, and leaves the model as it is', async () => {
  await drop([file('review.txt', 'A dull and predictable film.')]);
  await panel.locator('.headline strong', { hasText: 'Complaint' }).waitFor();
  expect(await panel.locator('[name=text]').inputValue()).toBe('A dull and predictable film.');
  expect(await panel.locator('.chosen').textContent()).toBe('');
  expect(await panel.locator('.model-name').textContent()).toMatch(/^Praise or complaint/);
});

it('says that a dropped picture is neither a text nor a model', async () => {
  await drop([file('photo.png', Buffer.from([137, 80, 78, 71, 0, 255, 254]))]);
  await panel.locator('.chosen', { hasText: '\u201cphoto.png\u201d is neither' }).waitFor();
  expect(await panel.locator('.headline strong').textContent()).toBe('4 lines');
});

it('names models of the hub with their sizes, and downloads no weights before it is told to', async () => {
  const address = 'https://huggingface.co/MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33/resolve/main/';
  await serveElsewhere(address, await tinyNli());
  await openDrawer(panel, 'model-drawer');
  await panel.locator('[name=model]').selectOption('elsewhere');
  const before = visit.requests.length;
  const first = panel.locator('.curated button').first();
  expect(await first.textContent()).toMatch(/^[\w-]+\/[\w.-]+ \d+\sMB, /);
  expect(visit.requests.slice(before)).toEqual([]);
  await first.click();
  await panel.locator('.downloads li').first().waitFor();
  expect(await panel.locator('.chosen p').textContent()).toBe('convbert, for Sort.');
  expect(await panel.locator('.downloads li').first().textContent()).toMatch(
    /^Use it: [\d.]+\skB \(\w+\) [\d.]+\skB of memory, fits this device$/,
  );
  expect(await panel.locator('.runtime').textContent(), 'the model is the one from before').toContain('MB, loaded');
  await panel.locator('.downloads button').first().click();
  await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
  await answered(panel);
  expect(await panel.locator('#sort-labels').isVisible(), 'a model of inference takes labels').toBe(true);
});

it('loads a better model with one press', async () => {
  const address = 'https://huggingface.co/MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33/resolve/main/';
  await serveElsewhere(address, await tinyNli());
  await panel.locator('.better').click();
  await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
  await answered(panel);
  expect(await panel.locator('.model-name').textContent()).toMatch(/^From the hub/);
});

it('says that a model is for another tab', async () => {
  await serveElsewhere('https://models.example/tagger/', await tinyTagger());
  await nameElsewhere(panel, 'https://models.example/tagger/');
  await panel.locator('.chosen p', { hasText: 'for Redact' }).waitFor();
  expect(await panel.locator('.downloads').count()).toBe(0);
});

it.each([
  ['a hub id', 'somebody/tiny-model', 'https://huggingface.co/somebody/tiny-model/resolve/main/'],
  ['an address', 'https://models.example/tiny/', 'https://models.example/tiny/'],
])('classifies with a model that is named by %s', async (_, name, address) => {
  await serveElsewhere(address, await tinyClassifier());
  await nameElsewhere(panel, name);
  await panel.locator('.downloads button').first().click();
  await expectTinyModel();
  expect(visit.requests.filter((request) => !request.startsWith(demo.url) && !request.startsWith(address))).toEqual([]);
});

it('keeps the model that it has until another one is loaded, and answers with it meanwhile', async () => {
  const address = 'https://huggingface.co/MoritzLaurer/deberta-v3-xsmall-zeroshot-v1.1-all-33/resolve/main/';
  let release = () => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  await serveElsewhere(address, await tinyNli());
  await visit.page.context().route(`${address}model.safetensors`, (route) => held.then(() => route.fallback()));
  await panel.locator('.better').click();
  await panel.locator('.loading').waitFor();
  await panel.locator('[name=text]').fill('Dull and far too long.');
  await panel.locator('.headline strong', { hasText: 'Complaint' }).waitFor();
  expect(await panel.locator('.loading').isVisible(), 'the other model still loads').toBe(true);
  release();
  await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
  await answered(panel);
  expect(await panel.locator('.model-name').textContent()).toMatch(/^From the hub/);
});

it('keeps its model if the hub cannot be reached, and says so in one sentence', async () => {
  await visit.page.context().route('https://huggingface.co/**', (route) => route.abort('connectionrefused'));
  await panel.locator('.better').click();
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error p').first().textContent()).toBe('That model cannot be reached now: the model that you had stays.');
  expect(await panel.locator('.sorted .slip').count(), 'its answer stays').toBe(4);
  expect(await panel.locator('.model-name').textContent()).toBe('Praise or complaint, ConvBERT');
  await panel.locator('[name=text]').fill('Dull and far too long.');
  await panel.locator('.headline strong', { hasText: 'Complaint' }).waitFor();
  expect(await panel.locator('.error').textContent()).toBe('');
});

it('keeps its model if the load of another one is cancelled', async () => {
  await visit.page.context().route('https://huggingface.co/**', () => {});
  await panel.locator('.better').click();
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await panel.locator('.error', { hasText: 'Cancelled: the model that you had stays.' }).waitFor();
  expect(await panel.locator('.loading').isVisible()).toBe(false);
  await panel.locator('[name=text]').fill('Dull and far too long.');
  await panel.locator('.headline strong', { hasText: 'Complaint' }).waitFor();
});

it('keeps its model while another one is not yet named', async () => {
  await openDrawer(panel, 'model-drawer');
  await panel.locator('[name=model]').selectOption('elsewhere');
  await panel.locator('[name=text]').fill('Dull and far too long.');
  await panel.locator('.headline strong', { hasText: 'Complaint' }).waitFor();
});

it('says kindly that a hub id leads nowhere', async () => {
  await serveElsewhere('https://huggingface.co/', []);
  await nameElsewhere(panel, 'somebody/nothing');
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('not_found');
  expect(await panel.locator('.error').textContent()).toMatch(/config\.json/);

  await nameElsewhere(panel, 'no id at all');
  await panel.locator('.error code', { hasText: 'invalid_argument' }).waitFor();
  await chooseBundled(panel);
  expect(await panel.locator('.error').textContent()).toBe('');
  await answered(panel);
});

it('says which model Peruse does not run, and goes on', async () => {
  const [, weights, vocabulary] = await tinyClassifier();
  await chooseFiles(panel, [file('config.json', '{"model_type": "gpt2"}'), weights, vocabulary]);
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('unsupported');
  expect(await panel.locator('.error').textContent()).toMatch(/gpt2/);

  await chooseBundled(panel);
  expect(await panel.locator('.error').textContent()).toBe('');
  await answered(panel);
});

it('says which file is missing', async () => {
  const [config, weights] = await tinyClassifier();
  await chooseFiles(panel, [config, weights]);
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('not_found');
  expect(await panel.locator('.error').textContent()).toMatch(/tokenizer\.json|vocab\.txt/);
});

it('says that there is no GPU, and goes on with the CPU', async () => {
  const withoutGpu = await startDemo({ gpu: false });
  try {
    const { page, complaints } = await withoutGpu.visit({ at: 'sort' });
    const own = page.locator('#sort');
    await trained(own);
    await openDrawer(own, 'model-drawer');
    await own.getByLabel('Device').selectOption('webgpu');
    await own.locator('.error code').waitFor();
    expect(await own.locator('.error code').textContent()).toBe('no_gpu');
    await own.getByLabel('Device').selectOption('cpu');
    await answered(own);
    expect(complaints).toEqual([]);
  } finally {
    await withoutGpu.close();
  }
});

it('computes the same on a GPU', async () => {
  visit.page.setDefaultTimeout(120_000); // a software GPU, in parallel with other tests
  const bars: string[] = [];
  await openDrawer(panel, 'model-drawer');
  for (const device of ['cpu', 'webgpu']) {
    if (device === 'webgpu') await panel.getByLabel('Device').selectOption(device);
    await panel.locator('.runtime', { hasText: device === 'cpu' ? ' of the CPU' : ' on the GPU' }).waitFor();
    await answered(panel);
    bars.push((await panel.locator('.details .bars li').allInnerTexts()).join());
  }
  expect(bars[1]).toBe(bars[0]);
}, 300_000);

it('races the ways of computing against each other', async () => {
  visit.page.setDefaultTimeout(300_000); // A software GPU takes part.
  await openDrawer(panel, 'race');
  await panel.locator('.start-race').click();
  await panel.locator('.race-said', { hasText: 'First: ' }).waitFor();
  expect(await visit.page.locator('.proof .since').textContent()).toBe('0'); // all its files were requested before
  const lanes = await panel.locator('.lanes .label').allTextContents();
  expect(lanes.slice(0, 4)).toEqual(['One thread', 'All threads', 'A server 80 ms away, as fast as your best', '8 bits (q8)']);
  const times = (await panel.locator('.lanes .score').allTextContents()).map((time) => {
    expect(time).toMatch(/^[\d.]+\sm?s$/);
    return Number.parseFloat(time) * (time.endsWith('ms') ? 1 : 1000);
  });
  const lengths = await panel
    .locator('.lanes .fill:not(.travel)')
    .evaluateAll((all) => all.map((fill) => Number((fill as HTMLElement).style.getPropertyValue('--score'))));
  expect(lengths.indexOf(Math.max(...lengths)), 'a bar is time').toBe(times.indexOf(Math.max(...times)));
  expect(Math.min(...times)).toBeLessThan(times[2]! - 50);
}, 320_000);

it.each(['fp16', 'q8'])('computes in %s, says so, and comes to the same label', async (precision) => {
  const labels: string[] = [];
  await openDrawer(panel, 'model-drawer');
  for (const [choice, words] of [
    ['fp32', '32-bit'],
    [precision, precision === 'q8' ? '8-bit' : '16-bit'],
  ] as const) {
    await panel.getByLabel('Precision').selectOption(choice);
    await panel.locator('.runtime', { hasText: ` ${words} weights on ` }).waitFor();
    await answered(panel);
    labels.push((await panel.locator('.details .bars .label').first().textContent())!);
  }
  expect(labels[1]).toBe(labels[0]);
});
