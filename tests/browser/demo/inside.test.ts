import type { Locator } from 'playwright';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { answered, type Demo, startDemo, trained, type Visit } from './demo.js';

let demo: Demo;
let visit: Visit;

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());
beforeEach(async () => {
  visit = await demo.visit({ at: 'sort' });
  await trained(visit.page.locator('#sort'));
});
afterEach(async () => {
  expect(visit.complaints).toEqual([]);
  await visit.close();
});

async function look(panel: Locator, step: string): Promise<Locator> {
  const inside = panel.page().locator('#inside');
  await panel.locator('.look-inside').click();
  await inside.locator('.steps button', { hasText: step }).click();
  return inside;
}

async function lookAtRemark(step: string): Promise<Locator> {
  const panel = visit.page.locator('#sort');
  await panel.locator('textarea').fill('A warm, funny film.');
  await answered(panel);
  return look(panel, step);
}

it('goes in steps, one sentence each', async () => {
  const inside = await lookAtRemark('Tokens');
  const names = ['1 Tokens', '2 Embedding', '3 Attention', '4 Convolution', '5 Answer'];
  expect(await inside.locator('.steps button').allTextContents()).toEqual(names);
  for (const name of names) {
    expect(await inside.locator('.steps [aria-pressed=true]').textContent()).toBe(name);
    expect(await inside.locator('.sentence').textContent()).toMatch(/^[A-Z][^.]+\.$/);
    if (name !== '5 Answer') await inside.locator('.next').click();
  }
  expect(await inside.locator('.next').isVisible()).toBe(false);
});

it('shows tokens and embeddings, and which are like the one that is pointed at', async () => {
  const inside = await lookAtRemark('Embedding');
  const tokens = inside.locator('.strip .token');
  expect(await tokens.allTextContents()).toEqual(['[CLS]', 'A', 'warm', ',', 'funny', 'film', '.', '[SEP]']);
  expect(await inside.locator('.sentence').textContent()).toContain('128 numbers');
  await tokens.nth(4).hover();
  expect(await tokens.nth(4).getAttribute('aria-pressed')).toBe('true');
  expect(await inside.locator('.embedding h3').textContent()).toBe('Nearest to \u201cfunny\u201d in this text');
  const near = await inside.locator('.embedding .label').allTextContents();
  expect(near).toHaveLength(5);
  expect(near).not.toContain('funny');
  const scores = (await inside.locator('.embedding .score').allTextContents()).map((score) => Number.parseFloat(score));
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
});

it('opens with a head that is chosen by measure, and shows where it looks', async () => {
  const inside = await lookAtRemark('Attention');
  const [, head, layer, share] =
    /^Of 8 heads, head (\d) of layer (\d) looks most decidedly from word to word, each at another: (\d+)\s% /.exec(
      (await inside.locator('.sentence').textContent())!,
    )!;
  expect(Number(share)).toBeGreaterThan(15);
  const place = `Layer ${layer}, head ${head}`;
  expect(await inside.locator('.attention h3').textContent()).toBe(place);
  expect(await inside.getByRole('button', { name: place }).getAttribute('aria-pressed')).toBe('true');
  expect(await inside.locator('.arcs path').count()).toBeGreaterThan(0);

  const tokens = inside.locator('.strip .token');
  await tokens.nth(4).hover();
  const said = await inside.locator('.readout').textContent();
  expect(said).toContain(`${place}: from \u201cfunny\u201d mostly to \u201c`);
  const weights = await tokens.evaluateAll((all) => all.map((token) => Number(token.style.getPropertyValue('--weight'))));
  expect(Math.max(...weights)).toBe(1);
  expect(said).toContain(`mostly to \u201c${await tokens.nth(weights.indexOf(1)).textContent()}\u201d`);
  expect(await inside.locator('.map-box .map-row').evaluate((row) => row.style.getPropertyValue('--at'))).toBe('4');
  expect(await inside.locator('.concentration li').count()).toBe(4);
});

