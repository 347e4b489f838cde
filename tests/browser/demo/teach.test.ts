import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Demo, startDemo } from './demo.js';

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo();
});
afterAll(() => demo.close());

const kShots = process.env.PERUSE_SCREENSHOTS;

it.each([
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const)('learns lines, says how well, and is used: %i wide, %s', async (width, colorScheme) => {
  const { page, complaints, requests, close } = await demo.visit({ at: 'teach', viewport: { width, height: 900 }, colorScheme });
  const panel = page.locator('#teach');
  await panel.locator('button.primary').click();
  await panel.locator('.learnt').waitFor({ timeout: 50_000 });
  expect(await panel.locator('.headline').textContent()).toMatch(
    /^Learnt 16 lines in .* Tested on lines that it had not seen, it got 1?\d of 16 right\.$/,
  );
  expect(await panel.locator('.bars .label').first().textContent()).toBe('repair');
  expect((await panel.locator('.curve polyline').getAttribute('points'))!.split(' ').length).toBeGreaterThan(10);
  await panel.locator('summary', { hasText: 'hardest' }).click();
  expect(await panel.locator('.hardest li').count()).toBe(5);
  await panel.locator('summary', { hasText: 'label next' }).click();
  await panel.locator('[name=unlabelled]').fill('The bell is silent.\nWhat does the water cost?\nThe bell is silent.');
  await panel.locator('button.suggest').click();
  await panel.locator('.suggested li').nth(1).waitFor();
  expect(await panel.locator('.suggested li').count()).toBe(2);
  await panel.locator('.suggested li').first().locator('button', { hasText: 'repair' }).click();
  expect(await panel.locator('.suggested li').count()).toBe(1);
  expect(await panel.locator('[name=lines]').first().inputValue()).toMatch(/\n(The bell is silent|What does the water cost)[.?]$/);
  await panel.locator('[name=try]').fill('Please send me the bill.');
  await panel.locator('.bars li:first-child .label', { hasText: 'money' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  const megabytes = Number.parseFloat((await page.locator('.proof .bytes-loaded').textContent())!);
  expect(megabytes, 'the model is 1.9 MB').toBeGreaterThan(1.9);
  expect(await page.locator('.proof .last').textContent()).toMatch(/^[\d.]+\s(ms|s)$/);
  const teachButton = (await panel.locator('button.primary').boundingBox())!;
  const result = (await panel.locator('.result').boundingBox())!;
  if (width === 390) expect(result.y, 'what was learnt stands below the button').toBeGreaterThan(teachButton.y);
  if (kShots) {
    await mkdir(kShots, { recursive: true });
    await page.screenshot({ path: `${kShots}/teach-${width}-${colorScheme}.png`, fullPage: true });
  }
  if (width === 1280 && colorScheme === 'light') {
    await panel.locator('button.primary').click();
    await panel.locator('.headline', { hasText: 'Learnt 17 lines' }).waitFor({ timeout: 50_000 }); // The earlier ones and the new one.
  }
  expect(requests.filter((address) => !address.startsWith(demo.url) && !/^(data|blob):/.test(address))).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
});

it('can be cancelled, and refuses one label by its reason', async () => {
  const { page, close } = await demo.visit({ at: 'teach' });
  const panel = page.locator('#teach');
  await panel.locator('button.primary').click();
  await panel.locator('.cancel').click();
  await panel.locator('.headline', { hasText: 'Cancelled' }).waitFor();
  await panel.locator('[name=lines]').nth(1).fill('');
  await panel.locator('button.primary').click();
  await panel.locator('.error', { hasText: 'two labels' }).waitFor();
  await close();
});

it('says of lines that are too long that it read only their beginning, and does not label such a sentence', async () => {
  const { page, complaints, close } = await demo.visit({ at: 'teach' });
  const panel = page.locator('#teach');
  const long = 'The heating in the hall is broken again. '.repeat(100);
  const lines = panel.locator('[name=lines]').first();
  await lines.fill(`${await lines.inputValue()}\n${long}`);
  await panel.locator('button.primary').click();
  await panel.locator('.learnt').waitFor({ timeout: 50_000 });
  expect(await panel.locator('.headline').textContent()).toMatch(/right\. Of lines that are too long it read only the beginning\.$/);
  await panel.locator('[name=try]').fill(long);
  await panel.locator('.error', { hasText: 'longer than the model can take' }).waitFor();
  expect(await panel.locator('.bars li').count()).toBe(0);
  await panel.locator('[name=try]').fill('Please send me the bill.');
  await panel.locator('.bars li').first().waitFor();
  expect(await panel.locator('.error').textContent()).toBe('');
  expect(complaints).toEqual([]);
  await close();
}, 120_000);

it('is saved, opened again by a later visitor, and run by the lines that the page gives', async () => {
  const { page, close } = await demo.visit({ at: 'teach' });
  const panel = page.locator('#teach');
  await page.evaluate(() => Object.assign(window, { showDirectoryPicker: undefined })); // File by file, as in most browsers.
  await panel.locator('button.primary').click();
  await panel.locator('.learnt').waitFor({ timeout: 50_000 });
  const answers = await panel.locator('.bars').textContent();
  await panel.locator('.save').click();
  const folder = await mkdtemp(join(tmpdir(), 'peruse-taught-'));
  try {
    for (const link of await panel.locator('.saved a').all()) {
      const [download] = await Promise.all([page.waitForEvent('download'), link.click()]);
      await download.saveAs(join(folder, download.suggestedFilename()));
    }
    const code = (await panel.locator('.take code').textContent())!;
    const [above, copy] = [(await panel.locator('.take pre').boundingBox())!, (await panel.locator('.copy-lines').boundingBox())!];
    expect(copy.y - above.y - above.height, 'the button does not touch the code').toBeGreaterThan(7);
    const files = await readdir(folder);
    expect(files).toContain('model.safetensors');
    await close();

    const later = await demo.visit({ at: 'teach' });
    const opened = later.page.locator('#teach');
    await opened.locator('[name=saved]').setInputFiles(files.map((name) => join(folder, name)));
    await opened.locator('.headline', { hasText: 'Opened' }).waitFor();
    await expect.poll(() => opened.locator('.bars').textContent()).toBe(answers);
    await later.close();

    const said: unknown[] = [];
    const lines = code
      .replace(/^import.*$/m, '')
      .replace("'/my-model/'", JSON.stringify(`${folder}/`))
      .replace('console.log', 'say');
    const { pipeline } = await import('../../../web/dist/index_node.js');
    await (new Function('pipeline', 'say', `return (async () => { ${lines} })()`) as (...all: unknown[]) => Promise<void>)(
      pipeline,
      (...all: unknown[]) => said.push(...all),
    );
    expect(answers).toContain(`${said[0]}${(100 * (said[1] as number)).toFixed(1)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
