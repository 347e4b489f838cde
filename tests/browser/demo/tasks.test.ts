// The two tabs do their work: results, timing, what was chosen, keyboard.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { shown, startDemo, type Demo, type Visit } from './demo.js';

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

const percentages = (text: string[]) => text.map((score) => Number.parseFloat(score));

describe('the classification tab', () => {
  it('classifies an example that is clicked: label, bars that add up, time', async () => {
    const panel = visit.page.locator('#classify');
    await panel.locator('.examples button').first().click();
    const bars = panel.locator('.bars li');
    await shown(panel, '.bars li');
    const scores = percentages(await bars.locator('.score').allTextContents());
    expect(scores).toHaveLength(2);
    expect(scores[0]).toBeGreaterThanOrEqual(50);
    expect(scores.reduce((sum, score) => sum + score)).toBeCloseTo(100, 0);
    expect(await panel.locator('.headline strong').textContent()).toBe(await bars.locator('.label').first().textContent());
    expect(await panel.locator('.headline').textContent()).toMatch(/in [\d.,]+\sm?s$/);
  });

  it('tells praise from complaint', async () => {
    const panel = visit.page.locator('#classify');
    const labels = [];
    for (const text of ['A warm and wonderful film, beautifully acted.', 'Dull, stupid and far too long: a terrible waste of time.']) {
      await panel.locator('textarea').fill(text);
      await panel.locator('[type=submit]').click();
      await panel.locator('blockquote', { hasText: text }).waitFor();
      labels.push(await panel.locator('.headline strong').textContent());
    }
    expect(labels).toEqual(['POSITIVE', 'NEGATIVE']);
  });

  it('says which build runs, on how many threads, and why', async () => {
    const panel = visit.page.locator('#classify');
    await panel.locator('.examples button').first().click();
    await shown(panel, '.bars li');
    const processors = await visit.page.evaluate(() => navigator.hardwareConcurrency);
    const runtime = await panel.locator('.runtime').textContent();
    expect(runtime).toMatch(processors > 1 ? /relaxed-threads.* on [2-9] threads of the CPU/ : /relaxed.* on 1 thread of the CPU/);
    expect(runtime).toMatch(/Model: [\d.]+\sMB, loaded in .*, [\d.]+\sMB of memory/);
  });

  it('shows text as text', async () => {
    const panel = visit.page.locator('#classify');
    await panel.locator('textarea').fill('<img src=x onerror=alert(1)> & good \u{1F600}');
    await panel.locator('[type=submit]').click();
    await shown(panel, '.bars li');
    expect(await panel.locator('blockquote').textContent()).toBe('<img src=x onerror=alert(1)> & good \u{1F600}');
  });
});

describe('the question answering tab', () => {
  it('marks the answer in the passage, and other candidates on demand', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Answer a question' }).click();
    const panel = page.locator('#answer');
    await panel.locator('.questions button').first().click();
    await shown(panel, 'mark');
    expect(await panel.locator('mark').textContent()).toBe(await panel.locator('.headline strong').textContent());
    expect(await panel.locator('blockquote').textContent()).toBe(await panel.locator('textarea').inputValue());

    const candidates = panel.locator('.candidates button');
    expect(await candidates.first().isVisible()).toBe(false);
    await panel.locator('.candidates summary').click();
    const scores = percentages(await candidates.locator('.score').allTextContents());
    expect(scores.length).toBeGreaterThan(1);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    await candidates.nth(1).click();
    expect(await panel.locator('mark').textContent()).toBe(await candidates.nth(1).locator('.label').textContent());
    expect(await candidates.nth(1).getAttribute('aria-pressed')).toBe('true');
    expect(await candidates.first().getAttribute('aria-pressed')).toBe('false');
  });

  it('marks the right place after characters outside the basic plane', async () => {
    const { page } = visit;
    await page.goto(`${demo.url}#answer`);
    const panel = page.locator('#answer');
    const passage = '\u{1F600}\u{1F600} caf\u00e9 \u{1D4D0}: The lighthouse was built in 1874 by Anna.';
    await panel.locator('textarea').fill(passage);
    await panel.locator('#answer-question').fill('When was the lighthouse built?');
    await panel.locator('#answer-question').press('Enter');
    await shown(panel, 'mark');
    const mark = await panel.locator('mark').textContent();
    expect(mark).toBe(await panel.locator('.headline strong').textContent());
    expect(await panel.locator('blockquote').textContent()).toBe(passage);
  });

  it('answers with an example passage that is chosen', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Answer a question' }).click();
    const panel = page.locator('#answer');
    await panel.getByRole('button', { name: 'The kettle' }).click();
    expect(await panel.locator('textarea').inputValue()).toMatch(/^I bought this kettle/);
    await panel.getByRole('button', { name: 'What is the weak point?' }).click();
    await shown(panel, 'mark');
    expect(await panel.locator('blockquote').textContent()).toMatch(/^I bought this kettle/);
  });
});

it('can be used by keyboard alone', async () => {
  const { page } = visit;
  const focus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('tab-classify');
  await page.keyboard.press('ArrowRight');
  expect(await focus()).toBe('tab-answer');
  expect(await page.locator('#classify').isVisible()).toBe(false);
  await page.keyboard.press('ArrowRight');
  expect(await focus()).toBe('tab-classify');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-answer');
  await page.keyboard.press('Home');
  await page.keyboard.press('End');
  expect(await focus()).toBe('tab-answer');
  expect(await page.locator('#answer').isVisible()).toBe(true);

  for (const name of ['The lighthouse', 'The kettle', 'The fox']) {
    await page.keyboard.press('Tab');
    expect(await focus()).toBe(name);
  }
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('answer-passage');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');  // The first example question.
  await shown(page.locator('#answer'), 'mark');
  while ((await focus()) !== 'All candidates') await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const second = page.locator('#answer .candidates button').nth(1);
  expect(await second.getAttribute('aria-pressed')).toBe('true');
});
