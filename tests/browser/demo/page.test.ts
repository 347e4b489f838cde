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

/** Uses every tab, so that all of the page is there. Ends on the answer tab. */
async function useAll(page: Page): Promise<void> {
  await page.locator('#tab-classify').click();
  await page.locator('#classify .examples button').first().click();
  await shown(page.locator('#classify'), '.bars li');
  await page.locator('#tab-zero-shot').click();
  await page.locator('#zero-shot .examples button').first().click();
  await shown(page.locator('#zero-shot'), '.bars li');
  await page.locator('#tab-entities').click();
  await page.locator('#entities .examples button').first().click();
  await shown(page.locator('#entities'), 'mark');
  await page.locator('#tab-answer').click();
  await page.locator('#answer .questions button').first().click();
  await shown(page.locator('#answer'), 'mark');
}

describe('privacy', () => {
  it('fetches nothing from anywhere else, and the models only when they are used', async () => {
    const { page, requests, complaints, close } = await demo.visit();
    await page.waitForLoadState('networkidle');
    expect(requests.filter((address) => /models|\.wasm/.test(address))).toEqual([]);
    await useAll(page);
    expect(requests.some((address) => address.endsWith('.wasm'))).toBe(true);
    expect(requests.filter((address) => !address.startsWith(demo.url) && !address.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('makes no request at all once the models are there', async () => {
    const { page, requests, close } = await demo.visit();
    await useAll(page);
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

it('works without its server after the first visit', async () => {
  const own = await startDemo();
  try {
    const { page, complaints } = await own.visit({ serviceWorkers: 'allow' });
    await page.locator('.kept', { hasText: 'All of it is stored now.' }).waitFor();
    own.stopServer();
    await page.reload();
    await useAll(page);
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
      await useAll(page);
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
  // Columns: set, sentences, entities, precision, recall, F1.
  expect(row(await card('peruse-tagger-convbert-tiny'), 'wikigold test').split('|')[6]?.trim()).toBe(await stated('wikigold-f1'));
  // Columns: set, questions, exact match, F1.
  const squad = row(await card('peruse-reader-deberta-tiny'), 'SQuAD').split('|').map((cell) => cell.trim());
  expect([squad[3], squad[4]]).toEqual([await stated('squad-exact'), await stated('squad-f1')]);
  // Columns: set, labels, texts, chance, model.
  expect(row(await card('peruse-zero-shot-deberta-tiny'), 'Snips').split('|')[5]?.trim()).toBe(await stated('snips'));
  await close();
});

describe('layout', () => {
  it('fits a screen of 320 pixels', async () => {
    const { page, close } = await demo.visit({ viewport: { width: 320, height: 640 } });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBe(0);
    await useAll(page);
    await page.locator('#answer .candidates summary').click();
    expect(await overflow()).toBe(0);
    await page.locator('#answer-question').fill('');
    await page.locator('#answer [type=submit]').click();
    await page.locator('#answer .error code').waitFor();
    expect(await overflow()).toBe(0);
    await page.locator('#tab-classify').click();
    await page.locator('#classify textarea').fill('x'.repeat(300));
    await page.locator('#classify [type=submit]').click();
    await page.locator('#classify [aria-disabled=false]').waitFor();
    await page.locator('#classify .inside summary').click();
    await page.locator('#classify .token').first().waitFor();
    expect(await overflow()).toBe(0);
    await page.locator('#classify [name=model]').selectOption('elsewhere');
    await page.locator('#classify [name=address]').fill(`https://models.example/${'x'.repeat(300)}`);
    await page.locator('#classify .use').click();
    expect(await overflow()).toBe(0);
    await page.locator('#tab-zero-shot').click();
    await page.locator('#zero-shot [name=model]').selectOption('own');
    expect(await overflow()).toBe(0);
    await close();
  });

  it.each([390, 1400])('does not jump while the page and its models load and answer, %i pixels wide', async (width) => {
    const { page, close } = await demo.visit({ viewport: { width, height: 800 } });
    // As the browser itself counts it, shifts right after a click included.
    await page.evaluate(() => {
      const shifts: unknown[] = ((window as unknown as { shifts: unknown[] }).shifts = []);
      type Shift = PerformanceEntry & { value: number; sources: { node: Element | null }[] };
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries() as Shift[]) shifts.push([value, ...sources.map(({ node }) => node?.className ?? '')]);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.locator('#classify .examples button').first().click();
    await shown(page.locator('#classify'), '.bars li');
    await page.locator('#tab-entities').click();
    await page.locator('#entities .examples button').first().click();
    await shown(page.locator('#entities'), 'mark');
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await page.evaluate(() => (window as unknown as { shifts: unknown[] }).shifts)).toEqual([]);
    await close();
  });
});

// Dark and light differ in their colours only.
describe.each<['light' | 'dark', RunOptions]>([['light', {}], ['dark', { runOnly: ['color-contrast'] }]])('accessibility, %s', (colorScheme, rules) => {
  it('axe finds nothing', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const { page, close } = await demo.visit({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(axe);
    const findings = async () => {
      const options: RunOptions = { resultTypes: ['violations'], ...rules };
      const { violations } = await page.evaluate<AxeResults, RunOptions>(
        (runOptions) => (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run(document, runOptions), options,
      );
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
    };
    expect(await findings()).toEqual([]);
    await useAll(page);
    await page.locator('#answer .candidates summary').click();
    await page.locator('#answer .inside summary').click();
    await page.locator('#answer .token').first().waitFor();
    expect(await findings()).toEqual([]);
    await page.locator('#answer-question').fill('');
    await page.locator('#answer [type=submit]').click();
    await page.locator('#answer .error code').waitFor();
    expect(await findings()).toEqual([]);
    await page.locator('#tab-entities').click();
    await page.locator('#entities .found summary').click();
    expect(await findings()).toEqual([]);
    await page.locator('#tab-zero-shot').click();
    await page.locator('#zero-shot [name=model]').selectOption('own');
    expect(await findings()).toEqual([]);
    await page.locator('#tab-classify').click();
    await page.locator('#classify [name=model]').selectOption('elsewhere');
    expect(await findings()).toEqual([]);
    await page.locator('#classify [name=model]').selectOption({ index: 0 });
    await page.locator('#classify .examples button').first().click();
    await shown(page.locator('#classify'), '.bars li');
    await page.locator('#classify .inside summary').click();
    await page.locator('#classify .kernels').waitFor();
    expect(await findings()).toEqual([]);
    await close();
  }, 120_000);
});