it.each([390, 768, 1280])('keeps the arcs inside their frame, %i pixels wide', async (width) => {
  await visit.page.setViewportSize({ width, height: 800 });
  await visit.page.locator('#tab-ask').click();
  const panel = visit.page.locator('#ask');
  await answered(panel);
  const inside = await look(panel, 'Attention');
  const frame = (await inside.locator('.arcs').boundingBox())!;
  const drawn = await inside
    .locator('.arcs')
    .locator('path, text')
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect()).map(({ left, right, bottom }) => ({ left, right, bottom })));
  expect(drawn.length).toBeGreaterThan(10);
  const last = inside.locator('.arcs path').last();
  expect(await last.getAttribute('class'), 'in front of an arc back').toBe('from-chosen');
  expect(Math.min(...drawn.map(({ left }) => left))).toBeGreaterThanOrEqual(frame.x - 3);
  expect(Math.max(...drawn.map(({ right }) => right))).toBeLessThanOrEqual(frame.x + frame.width + 3);
  expect(Math.max(...drawn.map(({ bottom }) => bottom))).toBeLessThanOrEqual(frame.y + frame.height + 1);
  expect(await inside.locator('.strip [aria-pressed=true]').textContent()).toMatch(/^\p{L}{3,}$/u);
});

it('shows another head that is chosen, and what the map says where it is pointed at', async () => {
  const inside = await lookAtRemark('Attention');
  await inside.getByRole('button', { name: 'Layer 3, head 2' }).click();
  expect(await inside.locator('.attention h3').textContent()).toBe('Layer 3, head 2');
  const map = inside.locator('canvas.map');
  const box = (await map.boundingBox())!;
  const cell = (index: number) => ((index + 0.5) / 8) * box.width;
  await map.hover({ position: { x: cell(5), y: cell(2) } });
  expect(await inside.locator('.readout').textContent()).toMatch(
    /^Layer 3, head 2: from \u201cwarm\u201d to \u201cfilm\u201d [\d.]+\s%\.$/,
  );
  expect(await inside.locator('.strip .token').nth(2).getAttribute('aria-pressed')).toBe('true');
  expect(await inside.locator('.token.looked-at').textContent()).toBe('film');
});

it('says what the map shows where it is tapped', async () => {
  const inside = await lookAtRemark('Attention');
  const map = inside.locator('canvas.map');
  const { x, y, width } = (await map.boundingBox())!;
  await map.dispatchEvent('pointerdown', { clientX: x + 0.69 * width, clientY: y + 0.31 * width, pointerType: 'touch' });
  expect(await inside.locator('.readout').textContent()).toMatch(/from \u201cwarm\u201d to \u201cfilm\u201d/);
});

it('has the colours of the system in each step, also if they changed while another step was shown', async () => {
  const inside = await lookAtRemark('Embedding');
  const colours = () => inside.locator('canvas.vectors').evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const light = await colours();
  await inside.locator('.steps button', { hasText: 'Tokens' }).click();
  for (const colorScheme of ['dark', 'light', 'dark'] as const) await visit.page.emulateMedia({ colorScheme });
  await inside.locator('.steps button', { hasText: 'Embedding' }).click();
  expect(await colours()).not.toBe(light);
  await visit.page.emulateMedia({ colorScheme: 'light' });
  expect(await colours()).toBe(light);
});

it('goes from word to word by arrow keys', async () => {
  const inside = await lookAtRemark('Attention');
  await inside.locator('.strip .token').first().focus();
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowLeft']) await visit.page.keyboard.press(key);
  expect(await inside.locator('.readout').textContent()).toMatch(/from \u201cwarm\u201d/);
});

