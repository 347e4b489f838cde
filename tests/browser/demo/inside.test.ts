// "Look inside": tokens, attention maps, span kernels and diagonal concentration, all about the same word and head.
import type { Locator } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
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

async function classifyAndLook(): Promise<Locator> {
  const panel = visit.page.locator('#classify');
  await panel.locator('textarea').fill('A warm, funny film.');
  await panel.locator('[type=submit]').click();
  await shown(panel, '.bars li');
  await panel.locator('.inside summary').click();
  await panel.locator('.kernels').waitFor();
  return panel.locator('.inside');
}

it('shows the tokens, and from the one that is pointed at how much the others are looked at', async () => {
  const inside = await classifyAndLook();
  const tokens = inside.locator('.token');
  expect(await tokens.allTextContents()).toEqual(['[CLS]', 'A', 'warm', ',', 'funny', 'film', '.', '[SEP]']);
  await tokens.nth(4).hover();
  expect(await tokens.nth(4).getAttribute('aria-pressed')).toBe('true');
  const said = await inside.locator('.readout').textContent();
  expect(said).toMatch(/^Layer 1, head 1: from \u201cfunny\u201d mostly to \u201c.*\u201d [\d.]+\s%, /);
  const weights = await tokens.evaluateAll((all) => all.map((token) => Number(token.style.getPropertyValue('--weight'))));
  const most = await tokens.nth(weights.indexOf(Math.max(...weights))).textContent();
  expect(Math.max(...weights)).toBe(1);
  expect(said).toContain(`mostly to \u201c${most}\u201d`);
  expect(await inside.locator('.map-row').evaluate((row) => row.style.getPropertyValue('--at'))).toBe('4');
  expect(await inside.locator('.taps .middle .tap-word').textContent()).toBe('funny');
  const taps = (await inside.locator('.taps .score').allTextContents()).map((score) => Number.parseFloat(score));
  expect(taps).toHaveLength(9);
  expect(taps.reduce((sum, tap) => sum + tap)).toBeGreaterThan(94);  // Rounded one by one.
  expect(await inside.locator('.concentration li').count()).toBe(4);
});

it('shows another head that is chosen, and what the map says where it is pointed at', async () => {
  const inside = await classifyAndLook();
  await inside.getByRole('button', { name: 'Layer 3, head 2' }).click();
  expect(await inside.locator('.attention h2').textContent()).toBe('Layer 3, head 2');
  expect(await inside.locator('.kernels h2').textContent()).toBe('Span kernel, layer 3, head 2');
  const map = inside.locator('canvas.map');
  const box = (await map.boundingBox())!;
  const cell = (index: number) => ((index + 0.5) / 8) * box.width;
  await map.hover({ position: { x: cell(5), y: cell(2) } });
  expect(await inside.locator('.readout').textContent()).toMatch(/^Layer 3, head 2: from \u201cwarm\u201d to \u201cfilm\u201d [\d.]+\s%\.$/);
  expect(await inside.locator('.token').nth(2).getAttribute('aria-pressed')).toBe('true');
  expect(await inside.locator('.token.looked-at').textContent()).toBe('film');
});

it('goes from word to word by arrow keys', async () => {
  const inside = await classifyAndLook();
  await inside.locator('.token').first().focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft']) await visit.page.keyboard.press(key);
  expect(await inside.locator('.readout').textContent()).toMatch(/from \u201cwarm\u201d/);
  await visit.page.keyboard.press('Tab');
  await visit.page.keyboard.press('ArrowRight');
  expect(await inside.locator('.readout').textContent()).toMatch(/^Layer 1, head 2: from \u201cwarm\u201d/);
});

it('looks at question and passage of a model without span kernels, and anew at every call', async () => {
  await visit.page.goto(`${demo.url}#answer`);
  const panel = visit.page.locator('#answer');
  await panel.locator('.questions button').first().click();
  await shown(panel, 'mark');
  await panel.locator('.inside summary').click();
  await panel.locator('.token').first().waitFor();
  expect(await panel.locator('.kernels').count()).toBe(0);
  expect((await panel.locator('.token').allTextContents()).join(' ')).toMatch(/^\[CLS\] When was the light ?house .*\[SEP\] The light/);
  await panel.getByRole('button', { name: 'The kettle' }).click();
  await panel.locator('.questions button').first().click();
  await panel.locator('.token', { hasText: 'daughter' }).waitFor();
});

it('says so where there is nothing to look at yet', async () => {
  const inside = visit.page.locator('#classify .inside');
  await inside.locator('summary').click();
  expect(await inside.locator('.hint').textContent()).toMatch(/^Ask something first/);
});

it('shows the beginning of a text that is longer than the model, and says so', async () => {
  await visit.page.goto(`${demo.url}#entities`);
  const panel = visit.page.locator('#entities');
  await panel.locator('textarea').fill('They came to New York. '.repeat(200));
  await panel.locator('[type=submit]').click();
  await shown(panel, 'mark');
  await panel.locator('.inside summary').click();
  await panel.locator('.hint', { hasText: 'Only the first 512 tokens' }).waitFor();
  expect(await panel.locator('.token').count()).toBe(512);
});
