// The demo page in Firefox and WebKitGTK, with the mouse, the keyboard and a phone's width: its first seconds play and end, every tab
// answers, teaches or looks inside, and the back button works.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startFirefox } from './firefox.js';
import { keyPresses, kKeys, mouseClick, type OtherBrowser } from './other_browser.js';
import { startWebKit } from './webkit.js';

const kSite = new URL('../../../tools/site.mjs', import.meta.url).href;
const kServer = new URL('../../../web/dist/cli/static_server.js', import.meta.url).href;
const kFolder = new URL('../../../build/others-site', import.meta.url).pathname;
const kPatience = { timeout: 60_000, interval: 200 };

let served: { url: string; close(): Promise<void> };
beforeAll(async () => {
  const { buildSite } = (await import(kSite)) as { buildSite(options: object): Promise<string> };
  const { serveFolders } = (await import(kServer)) as { serveFolders(folders: object): Promise<typeof served> };
  served = await serveFolders({ '/': await buildSite({ folder: kFolder, packed: true, pages: { docs: 'link' } }) });
});
afterAll(() => served?.close());

describe.each([
  ['Firefox', startFirefox],
  ['WebKitGTK', startWebKit],
])('%s', (_, start) => {
  let browser: OtherBrowser;
  beforeAll(async () => {
    browser = await start();
    await browser.goto(served.url);
  });
  afterAll(() => browser?.close());

  const text = (selector: string) => browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`);
  const texts = (selector: string) =>
    browser.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.textContent)`);
  const click = async (selector: string) => {
    const at = `(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    })()`;
    const [x, y] = (await browser.evaluate(at)) as [number, number];
    await browser.perform(mouseClick(x, y));
  };
  const focused = () => browser.evaluate('document.activeElement.id');
  const overflow = () => browser.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');

  test('the first seconds end with the names back in the answer', async () => {
    await expect.poll(() => text('#redact .redacted'), kPatience).toContain('[PER_1]');
    await expect.poll(() => browser.evaluate("document.querySelectorAll('.arrival, .is-arriving').length"), kPatience).toBe(0);
    expect(await texts('#redact .restored mark')).toEqual(['Thomas Miller', 'Boston', 'thomas.miller@example.org']);
    expect(await text('#redact .actions .hint')).toBe('Now yours: just type');
    await expect.poll(() => text('.proof .dare'), kPatience).toBe('Go offline: it keeps working.');
    expect(await text('.proof .since'), 'requests since the visitor arrived').toBe('0');
    await expect.poll(focused, kPatience).toBe('redact-text');
    await browser.perform(keyPresses([...' Paul Newman.']));
    await expect.poll(() => texts('#redact .vault .label'), kPatience).toContain('Paul Newman');
  });

  test('every tab answers, and the back button returns', async () => {
    await click('#tab-sort');
    await expect.poll(() => texts('#sort .tray mark'), kPatience).toEqual(['delivery', 'payment', 'account', 'praise']);
    await click('#tab-ask');
    await expect.poll(() => text('#ask .headline strong'), kPatience).toBe('Thursday mornings');
    await browser.evaluate('history.back() ?? true');
    await expect.poll(() => browser.evaluate("document.querySelector('#sort').hidden"), kPatience).toBe(false);
    await click('#sort .look-inside');
    await expect.poll(() => browser.evaluate("document.querySelectorAll('#inside .token').length"), kPatience).toBeGreaterThan(5);
    expect(await texts('.error')).toEqual(['', '', '', '']);
    expect(await overflow()).toBe(0);
  });

  test('the keyboard goes from tab to tab, into the field, and to another answer', async () => {
    await click('#tab-redact');
    await browser.perform(keyPresses([kKeys.Right, kKeys.Right]));
    expect(await focused()).toBe('tab-ask');
    await browser.evaluate("document.querySelector('#ask-question').select() ?? true");
    await browser.perform(keyPresses([...'Where is the password written?', kKeys.Enter]));
    await expect.poll(() => text('#ask .headline strong'), kPatience).toMatch(/router/);
  });

  test('it learns', { timeout: 120_000 }, async () => {
    await click('#tab-teach');
    await click('#teach .primary');
    await expect.poll(() => text('#teach .headline'), { ...kPatience, timeout: 110_000 }).toMatch(/^Learnt 16 lines/);
    expect(await browser.evaluate("document.querySelectorAll('#teach .learnt .bars li').length")).toBe(2);
  });

  test.each(['redact', 'sort', 'ask', 'teach', 'inside'])('%s fits a phone', async (tab) => {
    await browser.resize(390, 844);
    expect(await browser.evaluate('innerWidth')).toBeLessThan(450); // WebKitGTK's window has at least 447 pixels.
    await click(`#tab-${tab}`);
    expect(await browser.evaluate(`document.querySelector('#${tab}').hidden`)).toBe(false);
    expect(await overflow()).toBe(0);
  });
});
