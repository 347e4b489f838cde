// Details of the tabs that tests/browser/demo/tasks.test.ts leaves out.
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { SentimentFixture } from '../../node/support/demo_cases.js';
import { tinyTagger } from './checkpoints.js';
import { answered, chooseFiles, openDrawer } from './demo.js';
import { useTabs } from './tabs.js';

const tabs = useTabs();

describe('the redaction tab', () => {
  it('copies the redacted message, and the same words get the same placeholder', async () => {
    const panel = await tabs.openTab('redact');
    await tabs.visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('#redact-text').fill('Write to a@example.com, not b@example.com. I said a@example.com. On 2024-05-17, too.');
    await panel.locator('.redacted', { hasText: '[EMAIL_2]' }).waitFor();
    await panel.locator('.copy-text').click();
    await panel.getByText('Copied').waitFor();
    expect(await tabs.visit.page.evaluate(() => navigator.clipboard.readText())).toBe(
      'Write to [EMAIL_1], not [EMAIL_2]. I said [EMAIL_1]. On 2024-05-17, too.',
    );
  });

  it('marks what the model cannot read, and does not call it clean', async () => {
    const panel = await tabs.openTab('redact');
    await panel.locator('#redact-text').fill('\u738b\u4f1f\u5f88\u597d\u3002');
    await panel.locator('.redacted mark.unread').waitFor();
    await answered(panel);
    expect(await panel.locator('.redacted mark.unread').allTextContents()).toEqual(['\u738b\u4f1f\u5f88\u597d']);
    expect(await panel.locator('.headline').textContent()).toBe('4 letters are in a script that this model does not read.');
    await panel.locator('#redact-text').fill('All is well. Mail a@example.com.');
    await panel.locator('.redacted', { hasText: '[EMAIL_1]' }).waitFor();
    await answered(panel);
    expect(await panel.locator('.headline').textContent()).not.toContain('script');
  });

  it('marks what the model is not sure of, and lets a person decide', async () => {
    const panel = await tabs.openTab('redact');
    await chooseFiles(panel, await tinyTagger());
    await panel.locator('.runtime', { hasText: 'kB' }).waitFor();
    await panel.locator('#redact-text').fill('a, b. c, d. e, f. mary@example.org');
    await panel.locator('.redacted', { hasText: '[EMAIL_1]' }).waitFor();
    await answered(panel);
    expect(await panel.locator('.headline').textContent()).toContain('uncertain');
    const marks = panel.locator('.redacted mark.unsure');
    const before = await marks.count();
    expect(before).toBeGreaterThan(0);
    expect(await panel.locator('.redacted mark:not(.unsure)').allTextContents()).toEqual(['[EMAIL_1]']);
    const row = panel.locator('.found li', { has: panel.page().getByRole('button', { name: 'Not private' }) }).first();
    const words = (await row.locator('.label').textContent())!;
    await row.getByRole('button', { name: 'Not private' }).click();
    await expect.poll(() => marks.count()).toBe(before - 1);
    expect(await panel.locator('.redacted').textContent()).toContain(words);
    await openDrawer(panel, 'code');
    expect(await panel.locator('.code code').textContent()).toContain(`!${JSON.stringify([words])}.includes(text)`);
    await panel.getByRole('button', { name: 'Hide again' }).click();
    await expect.poll(() => marks.count()).toBe(before);
  });

  it('shows text as text', async () => {
    const panel = await tabs.openTab('redact');
    const text = '<img src=x onerror=alert(1)> & good \u{1F600}';
    await panel.locator('#redact-answer').fill(`${text} [LOC_1]`);
    expect(await panel.locator('.restored').textContent()).toBe(`${text} Boston`);
    await panel.locator('#redact-text').fill('5 <b>is</b> less than 6 & good \u{1F600}');
    await panel.locator('.redacted', { hasText: 'less than 6' }).waitFor();
    expect(await panel.locator('.redacted').textContent()).toBe('5 <b>is</b> less than 6 & good \u{1F600}');
    expect(await panel.locator('img, b').count()).toBe(0);
  });

  it('limits the height of a long result, which the keyboard can scroll', async () => {
    const panel = await tabs.openTab('redact');
    const quote = panel.locator('.redacted');
    expect(await quote.getAttribute('tabindex')).toBe(null);
    await panel.locator('#redact-text').fill('They came to New York. '.repeat(200));
    await panel.locator('.redacted mark', { hasText: 'LOC_1' }).nth(150).waitFor();
    await answered(panel);
    expect((await quote.boundingBox())!.height).toBeLessThan(450);
    expect(await quote.getAttribute('tabindex')).toBe('0');
  });

  it('reads a text that is longer than the model, all of it', async () => {
    const panel = await tabs.openTab('redact');
    await panel.locator('#redact-text').fill(`${'The weather was fine and they walked on. '.repeat(100)}Then they came to New York.`);
    await panel.locator('.found .label', { hasText: 'New York' }).waitFor({ state: 'attached' });
  });

  it('gives a link to the redacted message, never to the message itself', async () => {
    const panel = await tabs.openTab('redact');
    await tabs.visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('[name=text]').fill('Mary Johnson: mary@example.org, card 4111\u00a01111\u00a01111\u00a01111.');
    await panel.locator('.redacted').filter({ hasText: 'CARD_1', hasNotText: 'order' }).waitFor(); // the example has a card, too, and an order
    await panel.locator('.copy-link').click();
    await panel.getByText('Copied').waitFor();
    const link = decodeURIComponent((await tabs.visit.page.evaluate(() => navigator.clipboard.readText())).replaceAll('+', ' '));
    expect(link).toContain('#redact?text=[PER_1]: [EMAIL_1], card [CARD_1].');
    expect(link).not.toMatch(/Mary|example|4111/);
  });
});

