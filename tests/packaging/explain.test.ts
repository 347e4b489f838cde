import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { readFolder, withPage } from '../browser/page/visit.js';
import { brotliKilobytes } from './brotli.js';

const { folder } = inject('installed');
const kBundle = join(folder, 'node_modules/peruse/web/bundle');
const kModel = 'models/peruse-sentiment-convbert-tiny';

test('explanations and streams are one script of less than 4 KB (brotli)', () => {
  const size = brotliKilobytes(join(kBundle, 'peruse-extras.js'));
  console.log(`explanations and streams: ${size.toFixed(1)} KB`);
  expect(size).toBeLessThan(4);
});

test('in Node, by import and by require', () => {
  const script = `
    pipeline('text-classification', './${kModel}').then(async (classify) => {
      const { label, words } = await classify.explain('A funny film.');
      console.log(label, words.map(({ word }) => word).join('|'));
      await classify.dispose();
    });`;
  for (const [type, load] of [
    ['module', "import { pipeline } from 'peruse';"],
    ['commonjs', "const { pipeline } = require('peruse');"],
  ] as const) {
    const run = spawnSync(process.execPath, [`--input-type=${type}`, '-e', load + script], { cwd: folder, encoding: 'utf8' });
    expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({ status: 0, out: 'POSITIVE A|funny|film|.\n' });
  }
});

test('in a page', async () => {
  const made = join(folder, 'explained');
  mkdirSync(made, { recursive: true });
  cpSync(join(folder, kModel), join(made, kModel), { recursive: true, dereference: true });
  const bundle = await readFolder(kBundle, kBundle);
  const site = {
    ...(await readFolder(made, made)),
    'index.html': `<!doctype html><link rel="icon" href="data:,"><p></p><script type="module">
      import { pipeline } from './peruse/peruse.js';
      const classify = await pipeline('text-classification', './${kModel}/');
      const { label, words } = await classify.explain('A funny film.');
      document.querySelector('p').textContent = label + ' ' + words.map(({ word }) => word).join('|');
    </script>`,
    ...Object.fromEntries(Object.entries(bundle).map(([path, content]) => [`peruse/${path}`, content])),
  };
  await withPage(site, {}, async (page, server) => {
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction("document.querySelector('p').textContent !== ''");
    expect(await page.textContent('p')).toBe('POSITIVE A|funny|film|.');
    expect(server.requests).toContain('peruse/peruse-extras.js');
  });
});
