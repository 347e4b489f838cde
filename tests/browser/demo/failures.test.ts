// Failures that a visitor can cause: each has a helpful message in the right place, and the page continues to work.
import type { Locator, Route } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { hugeClassifier } from './checkpoints.js';
import { answered, chooseBundled, chooseFiles, type Demo, openDrawer, shown, startDemo, type Visit } from './demo.js';

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

/** `act` handles the requests for a file until the returned function is called. (Playwright's unroute() may never return.) */
async function intercept(file: string, act: (route: Route) => Promise<void>): Promise<() => void> {
  let isOver = false;
  await visit.page.context().route(`**/${file}`, (route) => (isOver ? route.continue() : act(route)));
  return () => {
    isOver = true;
  };
}

async function expectStillWorks(): Promise<void> {
  const panel = visit.page.locator('#sort');
  await panel.locator('.examples button').first().click();
  await answered(panel);
  expect(await panel.locator('.details .sorted').isVisible()).toBe(true);
  expect(await panel.locator('.error').textContent()).toBe('');
}

async function open(tab: string): Promise<Locator> {
  await visit.page.locator(`#tab-${tab}`).click();
  return visit.page.locator(`#${tab}`);
}

it('an empty text', async () => {
  const panel = await open('sort');
  await answered(panel);
  await panel.locator('#sort-text').fill('');
  await panel.locator('[type=submit]').click();
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('empty_text');
  expect(await panel.locator('.error').textContent()).toMatch(/nothing to read yet/);
  expect(await panel.locator('#sort-text').getAttribute('aria-invalid')).toBe('true');
  expect(await visit.page.evaluate(() => document.activeElement?.id)).toBe('sort-text');
  await expectStillWorks();
  expect(await panel.locator('#sort-text').getAttribute('aria-invalid')).toBe(null);
});

it('an empty question', async () => {
  const panel = await open('ask');
  await answered(panel);
  await panel.locator('#ask-question').fill('');
  await panel.locator('[type=submit]').click();
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('empty_text');
  expect(await visit.page.evaluate(() => document.activeElement?.id)).toBe('ask-question');
  await panel.locator('.examples button').first().click();
  await shown(panel, 'mark');
});

it('a model that cannot be reached', async () => {
  const stop = await intercept('model.safetensors*', (route) => route.abort('connectionreset'));
  const panel = await open('sort');
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('network');
  expect(await panel.locator('.error').textContent()).toMatch(/model\.safetensors/);
  stop();
  await expectStillWorks();
});

it('a model that is not there', async () => {
  const stop = await intercept('config.json', (route) => route.fulfill({ status: 404, body: 'no' }));
  const panel = await open('sort');
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('not_found');
  stop();
  await expectStillWorks();
});

async function half(route: Route): Promise<void> {
  const body = await (await route.fetch()).body();
  await route.fulfill({ body: body.subarray(0, body.length / 2) });
}

it('a model that arrives damaged', async () => {
  const stop = await intercept('model.safetensors*', half);
  const panel = await open('sort');
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('truncated_file');
  stop();
  await expectStillWorks();
});

it('weights that arrive damaged in compressed form are requested as they are', async () => {
  const stop = await intercept('model.safetensors.gzip', half);
  const panel = await open('sort');
  await answered(panel);
  stop();
});

it('cancelling while the model loads', async () => {
  const held: (() => void)[] = [];
  const stop = await intercept('model.safetensors.gzip', async (route) => {
    await new Promise<void>((release) => held.push(release));
    await route.continue().catch(() => {}); // The page may have given up the request.
  });
  const panel = await open('sort');
  await panel.locator('.headline', { hasText: 'Loading the model' }).waitFor();
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await panel.locator('.headline', { hasText: 'Cancelled.' }).waitFor();
  expect(await panel.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false);
  expect(await visit.page.evaluate(() => document.activeElement?.textContent)).toBe('Sort');
  expect(await panel.locator('.error').textContent()).toBe('');
  stop();
  for (const release of held) release();
  await expectStillWorks();
});

it('cancelling while the model reads', async () => {
  const panel = await open('ask');
  await answered(panel);
  await panel.locator('[name=document]').fill('The lamp burned whale oil until 1902. '.repeat(20_000));
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await panel.locator('.headline', { hasText: 'Cancelled.' }).waitFor();
  expect(await panel.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false);
  await panel.getByRole('button', { name: 'The kettle' }).click();
  await shown(panel, 'mark');
});

it('a model that the memory does not hold', async () => {
  const panel = await open('sort');
  await answered(panel);
  await chooseFiles(panel, await hugeClassifier());
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('out_of_memory');
  expect(await panel.locator('.error').textContent()).toMatch(/not enough memory/);
  await chooseBundled(panel);
  await expectStillWorks();
});

it('a GPU that goes away', async () => {
  const panel = await open('ask');
  visit.page.setDefaultTimeout(120_000); // A software GPU that starts twice.
  await answered(panel);
  await openDrawer(panel, 'model-drawer');
  await panel.getByLabel('Device').selectOption('webgpu');
  await panel.locator('.runtime', { hasText: ' on the GPU' }).waitFor();
  await answered(panel);
  // Calls for a minute, so that the GPU is lost during a call. (If it is lost between calls, the next call loads the model again.)
  await panel.locator('[name=document]').fill('The lamp burned whale oil until 1902. '.repeat(2_000));
  await panel.getByRole('button', { name: 'Cancel' }).waitFor();
  await (await demo.browser.newBrowserCDPSession()).send('Browser.crashGpuProcess');
  await panel.locator('.error code').waitFor();
  expect(await panel.locator('.error code').textContent()).toBe('gpu_lost');
  expect(await panel.locator('.error').textContent()).toMatch(/The GPU went away/);
  await panel.getByRole('button', { name: 'The kettle' }).click();
  await shown(panel, 'mark');
  expect(await panel.locator('.error').textContent()).toBe('');
}, 300_000);
