import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answered, type Demo, kTabs, startDemo } from './demo.js';

let demo: Demo;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

/** Opens every tab and waits for its answer, so that the page is complete. The last tab is the one for questions. */
async function useAll(page: Page): Promise<void> {
  for (const tab of kTabs) {
    await page.locator(`#tab-${tab}`).click();
    await answered(page.locator(`#${tab}`));
  }
}

/** Waits until no request begins for a second. Playwright's 'networkidle' waits for ever if a request's end is not reported (seen once). */
async function settled(requests: string[]): Promise<void> {
  for (let seen = -1; requests.length !== seen; ) {
    seen = requests.length;
    await sleep(1000);
  }
}

const modelsIn = (requests: string[]) => [...new Set(requests.flatMap((address) => /models\/([^/]+)\//.exec(address)?.[1] ?? []))];

describe('privacy', () => {
  it('fetches the model of the opening tab, another when its tab is opened, and nothing from anywhere else', async () => {
    const { page, requests, complaints, close } = await demo.visit();
    await answered(page.locator('#redact'));
    await settled(requests);
    expect(modelsIn(requests)).toEqual(['peruse-tagger-convbert-tiny']);
    const files = requests.filter((address) => address.includes('/models/'));
    expect(files, 'each file is requested once').toHaveLength(new Set(files).size);
    await page.locator('#tab-ask').click();
    await answered(page.locator('#ask'));
    expect(modelsIn(requests)).toEqual(['peruse-tagger-convbert-tiny', 'peruse-reader-deberta-tiny']);
    expect(requests.filter((address) => !address.startsWith(demo.url) && !address.startsWith('data:'))).toEqual([]);
    expect(complaints).toEqual([]);
    await close();
  });

  it('makes no request at all once the models are there', async () => {
    const { page, requests, close } = await demo.visit();
    await useAll(page);
    const before = requests.length;
    await page.context().setOffline(true);
    await page.locator('#ask-question').fill('Where is the password written?');
    await page.locator('#ask .headline', { hasText: 'router' }).waitFor();
    expect(requests.slice(before)).toEqual([]);
    await close();
  });
});

describe('the proof strip', () => {
  it('counts what is asked for, the service worker\u2019s witness included, and nothing while one types', async () => {
    const { page, requests, close } = await demo.visit({ serviceWorkers: 'allow' });
    const figure = (name: string) => page.locator(`.proof .${name}`).textContent();
    await answered(page.locator('#redact'));
    expect(await figure('since')).toBe('0');
    expect(await page.locator('.proof dd').first().textContent()).toBe('Nothing sent. 0');
    expect(await page.locator('.proof dt').first().textContent()).toBe('requests since you arrived');
    expect(await figure('last')).toMatch(/^[\d.]+\sms$/);
    expect(await figure('connection')).toBe('online');
    const [, megabytes, files] = /^([\d.]+)\sMB in (\d+) files$/.exec((await figure('bytes-loaded')) ?? '')!;
    expect(Number(megabytes)).toBeGreaterThan(2.6); // The model alone, in 8 bits.
    expect(Number(files)).toBeGreaterThan(10);
    expect(requests.length).toBeGreaterThan(10);

    await page.locator('#redact-text').pressSequentially(' Next week I am in Paris.');
    await page.locator('#redact .redacted', { hasText: 'Next week I am in [LOC_2]' }).waitFor();
    expect(await figure('since')).toBe('0');
    await page.evaluate(() => fetch('./icon.svg?of-the-test'));
    await page.locator('.proof .since', { hasText: '1' }).waitFor();
    expect(await page.locator('.proof .nothing').isVisible()).toBe(false);
    expect(await page.locator('.proof .what').textContent()).toBe('request');
    await page.context().setOffline(true);
    await page.locator('.proof .connection', { hasText: 'offline' }).waitFor();
    expect(await page.locator('.proof .dare').textContent()).toBe('It still answers.');
    await close();
  });
});

it('works without its server after the first visit: it stores the rest by itself, and says when', async () => {
  const own = await startDemo();
  try {
    const { page, complaints, requests } = await own.visit({ serviceWorkers: 'allow' });
    page.setDefaultTimeout(60_000);
    await answered(page.locator('#redact'));
    expect(requests.filter((address) => /models\/(?!peruse-tagger)/.test(address))).toEqual([]); // Not before the first answer.
    await page.locator('.kept', { hasText: 'All of it is stored on this device now.' }).waitFor();
    expect(await page.locator('.proof .dare').textContent()).toBe('Go offline: it keeps working.');
    const asked: string[] = []; // by the service worker
    page.context().on('request', (request) => void (request.serviceWorker() && asked.push(request.url())));
    await page.reload();
    await answered(page.locator('#redact'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((address) => /\.(wasm|safetensors)/.test(address))).toEqual([]);
    own.stopServer();
    await page.reload();
    await useAll(page);
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(complaints).toEqual([]);
  } finally {
    await own.close();
  }
}, 180_000);

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
      expect(await page.locator('#ask .runtime').textContent()).toMatch(/on 1 thread of the CPU, .*not cross-origin isolated/);
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

it('does not talk its models down', async () => {
  const { page, close } = await demo.visit();
  const words = await page.locator('body').evaluate((body) => body.textContent);
  expect(words).not.toMatch(/\b(now and then|far below|not how well|wrong|only a demonstration|demonstration models|very small)\b/i);
  await close();
});
