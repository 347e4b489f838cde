// The four tabs do their work: results, timing, what was chosen, keyboard.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tinyNli } from './checkpoints.js';
import { chooseFiles, shown, startDemo, type Demo, type Visit } from './demo.js';

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
    expect(await panel.locator('.timing').textContent()).toMatch(/^[\d.,]+\sm?s · \d+ tokens · [\d,]+ tokens\/s · [\d.]+\sMB of memory$/);
  });

  it('tells praise from complaint', async () => {
    const panel = visit.page.locator('#classify');
    const labels = [];
    for (const text of ['A warm and wonderful film, beautifully acted.', 'Dull, stupid and far too long: a terrible waste of time.']) {
      await panel.locator('textarea').fill(text);
      await panel.locator('[type=submit]').click();
      await panel.locator('[aria-disabled=false]').waitFor();
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
    expect(runtime).toMatch(/Model: [\d.]+\sMB, loaded in /);
  });
});

describe('the zero-shot tab', () => {
  it('scores labels of one\u2019s own with a model of one\u2019s own', async () => {
    await visit.page.goto(`${demo.url}#zero-shot`);
    const panel = visit.page.locator('#zero-shot');
    await chooseFiles(panel, await tinyNli());
    await panel.locator('[name=text]').fill('a b c');
    await panel.locator('[name=labels]').fill('d, e, f g');
    await panel.locator('[name=template]').fill('a {} b');
    await panel.locator('[type=submit]').click();
    await shown(panel, '.bars li');
    const scores = percentages(await panel.locator('.bars .score').allTextContents());
    expect((await panel.locator('.bars .label').allTextContents()).sort()).toEqual(['d', 'e', 'f g']);
    expect(scores.reduce((sum, score) => sum + score)).toBeCloseTo(100, 0);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));

    await panel.getByLabel('Several labels may be true').check();
    await panel.locator('[type=submit]').click();
    await panel.locator('[aria-disabled=false]').waitFor();
    const single = percentages(await panel.locator('.bars .score').allTextContents());
    expect(single).not.toEqual(scores);
  });

  it('fills in an example and its labels', async () => {
    await visit.page.goto(`${demo.url}#zero-shot`);
    const panel = visit.page.locator('#zero-shot');
    await panel.locator('.examples button').first().click();
    expect(await panel.locator('[name=text]').inputValue()).toMatch(/parcel/);
    expect(await panel.locator('[name=labels]').inputValue()).toMatch(/refund/);
  });
});

describe('the question answering tab', () => {
  it('marks the answer in the passage, and other candidates on demand', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Answer' }).click();
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
    await page.getByRole('tab', { name: 'Answer' }).click();
    const panel = page.locator('#answer');
    await panel.getByRole('button', { name: 'The kettle' }).click();
    expect(await panel.locator('textarea').inputValue()).toMatch(/^I bought this kettle/);
    await panel.getByRole('button', { name: 'What is the weak point?' }).click();
    await shown(panel, 'mark');
    expect(await panel.locator('blockquote').textContent()).toMatch(/^I bought this kettle/);
  });
});

describe('the entities tab', () => {
  it('marks names and their kinds in the text, and lists their scores on demand', async () => {
    const { page } = visit;
    await page.getByRole('tab', { name: 'Entities' }).click();
    const panel = page.locator('#entities');
    await panel.locator('.examples button').first().click();
    await shown(panel, 'mark');
    const text = await panel.locator('textarea').inputValue();
    const marks = await panel.locator('mark').evaluateAll((all) => all.map((mark) => ({ words: mark.firstChild?.textContent, kind: mark.querySelector('.kind')?.textContent })));
    expect(marks).toContainEqual({ words: 'New York', kind: 'place' });
    for (const { words } of marks) expect(text).toContain(words);
    const quoted = await panel.locator('blockquote').evaluate((quote) => {
      const copy = quote.cloneNode(true) as HTMLElement;
      for (const kind of copy.querySelectorAll('.kind')) kind.remove();
      return copy.textContent;
    });
    expect(quoted).toBe(text);
    expect(await panel.locator('.headline strong').textContent()).toBe(String(marks.length));

    expect(await panel.locator('.found li').first().isVisible()).toBe(false);
    await panel.locator('.found summary').click();
    expect(await panel.locator('.found .label').allTextContents()).toEqual(marks.map(({ words }) => words));
    for (const score of percentages(await panel.locator('.found .score').allTextContents())) expect(score).toBeGreaterThan(0);
  });

  it('shows text as text', async () => {
    await visit.page.goto(`${demo.url}#entities`);
    const panel = visit.page.locator('#entities');
    const text = '<img src=x onerror=alert(1)> & good \u{1F600}';
    await panel.locator('textarea').fill(text);
    await panel.locator('[type=submit]').click();
    await panel.locator('[aria-disabled=false]').waitFor();
    expect(await panel.locator('.error').textContent()).toBe('');
    expect(await panel.locator('blockquote').textContent()).toContain(text);
  });

  it('reads a text that is longer than the model, all of it', async () => {
    await visit.page.goto(`${demo.url}#entities`);
    const panel = visit.page.locator('#entities');
    await panel.locator('textarea').fill(`${'The weather was fine and they walked on. '.repeat(100)}Then they came to New York.`);
    await panel.locator('[type=submit]').click();
    await shown(panel, 'mark');
    expect(await panel.locator('mark').last().textContent()).toMatch(/^New York/);
  });
});

it('can be used by keyboard alone', async () => {
  const { page } = visit;
  const focus = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent?.trim());
  await page.keyboard.press('Tab');
  expect(await focus()).toBe('tab-classify');
  await page.keyboard.press('ArrowRight');
  expect(await focus()).toBe('tab-zero-shot');
  expect(await page.locator('#classify').isVisible()).toBe(false);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await focus()).toBe('tab-entities');
  await page.keyboard.press('Home');
  expect(await focus()).toBe('tab-classify');
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
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
