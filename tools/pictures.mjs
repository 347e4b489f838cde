#!/usr/bin/env node
// Makes pictures of the demo page: npm run pictures. The package must have been built.
// docs/film.png: the README's six seconds: a message is typed and redacted, the connection goes, a model is taught (npm run pictures -- --film makes
// only this). demo/pictures: a picture of each tab, for demo/README.md. demo/preview.png: the picture of link previews. build/pictures: every
// tab in four sizes, light and dark, in forced colours and as printed, to be looked at: npm run pictures -- --look makes only these.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { serveFolders } from '../web/dist/cli/static_server.js';
import { animation } from './animation.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { buildSite } from './site.mjs';

const kChromium = { executablePath: process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium', args: ['--headless=new', '--no-sandbox'] };
const kFilmed = 'Hi, this is Zoe Miller from Leeds. Please call me: 020 7946 0018.';
const kMargin = 8; // pixels around a tab
const kPictures = join(root, 'demo/pictures');
const kLooked = join(root, 'build/pictures');
const kSizes = [
  [390, 844],
  [768, 1024],
  [1280, 800],
  [1920, 1080],
];

async function answered(page, tab) {
  await page.locator(`#${tab} .timing:not(:empty)`).waitFor();
  await page.locator(`#${tab} [type=submit][aria-disabled=false]`).waitFor();
}

function writeStill(name, picture) {
  writeFileSync(join(kPictures, `${name}.png`), animation([picture], 1000)); // 256 colours make a small file
}

/** Returns an animation of six seconds. */
async function film(page) {
  const shots = [];
  const times = [];
  const shoot = async (milliseconds) => {
    shots.push(await page.screenshot());
    times.push(milliseconds);
  };
  const message = page.locator('#redact-text');
  await page.getByText('stored on this device now').waitFor({ state: 'attached', timeout: 120_000 });
  await message.fill('');
  for (let end = 8; end < kFilmed.length + 8; end += 8) {
    await message.fill(kFilmed.slice(0, end));
    await shoot(100);
  }
  await page.locator('#redact [type=submit]').click();
  await answered(page, 'redact');
  const redacted = shots.length;
  await shoot(1300);
  await page.context().setOffline(true);
  await page.locator('.connection').filter({ hasText: 'offline' }).waitFor();
  await shoot(1000);
  await page.locator('#tab-teach').click();
  await shoot(700);
  await page.locator('#teach .primary').click();
  await page.locator('#teach .learnt').waitFor({ timeout: 300_000 });
  await shoot(6000 - times.reduce((sum, time) => sum + time, 0));
  await page.context().setOffline(false);
  return animation(shots, times, redacted);
}

/** Writes a picture of each whole tab. */
async function tour(page) {
  const shootTab = async (tab) => {
    await page.mouse.move(0, 0);
    await page.evaluate(() => scrollTo(0, 0));
    const { x, y, width, height } = await page.locator('main').boundingBox();
    const clip = { x: x - kMargin, y: y - kMargin, width: width + 2 * kMargin, height: height + 2 * kMargin };
    writeStill(tab, await page.screenshot({ fullPage: true, clip }));
  };
  for (const tab of ['redact', 'sort', 'ask']) {
    await page.locator(`#tab-${tab}`).click();
    await answered(page, tab);
    await shootTab(tab);
  }
  await page.locator('#tab-teach').click();
  await page.locator('#teach .primary').click();
  await page.locator('#teach .learnt').waitFor({ timeout: 300_000 });
  await shootTab('teach');
  await page.locator('#tab-inside').click();
  await page.locator('#inside .steps button', { hasText: 'Attention' }).click();
  await shootTab('inside');
}

/** Writes a picture of every tab, from top to bottom, in four sizes, light and dark, and in forced colours and as printed. */
async function look(page) {
  mkdirSync(kLooked, { recursive: true });
  const shoot = async (name) => {
    await page.mouse.move(0, 0); // A pointer on a button or a token would show in the pictures.
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme });
      for (const [width, height] of kSizes) {
        await page.setViewportSize({ width, height });
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // Charts fit themselves.
        await page.screenshot({ path: join(kLooked, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    for (const [how, media] of Object.entries({
      forced: { colorScheme: 'dark', forcedColors: 'active' },
      paper: { colorScheme: 'light', media: 'print' },
    })) {
      await page.emulateMedia(media);
      await page.screenshot({ path: join(kLooked, `${name}-1280-${how}.png`), fullPage: true });
      await page.emulateMedia({ forcedColors: 'none', media: 'screen' });
    }
  };
  for (const tab of ['redact', 'sort', 'ask']) {
    await page.locator(`#tab-${tab}`).click();
    await answered(page, tab);
    await shoot(tab);
  }
  await page.locator('#tab-teach').click();
  await page.locator('#teach .primary').click();
  await page.locator('#teach .learnt').waitFor({ timeout: 300_000 });
  await shoot('teach');
  await page.locator('#tab-inside').click();
  await page.locator('#inside .steps button').first().waitFor();
  for (const step of await page.locator('#inside .steps button').allTextContents()) {
    await page.locator('#inside .steps button', { hasText: step }).click();
    await shoot(`inside-${step.slice(2).toLowerCase()}`);
  }
}

await runAsProgram(import.meta.url, async () => {
  const { values } = parseArgs({ options: { look: { type: 'boolean' }, film: { type: 'boolean' } } });
  mkdirSync(kPictures, { recursive: true });
  const { url, close } = await serveFolders({ '/': await buildSite({ pages: { docs: 'link' } }) });
  const browser = await chromium.launch(kChromium);
  try {
    const open = async (width, height, scale, options = {}) => {
      const page = await browser.newPage({
        viewport: { width, height },
        deviceScaleFactor: scale,
        colorScheme: 'light',
        reducedMotion: 'reduce',
        ...options,
      });
      await page.goto(url);
      await answered(page, 'redact');
      return page;
    };
    if (values.film) return writeFileSync(join(root, 'docs/film.png'), await film(await open(960, 640, 1)));
    await look(await open(1280, 800, 1));
    if (values.look) return;
    await (await open(1200, 630, 1)).screenshot({ path: join(root, 'demo/preview.png') });
    writeStill('phone', await (await open(390, 844, 1)).screenshot());
    await tour(await open(960, 640, 1));
    writeFileSync(join(root, 'docs/film.png'), await film(await open(960, 640, 1)));
  } finally {
    await browser.close();
    await close();
  }
});
