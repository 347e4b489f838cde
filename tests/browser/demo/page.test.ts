// What holds for the page as a whole: privacy, plain static hosts, narrow screens, accessibility, a steady layout.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright';
import type { AxeResults, RunOptions } from 'axe-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shown, startDemo, type Demo } from './demo.js';

let demo: Demo;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

/** Uses both tabs, so that all of the page is there. */
async function useBoth(page: Page): Promise<void> {
  await page.locator('#tab-classify').click();
  await page.locator('#classify .examples button').first().click();
  await shown(page.locator('#classify'), '.bars li');
  await page.locator('#tab-answer').click();
  await page.locator('#answer .questions button').first().click();
  await shown(page.locator('#answer'), 'mark');
}

describe('privacy', () => {
  it('fetches nothing from anywhere else, and the models only when they are used', async () => {
    const { page, requests, complaints, close } = await demo.visit();
    await page.waitForLoadState('networkidle');
    expect(requests.filter((address) => /models|\.wasm/.test(address))).toEqual([]);
    await useBoth(page);
    expect(requests.some((address) => address.endsWith('.wasm'))).toBe(true);
    expect(requests.filter((address) => !address.startsWith(demo.url) && !address.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('makes no request at all once the models are there', async () => {
    const { page, requests, close } = await demo.visit();
    await useBoth(page);
    const before = requests.length;
    await page.context().setOffline(true);
    await page.locator('#answer-question').fill('Who was the last keeper?');
    await page.locator('#answer [type=submit]').click();
    await page.locator('#answer [aria-disabled=false]').waitFor();
    expect(await page.locator('#answer .error').textContent()).toBe('');
    expect(await page.locator('#answer mark').isVisible()).toBe(true);
    expect(requests.slice(before)).toEqual([]);
    await close();
  });
});

it('works without its server once both tabs have been used', async () => {
  const own = await startDemo();
  try {
    const { page, complaints } = await own.visit({ serviceWorkers: 'allow' });
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await useBoth(page);
    await page.waitForFunction(async () => (await (await caches.open('peruse-demo')).keys()).filter(({ url }) => url.endsWith('.safetensors')).length === 2);
    own.stopServer();
    await page.reload();
    await useBoth(page);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(complaints).toEqual([]);
  } finally {
    await own.close();
  }
});

describe('isolation', () => {
  it('is there behind our own server', async () => {
    const { page, close } = await demo.visit();
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await close();
  });

  it('is not needed: one thread then, and the page says why', async () => {
    const plain = await startDemo({ isolated: false });
    try {
      const { page, complaints } = await plain.visit();
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(false);
      await useBoth(page);
      expect(await page.locator('#answer .runtime').textContent()).toMatch(/on 1 thread of the CPU\..*not cross-origin isolated/);
      expect(complaints).toEqual([]);
    } finally {
      await plain.close();
    }
  });
});

it('has no link that leads nowhere', async () => {
  const { page, close } = await demo.visit();
  const links = await page.locator('a').evaluateAll((anchors) => anchors.map((anchor) => (anchor as HTMLAnchorElement).href));
  expect(links.length).toBeGreaterThan(0);
  for (const link of links) expect((await fetch(link)).status, link).toBe(200);
  await close();
});

it('states the scores that the models\u2019 cards state', async () => {
  const { page, close } = await demo.visit();
  const card = async (model: string) => (await fetch(`${demo.url}models/${model}/README.md`)).text();
  const row = (text: string, name: string) => text.split('\n').find((line) => line.startsWith(`| ${name}`)) ?? '';
  const stated = (name: string) => page.locator(`footer .${name}`).getAttribute('value');
  const classifier = await card('peruse-sentiment-convbert-tiny');
  // Columns: set, dev, test half.
  expect(row(classifier, 'rt-polarity').split('|')[3]).toContain(` ${await stated('rt-polarity')} `);
  expect(row(classifier, 'pros-cons').split('|')[3]).toContain(` ${await stated('pros-cons')} `);
  // Columns: set, questions, exact match, F1.
  const squad = row(await card('peruse-reader-deberta-tiny'), 'SQuAD').split('|').map((cell) => cell.trim());
  expect([squad[3], squad[4]]).toEqual([await stated('squad-exact'), await stated('squad-f1')]);
  await close();
});

describe('layout', () => {
  it('fits a screen of 320 pixels', async () => {
    const { page, close } = await demo.visit({ viewport: { width: 320, height: 640 } });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBe(0);
    await useBoth(page);
    await page.locator('#answer .candidates summary').click();
    expect(await overflow()).toBe(0);
    await page.locator('#answer-question').fill('');
    await page.locator('#answer [type=submit]').click();
    await page.locator('#answer .error code').waitFor();
    expect(await overflow()).toBe(0);
    await page.locator('#tab-classify').click();
    await page.locator('#classify .settings summary').click();
    await page.locator('#classify textarea').fill('x'.repeat(300));
    await page.locator('#classify [type=submit]').click();
    await page.locator('#classify blockquote', { hasText: 'xxx' }).waitFor();
    expect(await overflow()).toBe(0);
    await close();
  });

  it('does not jump while a model loads and answers', async () => {
    const { page, close } = await demo.visit();
    const footer = async () => (await page.locator('footer').boundingBox())?.y;
    const before = await footer();
    await page.locator('#classify .examples button').first().click();
    expect(await footer()).toBe(before);
    await shown(page.locator('#classify'), '.bars li');
    expect(await footer()).toBe(before);
    await close();
  });
});

describe.each(['light', 'dark'] as const)('accessibility, %s', (colorScheme) => {
  it('axe finds nothing', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const { page, close } = await demo.visit({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(axe);
    const findings = async () => {
      const options: RunOptions = { resultTypes: ['violations'] };
      const { violations } = await page.evaluate<AxeResults, RunOptions>(
        (runOptions) => (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run(document, runOptions), options,
      );
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
    };
    expect(await findings()).toEqual([]);
    await useBoth(page);
    await page.locator('#answer .candidates summary').click();
    expect(await findings()).toEqual([]);
    await page.locator('#answer-question').fill('');
    await page.locator('#answer [type=submit]').click();
    await page.locator('#answer .error code').waitFor();
    expect(await findings()).toEqual([]);
    await page.locator('#tab-classify').click();
    await page.locator('#classify .settings summary').click();
    expect(await findings()).toEqual([]);
    await close();
  });
});
