// Components of a framework in a page: esbuild bundles them, and the page's function `show` mounts, changes and unmounts them.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { expect } from 'vitest';
import { readFolder, withPage } from '../../browser/page/visit.js';
import type { Stage } from './stage.js';

const kPage = '<!doctype html><link rel="icon" href="data:,"><div id="app"></div><script type="module" src="./main.js"></script>';

export async function withComponents(app: Stage, main: string, use: (page: Page) => Promise<void>): Promise<void> {
  const out = join(app.folder, 'out');
  const settings = ['--bundle', '--format=esm', '--jsx=automatic', '--log-level=error', '--define:process.env.NODE_ENV="development"'];
  await app.run('esbuild/bin/esbuild', main, ...settings, `--outfile=${join(out, 'main.js')}`);
  await cp(join(app.folder, 'public'), out, { recursive: true });
  await mkdir(join(out, 'peruse'), { recursive: true });
  await cp(join(app.folder, 'node_modules/peruse/web/bundle'), join(out, 'peruse'), { recursive: true });
  await writeFile(join(out, 'index.html'), kPage);
  await withPage(await readFolder(out, out), {}, async (page, server) => {
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${server.url}index.html`);
    await use(page);
    expect(complaints.filter((line) => !/404|React DevTools|development build of Vue|feature flag/.test(line))).toEqual([]);
  });
}

export async function expectState(page: Page, text: RegExp): Promise<void> {
  await page.waitForFunction(
    ([source, flags]) => new RegExp(source!, flags).test(document.querySelector('#state')?.textContent ?? ''),
    [text.source, text.flags],
  );
}
