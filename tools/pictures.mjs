#!/usr/bin/env node
// Makes docs/tour.png, the README's animation of all tabs at work, and demo/preview.png, the picture of link previews, from the demo page:
// npm run pictures. The package must have been built.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { serveFolders } from '../web/dist/cli/static_server.js';
import { animation } from './animation.mjs';
import { runAsProgram } from './setup/main_module.mjs';
import { root } from './setup/root.mjs';
import { buildSite } from './site.mjs';

const kChromium = { executablePath: process.env.PERUSE_CHROMIUM ?? '/usr/bin/chromium', args: ['--headless=new', '--no-sandbox'] };
const kHold = 1800; // milliseconds of each picture in the animation

async function answered(page, tab) {
  await page.locator(`#${tab} .timing:not(:empty)`).waitFor();
  await page.locator(`#${tab} [type=submit][aria-disabled=false]`).waitFor();
}

async function tour(page) {
  const shots = [];
  const shoot = async () => shots.push(await page.screenshot());
  for (const tab of ['redact', 'sort', 'ask']) {
    await page.locator(`#tab-${tab}`).click();
    await answered(page, tab);
    await shoot();
  }
  await page.locator('#tab-teach').click();
  await shoot();
  await page.locator('#teach .primary').click();
  await page.locator('#teach .learnt').waitFor({ timeout: 300_000 });
  await shoot();
  await page.locator('#tab-inside').click();
  await page.locator('#inside .steps button', { hasText: 'Attention' }).click();
  await shoot();
  return shots;
}

await runAsProgram(import.meta.url, async () => {
  const { url, close } = await serveFolders({ '/': await buildSite() });
  const browser = await chromium.launch(kChromium);
  try {
    const open = async (width, height, scale) => {
      const page = await browser.newPage({
        viewport: { width, height },
        deviceScaleFactor: scale,
        colorScheme: 'light',
        reducedMotion: 'reduce',
      });
      await page.goto(url);
      await answered(page, 'redact');
      return page;
    };
    await (await open(1200, 630, 1)).screenshot({ path: join(root, 'demo/preview.png') });
    writeFileSync(join(root, 'docs/tour.png'), animation(await tour(await open(960, 640, 1)), kHold));
  } finally {
    await browser.close();
    await close();
  }
});