describe('a message that is written from right to left', () => {
  it.each([
    ['Hebrew', '\u05e9\u05dc\u05d5\u05dd, \u05db\u05ea\u05d1\u05d5 \u05d0\u05dc a@example.com \u05de\u05d7\u05e8.'],
    [
      'Arabic',
      '\u0645\u0631\u062d\u0628\u0627\u060c \u0627\u0643\u062a\u0628\u0648\u0627 \u0625\u0644\u0649 a@example.com \u063a\u062f\u0627.',
    ],
  ])('keeps its order around placeholders: %s', async (_, message) => {
    const panel = await tabs.openTab('redact');
    await panel.locator('#redact-text').fill(message);
    const mark = panel.locator('.redacted mark', { hasText: 'EMAIL_1' });
    await mark.waitFor();
    await answered(panel);
    expect(await panel.locator('#redact-text').evaluate((field) => field.matches(':dir(rtl)'))).toBe(true);
    const [before, after] = await panel.locator('.redacted').evaluate((quote) => {
      const parts = [...quote.childNodes].filter((part) => /\p{L}/u.test(part.textContent ?? ''));
      return [parts[0]!, parts.at(-1)!].map((part) => {
        const range = document.createRange();
        range.selectNodeContents(part);
        return range.getBoundingClientRect().x;
      });
    });
    const heading = await panel.locator('.redacted').evaluate((quote) => getComputedStyle(quote, '::before').direction);
    expect(heading, 'the English heading').toBe('ltr');
    const { x } = (await mark.boundingBox())!;
    expect(before).toBeGreaterThan(x);
    expect(after).toBeLessThan(x);
    expect(await mark.evaluate((element) => element.matches(':dir(ltr)')), 'its brackets').toBe(true);
  });
});

