import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answered, type Demo, kTabs, openDrawer, startDemo, trained } from './demo.js';

let demo: Demo;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

describe('layout', () => {
  it('fits a screen of 320 pixels', async () => {
    const { page, close } = await demo.visit({ viewport: { width: 320, height: 640 } });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(await overflow()).toBe(0);
    for (const tab of kTabs) {
      await page.locator(`#tab-${tab}`).click();
      await answered(page.locator(`#${tab}`));
      for (const drawer of ['code', 'race', 'model-drawer'] as const) await openDrawer(page.locator(`#${tab}`), drawer);
      expect(await overflow(), tab).toBe(0);
    }
    await page.locator('#ask .candidates summary').click();
    expect(await overflow()).toBe(0);
    await page.locator('#ask-question').fill('');
    await page.locator('#ask [type=submit]').click();
    await page.locator('#ask .error code').waitFor();
    expect(await overflow()).toBe(0);
    const sort = page.locator('#sort');
    await page.locator('#tab-sort').click();
    await trained(sort);
    await sort.locator('[name=text]').fill('x'.repeat(300));
    await answered(sort);
    await sort.locator('.look-inside').click();
    await page.locator('#inside .token').first().waitFor();
    expect(await overflow()).toBe(0);
    await page.locator('#tab-sort').click();
    await sort.locator('[name=model]').selectOption('elsewhere');
    await sort.locator('[name=address]').fill(`https://models.example/${'x'.repeat(300)}`);
    await sort.locator('.use').click();
    expect(await overflow()).toBe(0);
    await sort.locator('[name=model]').selectOption('own');
    expect(await overflow()).toBe(0);
    await close();
  });

  it.each([320, 1280])('a long label does not widen the page, %i pixels wide', async (width) => {
    const { page, close } = await demo.visit({ viewport: { width, height: 800 }, at: 'sort' });
    await answered(page.locator('#sort'));
    for (const lines of ['One line.', 'One line.\nAnother line.']) {
      await page.locator('#sort-text').fill(lines);
      await page.locator('#sort-labels').fill(`${'delivery'.repeat(40)}, payment`);
      await answered(page.locator('#sort'));
      await page.locator('#sort .bars .label', { hasText: 'deliverydelivery' }).waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
      const widths = await page.locator('#sort .bars .track').evaluateAll((tracks) => tracks.map((track) => track.clientWidth));
      for (const track of widths) expect(track).toBeGreaterThan(50);
    }
    await close();
  });

  it.each([390, 768, 960, 1280, 1920])(
    'Teach has its examples in one row, and next to a result it shows all lines, %i pixels wide',
    async (width) => {
      const { page, close } = await demo.visit({ viewport: { width, height: 800 }, at: 'teach' });
      const panel = page.locator('#teach');
      await panel.locator('.kind-field textarea').first().waitFor();
      const tops = await panel.locator('.examples button').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
      expect(tops.length).toBe(2);
      expect(new Set(tops).size).toBe(1);
      const hidden = await panel
        .locator('.kind-field textarea')
        .evaluateAll((all) => all.map((one) => one.scrollHeight - one.clientHeight));
      if (width > 896) expect(Math.max(...hidden)).toBe(0);
      await close();
    },
  );

  it('shows the result right under the input on a phone', async () => {
    const { page, close } = await demo.visit({ viewport: { width: 390, height: 844 } });
    await answered(page.locator('#redact'));
    const first = (await page.locator('#redact .redacted').boundingBox())!;
    expect(first.y, 'the first screen has the first lines of the first answer').toBeLessThan(844 - 48);
    for (const tab of kTabs) {
      await page.locator(`#tab-${tab}`).click();
      await answered(page.locator(`#${tab}`));
      const last = (await page.locator(`#${tab} .input`).boundingBox())!;
      const result = (await page.locator(`#${tab} .result`).boundingBox())!;
      expect(result.y - (last.y + last.height), tab).toBeLessThan(24);
    }
    await close();
  });

  it.each([
    [1280, 800],
    [390, 844],
  ])('has examples above the field, the button and the start of the result on the first screen, %i x %i', async (width, height) => {
    const { page, close } = await demo.visit({ viewport: { width, height } });
    for (const tab of [...kTabs, 'teach']) {
      await page.locator(`#tab-${tab}`).click();
      const panel = page.locator(`#${tab}`);
      if (tab !== 'teach') await answered(panel);
      await page.evaluate(() => scrollTo(0, 0));
      const box = async (selector: string) => (await panel.locator(selector).first().boundingBox())!;
      expect((await box('.examples button')).y, tab).toBeLessThan((await box('textarea')).y);
      const button = await box('.primary');
      expect(button.y + button.height, tab).toBeLessThan(height);
      expect((await box('.headline')).y + 48, tab).toBeLessThan(height);
    }
    await close();
  });

  it('brings the result onto the screen after a press', async () => {
    const { page, close } = await demo.visit({ viewport: { width: 390, height: 500 }, reducedMotion: 'reduce', at: 'sort' });
    const panel = page.locator('#sort');
    await answered(panel);
    await page.evaluate(() => scrollTo(0, 0));
    expect((await panel.locator('.headline').boundingBox())!.y).toBeGreaterThan(500);
    await panel.locator('[type=submit]').click();
    await expect.poll(async () => (await panel.locator('.headline').boundingBox())!.y).toBeLessThan(100);
    await close();
  });

  it.each([390, 1280])('gives each text of the footer a column of at least 300 pixels, %i pixels wide', async (width) => {
    const { page, close } = await demo.visit({ viewport: { width, height: 844 } });
    const widths = await page.locator('footer p').evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().width));
    expect(widths).toHaveLength(2);
    for (const each of widths) expect(each).toBeGreaterThan(300);
    await close();
  });

  it.each([390, 1280])('keeps figures and captions of the proof strip apart, %i pixels wide', async (width) => {
    const { page, close } = await demo.visit({ viewport: { width, height: 844 } });
    await answered(page.locator('#redact'));
    const gaps = await page.evaluate(() => {
      document.querySelector('.proof .last')!.textContent = '888\u00a0ms';
      document.querySelector('.proof .since')!.textContent = '188';
      document.querySelector('.proof .bytes-loaded')!.textContent = '188.8\u00a0MB in 188 files';
      return [...document.querySelectorAll<HTMLElement>('.proof > div')]
        .filter((pair) => pair.offsetParent !== null) // A phone shows two of them.
        .map((pair) => {
          const [caption, figure] = [...pair.children].map((part) => {
            const range = document.createRange();
            range.selectNodeContents(part);
            return range.getBoundingClientRect();
          });
          return caption!.left - figure!.right;
        });
    });
    for (const gap of gaps) expect(gap).toBeGreaterThan(4);
    await close();
  });

  it.each([390, 1400])('does not jump while the page and its models load and answer, %i pixels wide', async (width) => {
    const { page, close } = await demo.visit({ viewport: { width, height: 800 } });
    // Counted like the browser's own score, but with shifts shortly after a click.
    await page.evaluate(() => {
      const shifts: unknown[] = [];
      Object.assign(window, { shifts });
      type Shift = PerformanceEntry & { value: number; sources: { node: Element | null }[] };
      new PerformanceObserver((list) => {
        for (const { value, sources } of list.getEntries() as Shift[])
          shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 80) ?? '')]);
      }).observe({ type: 'layout-shift', buffered: true });
    });
    for (const tab of kTabs) {
      await page.locator(`#tab-${tab}`).click();
      await answered(page.locator(`#${tab}`));
    }
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await page.evaluate(() => (window as unknown as { shifts: unknown[] }).shifts)).toEqual([]);
    await close();
  });
});

