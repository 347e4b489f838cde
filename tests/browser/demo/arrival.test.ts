// The first seconds of a visit: the example types itself, and its details fly into the vault and back.
import { expect, it } from 'vitest';
import { answered } from './demo.js';
import { useTabs } from './tabs.js';

const tabs = useTabs();

const moving = { reducedMotion: 'no-preference' } as const;

it.each([
  [1280, 800],
  [390, 844],
])('plays once, by what the redactor found, without a shift, and leaves the caret in the message, %i x %i', async (width, height) => {
  const { page } = await tabs.open({ ...moving, viewport: { width, height } });
  await page.evaluate(() => {
    const shifts: unknown[] = [];
    Object.assign(window, { shifts });
    type Shift = PerformanceEntry & { value: number; sources: { node: Element | null }[] };
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries() as Shift[])
        shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? '')]);
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.arrival-typed')?.value.startsWith('Hello'));
  await page.locator('.arrival-flight', { hasText: 'Thomas Miller' }).first().waitFor({ state: 'attached' });
  await page.locator('.is-arriving.has-answer').waitFor();
  await page.locator('.arrival').waitFor({ state: 'detached' });
  const redact = page.locator('#redact');
  await answered(redact);
  expect(await redact.locator('.vault .label').allTextContents()).toContain('Boston');
  expect(
    await redact
      .locator('.restored mark')
      .first()
      .evaluate((mark) => getComputedStyle(mark).opacity),
  ).toBe('1');
  expect(await redact.locator('.actions .hint').first().textContent()).toBe('Now yours: just type');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('redact-text');
  expect(await page.evaluate(() => (window as unknown as { shifts: unknown[] }).shifts)).toEqual([]);
  await page.reload();
  await answered(redact);
  expect(await page.locator('.arrival').count(), 'not a second time').toBe(0);
});

it.each([
  ['key', 'Shift'],
  ['tap', ''],
  ['scroll', ''],
])('ends by a %s, and the answer is there', async (how, key) => {
  const { page } = await tabs.open(moving);
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.arrival-typed')?.value.startsWith('Hello'));
  if (how === 'key') await page.keyboard.press(key);
  else if (how === 'tap') await page.mouse.click(5, 5);
  else await page.mouse.wheel(0, 40);
  await page.locator('.arrival').waitFor({ state: 'detached' });
  const redact = page.locator('#redact');
  await answered(redact);
  expect(await redact.evaluate((panel) => panel.className)).toBe('sided');
  expect(await redact.locator('.redacted').evaluate((quote) => getComputedStyle(quote).opacity)).toBe('1');
  expect(await redact.locator('.actions .hint').first().textContent()).toBe('Now yours: just type');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('redact-text');
});

it('writes the letter that ends it, and follows a tap to another tab', async () => {
  const { page } = await tabs.open(moving);
  await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('.arrival-typed')?.value.startsWith('Hello'));
  await page.keyboard.press('Z');
  expect(await page.locator('#redact-text').inputValue()).toMatch(/1111\.Z$/);
  const other = await tabs.open(moving);
  await other.page.waitForFunction(() => document.querySelector('.arrival-typed') !== null);
  await other.page.locator('#tab-ask').click();
  await other.page.locator('.arrival').waitFor({ state: 'detached' });
  await answered(other.page.locator('#ask'));
  expect(await other.page.evaluate(() => document.activeElement?.id)).toBe('tab-ask');
});

it('leaves the caret in the message on a phone that was only watched, and opens no keyboard after a tap', async () => {
  const phone = { ...moving, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page } = await tabs.open(phone);
  await page.locator('.arrival').waitFor({ state: 'attached' });
  await page.locator('.arrival').waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.id === 'redact-text');
  const tapped = await tabs.open(phone);
  await tapped.page.locator('.arrival').waitFor({ state: 'attached' });
  await tapped.page.touchscreen.tap(380, 120);
  await tapped.page.locator('.arrival').waitFor({ state: 'detached' });
  await answered(tapped.page.locator('#redact'));
  expect(await tapped.page.evaluate(() => document.activeElement?.localName)).toBe('body');
});

it('shows the last frame at once to visitors who want less motion, and leads on to the tab that learns', async () => {
  const { page } = await tabs.open({ reducedMotion: 'reduce' });
  await answered(page.locator('#redact'));
  expect(await page.locator('.arrival').count()).toBe(0);
  await page.getByRole('button', { name: 'It also learns: show me' }).click();
  expect(await page.locator('#teach').isVisible()).toBe(true);
  await page.goBack();
  expect(await page.locator('#redact').isVisible()).toBe(true);
});