it('shows ConvBERT\u2019s kernels for one word at three places, standing on their words, and they change with a neighbour', async () => {
  const inside = await lookAtRemark('Convolution');
  const rows = inside.locator('.taps');
  await rows.nth(2).waitFor();
  expect(await rows.locator('.middle .tap-word').allTextContents()).toEqual(['good', 'good', 'good']);
  expect(await inside.locator('.kernels .readout').textContent()).toMatch(/^\u201cgood\u201d 3 times, layer 1, head \d: 3 kernels\.$/);
  const kernels = async () => await rows.evaluateAll((all) => all.map((row) => row.querySelectorAll('.score').length && row.textContent));
  const before = await kernels();
  expect(new Set(before).size).toBe(3);
  for (const row of await rows.all()) {
    const taps = (await row.locator('.score').allTextContents()).map((score) => Number.parseFloat(score));
    expect(taps).toHaveLength(9);
    expect(taps.reduce((sum, tap) => sum + tap)).toBeGreaterThan(94); // Rounded one by one.
  }
  // The kernel of the word alone does not depend on the position.
  const plain = await rows.evaluateAll((all) =>
    all.map((row) => [...row.querySelectorAll<HTMLElement>('.of-word')].map((bar) => bar.style.getPropertyValue('--weight')).join()),
  );
  expect(new Set(plain).size).toBe(1);
  const gaps = await inside
    .locator('.tap-bar')
    .evaluateAll((all) => all.map((bar) => bar.parentElement!.getBoundingClientRect().bottom - bar.getBoundingClientRect().bottom));
  for (const gap of gaps) expect(gap).toBeLessThanOrEqual(1);

  await inside.locator('[name=kernel-sentence]').fill('A terribly good cast and good music do not make a good film.');
  await expect.poll(kernels).not.toEqual(before);
});

it('hides words that are clicked, and the answer moves', async () => {
  const inside = await lookAtRemark('Answer');
  const moved = inside.locator('.moved');
  await moved.filter({ hasText: /^All words: Praise/ }).waitFor();
  const before = await moved.textContent();
  await inside.locator('.hides', { hasText: 'funny' }).click();
  await moved.filter({ hasText: /^Without them: / }).waitFor();
  expect((await moved.textContent())!.replace('Without them', 'All words')).not.toBe(before);
  await inside.locator('.hides', { hasText: 'funny' }).click();
  await moved.filter({ hasText: before! }).waitFor();
});

it('ends with where the answer may begin and end, and starts anew at every call', async () => {
  await visit.page.locator('#tab-ask').click();
  const panel = visit.page.locator('#ask');
  await panel.getByRole('button', { name: 'The lighthouse' }).click();
  await panel.locator('.headline strong', { hasText: 'Jonas Berg' }).waitFor();
  await answered(panel);
  const inside = await look(panel, 'Answer');
  expect(await inside.locator('.steps button').allTextContents()).toEqual(['1 Tokens', '2 Embedding', '3 Attention', '4 Answer']);
  const words = inside.locator('.in-answer .span-word');
  expect(await words.allTextContents()).toEqual(['Jonas', 'Berg,']);
  const weight = (bar: string) =>
    inside.locator(`.in-answer .${bar}`).evaluateAll((all) => all.map((one) => Number(one.style.getPropertyValue('--weight'))));
  expect((await weight('begins'))[0]).toBe(1);
  expect((await weight('ends'))[1]).toBeGreaterThan(0.3);
  await visit.page.locator('#tab-ask').click();
  await panel.getByRole('button', { name: 'The kettle' }).click();
  await panel.getByRole('button', { name: 'What is the weak point?' }).click();
  await panel.locator('.headline strong', { hasText: 'lid' }).waitFor();
  await answered(panel);
  await look(panel, 'Answer');
  await inside.locator('.in-answer', { hasText: 'lid' }).waitFor();
});

it('says so where there is nothing to look at yet', async () => {
  const inside = visit.page.locator('#inside');
  await visit.page.locator('#sort-text').fill('');
  await visit.page.locator('#tab-inside').click();
  expect(await inside.locator('.hint').textContent()).toMatch(/^Ask something first/);
});