// Dark and light may differ only in their colours.
describe.each<['light' | 'dark', RunOptions]>([
  ['light', {}],
  ['dark', { runOnly: ['color-contrast'] }],
])('accessibility, %s', (colorScheme, rules) => {
  it('axe finds nothing', async () => {
    const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    const { page, close } = await demo.visit({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(axe);
    const findings = async () => {
      const options: RunOptions = { resultTypes: ['violations'], ...rules };
      const { violations } = await page.evaluate<AxeResults, RunOptions>(
        (runOptions) => (globalThis as unknown as { axe: typeof import('axe-core') }).axe.run(document, runOptions),
        options,
      );
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
    };
    expect(await findings()).toEqual([]);
    for (const tab of kTabs) {
      const panel = page.locator(`#${tab}`);
      await page.locator(`#tab-${tab}`).click();
      await answered(panel);
      for (const drawer of ['code', 'race', 'model-drawer'] as const) await openDrawer(panel, drawer);
      for (const summary of await panel.locator('.details summary, .more summary').all())
        if (await summary.isVisible()) await summary.click();
      if (tab === 'sort') {
        await panel.getByRole('button', { name: 'One line' }).click();
        await panel.locator('.influence .word').first().waitFor();
      }
      expect(await findings(), tab).toEqual([]);
      await panel.locator('.look-inside').click();
      await page.locator('#inside .token').first().waitFor();
      expect(await findings(), `${tab}, inside`).toEqual([]);
    }
    await page.locator('#tab-teach').click();
    expect(await findings(), 'teach').toEqual([]);
    await page.locator('#tab-sort').click();
    for (const choice of ['own', 'elsewhere']) {
      await page.locator('#sort [name=model]').selectOption(choice);
      expect(await findings(), choice).toEqual([]);
    }
    await page.locator('#tab-ask').click();
    await page.locator('#ask-question').fill('');
    await page.locator('#ask [type=submit]').click();
    await page.locator('#ask .error code').waitFor();
    expect(await findings()).toEqual([]);
    await close();
  }, 180_000);
});
