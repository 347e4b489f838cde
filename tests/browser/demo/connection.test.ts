// A tap on a tab gets the whole connection: downloads for other tabs end, and those of the service worker wait.
import type { BrowserContext } from 'playwright';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answered, type Demo, nameElsewhere, startDemo } from './demo.js';

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

const kTagger = /peruse-tagger.*safetensors\.gzip$/;
const kSorter = /peruse-zero-shot.*safetensors\.gzip$/;
const kReader = /peruse-reader.*safetensors(\.gzip)?$/;

/** Holds the requests for matching addresses until release(). */
function holding(address: RegExp) {
  let release = () => {};
  const released = new Promise<void>((done) => {
    release = done;
  });
  const before = async (context: BrowserContext) => {
    await context.route(address, async (route) => {
      await released;
      await route.continue().catch(() => {}); // The page may have ended the request.
    });
  };
  return { before, release };
}

it('ends the download of another tab, which starts again when that tab is shown', async () => {
  const { before, release } = holding(kTagger);
  const { page, complaints, close } = await demo.visit({ at: 'teach', before });
  const begun = page.waitForRequest(kTagger);
  await page.locator('#tab-redact').click();
  await begun;
  const ended = page.waitForEvent('requestfailed', (request) => kTagger.test(request.url()));
  await page.locator('#tab-sort').click();
  expect((await ended).failure()?.errorText).toBe('net::ERR_ABORTED');
  await answered(page.locator('#sort'));
  release();
  await page.locator('#tab-redact').click();
  await answered(page.locator('#redact'));
  expect(await page.locator('#redact .redacted').textContent()).toContain('[PER_1]');
  expect(complaints).toEqual([]);
  await close();
});

it('does not end the download of a model that the visitor has named', async () => {
  const { before, release } = holding(kReader);
  const { page, close } = await demo.visit({ at: 'ask' });
  const panel = page.locator('#ask');
  await answered(panel);
  await nameElsewhere(panel, `${demo.url}models/peruse-reader-deberta-tiny`);
  const button = panel.locator('.chosen button').first();
  await button.waitFor();
  await before(page.context());
  const named = page.waitForRequest(kReader);
  await button.click();
  await named;
  const failed: string[] = [];
  page.on('requestfailed', (request) => failed.push(request.url()));
  await page.locator('#tab-sort').click();
  await answered(page.locator('#sort'));
  expect(failed).toEqual([]);
  release();
  await page.locator('#tab-ask').click();
  await answered(panel);
  await close();
});

it('takes a tap before the page\u2019s script is there, and requests that tab\u2019s model at once', async () => {
  const { before, release } = holding(/app\/main\.js$/);
  const { page, requests, close } = await demo.visit({ at: 'teach' });
  await before(page.context());
  await page.goto('about:blank');
  const first = page.waitForRequest(kTagger);
  await page.goto(demo.url, { waitUntil: 'commit' });
  await first;
  requests.length = 0;
  const second = page.waitForRequest(kSorter);
  await page.locator('#tab-sort').click();
  await second;
  release();
  await answered(page.locator('#sort'));
  expect(new URL(page.url()).hash).toBe('#sort');
  expect(
    requests.filter((address) => kSorter.test(address)),
    'requested once',
  ).toHaveLength(1);
  expect(requests.filter((address) => kTagger.test(address))).toEqual([]);
  await close();
});

it('interrupts the service worker, which stores the rest afterwards', async () => {
  const { before, release } = holding(kSorter);
  const { page, complaints, close } = await demo.visit({ serviceWorkers: 'allow', before });
  const context = page.context();
  const storing = context.waitForEvent('request', (request) => kSorter.test(request.url()));
  await answered(page.locator('#redact'));
  expect((await storing).serviceWorker()).not.toBeNull();
  const ended = context.waitForEvent('requestfailed', (request) => kSorter.test(request.url()));
  await page.locator('#tab-ask').click();
  await ended;
  await answered(page.locator('#ask'));
  release();
  await page.locator('.kept', { hasText: 'All of it is stored on this device now.' }).waitFor();
  expect(complaints).toEqual([]);
  await close();
}, 60_000);