it('shows a part of a long text, of bounded height', async () => {
  await visit.page.locator('#tab-redact').click();
  const panel = visit.page.locator('#redact');
  await panel.locator('#redact-text').fill('They came to New York. '.repeat(400));
  await panel.locator('.redacted mark', { hasText: 'LOC_1' }).nth(250).waitFor();
  await answered(panel);
  const inside = await look(panel, 'Attention');
  expect(await inside.locator('.hint', { hasText: /^Only \d+ tokens/ }).count()).toBe(1);
  expect(await inside.locator('.strip .token').count()).toBeLessThanOrEqual(162);
  expect(await inside.locator('.tick').count()).toBeGreaterThan(4);
  for (const step of ['Tokens', 'Embedding', 'Attention', 'Convolution', 'Answer']) {
    await inside.locator('.steps button', { hasText: step }).click();
    expect((await inside.boundingBox())!.height, step).toBeLessThan(1800);
  }
});

it('mutes heads, and says what the model answers without them', async () => {
  const inside = await lookAtRemark('Attention');
  const mute = inside.locator('.mute button').first();
  const said = inside.locator('.mute .moved');
  await expect.poll(() => said.textContent()).toMatch(/^All heads: Praise [\d.]+\s%/);
  const whole = (await said.textContent())!.replace('All heads: ', '');
  expect(await mute.textContent()).toBe('Mute this head');
  for (const head of await inside.locator('.heads .head').all()) {
    await head.click();
    await mute.click();
    expect(await mute.getAttribute('aria-pressed')).toBe('true');
  }
  await expect.poll(() => said.textContent()).toMatch(/^Without 8 heads: /);
  expect((await said.textContent())!.replace('Without 8 heads: ', '')).not.toBe(whole);
  expect(await inside.locator('.heads .head.is-muted').count()).toBe(8);
  expect(await inside.locator('.heads .head').first().getAttribute('aria-label')).toBe('Layer 1, head 1, muted');
  await inside.getByRole('button', { name: 'Let all speak' }).click();
  await expect.poll(() => said.textContent()).toBe(`All heads: ${whole}`);
  expect(await inside.locator('.terms').count()).toBe(0); // ConvBERT's scores have one term.
});

it('switches between the three terms of DeBERTa', async () => {
  const reading = await demo.visit({ at: 'ask' });
  const panel = reading.page.locator('#ask');
  await answered(panel);
  await panel.getByRole('button', { name: 'The lighthouse' }).click();
  await panel.locator('.headline strong', { hasText: 'Jonas Berg' }).waitFor();
  await answered(panel);
  const inside = await look(panel, 'Attention');
  const map = inside.locator('.attention canvas');
  const picture = () => map.evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  const pictures = [await picture()];
  expect(await inside.locator('.terms button').allTextContents()).toEqual([
    'attention',
    'content to content',
    'content to position',
    'position to content',
  ]);
  for (const term of ['content to content', 'content to position', 'position to content']) {
    await inside.getByRole('button', { name: term }).click();
    await expect.poll(() => map.getAttribute('aria-label')).toMatch(new RegExp(`^Map of ${term} of layer \\d, head \\d$`));
    await map.hover({ position: { x: 5, y: 40 } });
    expect(await inside.locator('.term-said').textContent()).toMatch(new RegExp(`^${term}: from .+ to .+ -?\\d+\\.\\d\\d\\.$`));
    pictures.push(await picture());
  }
  expect(new Set(pictures).size).toBe(4);
  await inside.getByRole('button', { name: 'attention', exact: true }).click();
  await expect.poll(picture).toBe(pictures[0]);
  expect(reading.complaints).toEqual([]);
  await reading.close();
});

it('is a place of its own, which answers by itself and changes from tab to tab', async () => {
  const alone = await demo.visit({ at: 'inside' });
  const inside = alone.page.locator('#inside');
  await inside.locator('.strip .token').first().waitFor();
  expect(await inside.locator('.subjects [aria-pressed=true]').textContent()).toBe('the redaction');
  await inside.getByRole('button', { name: 'the answer' }).click();
  await inside.locator('.strip .token', { hasText: 'bin' }).first().waitFor();
  expect(alone.complaints).toEqual([]);
  await alone.close();
});