describe('the sorting tab', () => {
  it('is not sure of a text whose labels are about equal', async () => {
    const { cases } = JSON.parse(
      await readFile(new URL('../../fixtures/demo/sentiment.json', import.meta.url), 'utf8'),
    ) as SentimentFixture;
    const best = ({ labels }: SentimentFixture['cases'][number]) => labels[0]!.score;
    const { text } = cases.filter((one) => /^[a-z .,'-]+$/.test(one.text)).sort((a, b) => best(a) - best(b))[0]!;
    const panel = await tabs.openReviews();
    await panel.locator('#sort-text').fill(text);
    await panel.locator('.headline strong', { hasText: 'Not sure' }).waitFor();
    expect(await panel.locator('.headline').textContent()).toMatch(/^Not sure \((Praise|Complaint), [56]\d(\.\d)?\s%\)$/);
    await answered(panel);
  });

  it('tints each word by what leaving it out changes', async () => {
    const panel = await tabs.openReviews();
    await panel.locator('#sort-text').fill('A dull film.');
    const words = panel.locator('.influence blockquote .word');
    await panel.locator('.influence-title', { hasText: 'Complaint' }).waitFor();
    expect(await words.allTextContents()).toEqual(['A', 'dull', 'film', '.']);
    const shares = await words.evaluateAll((all) => all.map((word) => Number(word.style.getPropertyValue('--share'))));
    expect(shares[1]).toBe(1);
    expect(await words.nth(1).getAttribute('class')).toBe('word for');
    expect(await words.nth(1).getAttribute('title')).toMatch(/^without it: \u2212[\d.]+\s%$/);
    expect(await tabs.visit.page.locator('.proof .since').textContent()).toBe('0');
  });

  it('reads a review that is longer than the model in parts, all of it', async () => {
    const panel = await tabs.openReviews();
    await panel.locator('#sort-text').fill(`${'A dull and stupid scene follows another. '.repeat(150)}Wonderful!`);
    await panel.locator('.headline', { hasText: /^Complaint [\d.]+\s%$/ }).waitFor();
    expect(await panel.locator('.error').textContent()).toBe('');
  });

  it('says how it computes in words that everybody knows', async () => {
    const panel = await tabs.openReviews();
    await openDrawer(panel, 'model-drawer');
    const runtime = await panel.locator('.runtime').textContent();
    expect(runtime).toMatch(/on [1-9] threads? of the CPU, by WebAssembly/); // As many as the measurement of a layer chose.
    expect(runtime).toMatch(/^[\d.]+\sMB, loaded in /);
    expect(runtime).not.toContain('relaxed-threads');
  });

  it('gives a link that carries the text, and opens such a link', async () => {
    const panel = await tabs.openTab('sort');
    await tabs.visit.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await panel.locator('[name=text]').fill('Will it snow & rain in Oslo?');
    await panel.locator('[name=labels]').fill('weather, music');
    await panel.locator('.copy-link').click();
    await panel.getByText('Copied').waitFor();
    const link = await tabs.visit.page.evaluate(() => navigator.clipboard.readText());
    expect(link.startsWith(`${tabs.demo.url}#sort?`)).toBe(true);

    const other = await tabs.openTab(link.slice(tabs.demo.url.length + 1));
    expect(await other.locator('[name=text]').inputValue()).toBe('Will it snow & rain in Oslo?');
    expect(await other.locator('.headline strong').textContent()).toBe('weather');
    expect(tabs.visit.requests.some((address) => address.includes('Oslo'))).toBe(false);
  });
});

describe('the asking tab', () => {
  it('reads a document that is longer than the model, all of it', async () => {
    const panel = await tabs.openTab('ask');
    await panel.locator('#ask-document').fill(`${'The weather was fine and they walked on. '.repeat(150)}The code of the gate is 5512.`);
    await panel.locator('#ask-question').fill('What is the code of the gate?');
    await panel.locator('.passages li').first().filter({ hasText: '5512' }).waitFor();
  });

  it('marks the right place after characters outside the basic plane', async () => {
    const panel = await tabs.openLighthouse();
    const passage = '\u{1F600}\u{1F600} caf\u00e9 \u{1D4D0}: The last keeper, Jonas Berg, left in 1874.';
    await panel.locator('#ask-document').fill(passage);
    await panel.locator('.whole', { hasText: passage }).waitFor({ state: 'attached' });
    await answered(panel);
    expect(await panel.locator('.whole mark').textContent()).toBe(await panel.locator('.headline strong').textContent());
    expect(await panel.locator('.whole').textContent()).toBe(passage);
  });

  it('never leaves an answer standing under another document', async () => {
    const panel = await tabs.openLighthouse();
    await panel.locator('#ask-document').fill('The last keeper was Maria Holm, who loved the sea.');
    await panel.locator('.passages mark', { hasText: 'Maria Holm' }).waitFor();
    expect(await panel.locator('.headline strong').textContent()).toBe('Maria Holm');
    await panel.locator('#ask-document').fill('');
    expect(await panel.locator('.details').isVisible()).toBe(false);
    expect(await panel.locator('.headline').textContent()).toBe('The words that answer will appear here.');
    await panel.getByRole('button', { name: 'The kettle' }).click();
    await panel.getByRole('button', { name: 'What is the weak point?' }).click();
    await panel.locator('.passages', { hasText: 'weak point' }).waitFor();
    await answered(panel);
    expect(await panel.locator('.headline strong').textContent()).toBe('The lid');
  });
});

it('goes back to the tab before by the back button, and keeps what was typed there', async () => {
  const panel = await tabs.openTab('sort?text=One+line.&labels=one%2C+two');
  const { page } = tabs.visit;
  await panel.locator('#sort-text').fill('Another line.');
  await page.locator('#tab-ask').click();
  await page.locator('#tab-teach').click();
  await page.goBack();
  expect(await page.locator('#ask').isVisible()).toBe(true);
  await page.goBack();
  expect(await panel.isVisible()).toBe(true);
  expect(await panel.locator('#sort-text').inputValue()).toBe('Another line.');
  await page.goForward();
  expect(await page.locator('#tab-ask').getAttribute('aria-selected')).toBe('true');
});

it('shows the chosen tab and the main button where the system chooses the colours', async () => {
  const { page } = await tabs.open({ forcedColors: 'active' });
  await answered(page.locator('#redact'));
  const colours = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
  const tabColours = await colours('[role=tab]');
  expect(new Set(tabColours.slice(1)).size).toBe(1);
  expect(tabColours[0]).not.toBe(tabColours[1]);
  expect((await colours('#redact .primary'))[0]).not.toBe((await colours('body'))[0]);
  await page.locator('#tab-sort').click();
  await answered(page.locator('#sort'));
  const [words, ground] = await page.locator('#sort .slip[aria-pressed=true]').evaluate((slip) => {
    const brightness = (colour: string) => (colour.match(/\d+/g) ?? []).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
    return [getComputedStyle(slip.querySelector('.label')!).color, getComputedStyle(slip).backgroundColor].map(brightness);
  });
  expect(Math.abs(words! - ground!), 'a chosen line can be read').toBeGreaterThan(250);
});

it('can be used by keyboard alone', async () => {
  const { page } = await tabs.open();
  const panel = page.locator('#redact');
  await answered(panel);
  const focus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('tab-redact');
  await page.keyboard.press('ArrowRight');
  expect(await focus()).toBe('tab-sort');
  expect(await panel.isVisible()).toBe(false);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-inside');
  await page.keyboard.press('Home');
  expect(await focus()).toBe('tab-redact');
  await page.keyboard.press('End');
  expect(await focus()).toBe('tab-inside');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-teach');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-ask');
  const ask = page.locator('#ask');
  await answered(ask);

  while ((await focus()) !== 'The lighthouse') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await ask.locator('.headline strong', { hasText: 'Jonas Berg' }).waitFor();
  await answered(ask);
  while ((await focus()) !== 'ask-document') await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('ask-question');
  while ((await focus()) !== 'What did the lamp burn until 1902?') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await ask.locator('.passages mark', { hasText: 'whale oil' }).waitFor();
  await answered(ask);
  while ((await focus()) !== 'Other answers, and where they stand') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await ask.locator('.candidates button').nth(1).getAttribute('aria-pressed')).toBe('true');
});
