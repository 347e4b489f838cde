import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { readFolder, type Site, visit } from '../browser/page/visit.js';
import { brotliKilobytes } from './brotli.js';

const { folder } = inject('installed');
const kBundle = join(folder, 'node_modules/peruse/web/bundle');
const kPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:";

test('is less than 28 KB (brotli)', () => {
  const size = brotliKilobytes(join(kBundle, 'peruse-redact.js'));
  console.log(`redaction without a model: ${size.toFixed(1)} KB`);
  expect(size).toBeLessThan(28);
});

const kWork = (script: string) => `
  import { createRedactor, restore } from './peruse/${script}';
  globalThis.work = async () => {
    const redact = createRedactor({ patterns: true });
    const { text, mapping } = await redact('Mail mary@example.org, card 4111 1111 1111 1111.');
    return [text, restore(text, mapping).text];
  };`;
const kGood = ['Mail [EMAIL_1], card [CARD_1].', 'Mail mary@example.org, card 4111 1111 1111 1111.'];

test.each([
  ['peruse-redact.js', ['peruse/peruse-redact.js']],
  ['peruse.js', ['peruse/peruse-redact-kit.js', 'peruse/peruse.js']], // patterns load at the first use
])('a page with %s starts no worker and compiles no WebAssembly', async (script, loaded) => {
  const bundle = await readFolder(kBundle, kBundle);
  const site: Site = {
    'index.html':
      '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><script type="module" src="/page.js"></script>',
    'page.js': kWork(script),
    ...Object.fromEntries(Object.entries(bundle).map(([path, content]) => [`peruse/${path}`, content])),
  };
  const { result, elsewhere, requests } = await visit(site, { 'Content-Security-Policy': kPolicy });
  expect(result).toEqual(kGood);
  expect(elsewhere).toEqual([]);
  expect([...new Set(requests)].filter((path) => path.startsWith('peruse/') && site[path] !== undefined).sort()).toEqual(loaded);
});

test('in Node, by import and by require', () => {
  const script = (load: string) =>
    `${load}
    createRedactor({ patterns: ['IBAN'] })('To DE89 3704 0044 0532 0130 00.').then(({ text }) => console.log(text));`;
  for (const [type, load] of [
    ['module', "import { createRedactor } from 'peruse/redact';"],
    ['module', "import { createRedactor } from 'peruse';"],
    ['commonjs', "const { createRedactor } = require('peruse/redact');"],
    ['commonjs', "const { createRedactor } = require('peruse');"],
  ] as const) {
    const run = spawnSync(process.execPath, [`--input-type=${type}`, '-e', script(load)], { cwd: folder, encoding: 'utf8' });
    expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({ status: 0, out: 'To [IBAN_1].\n' });
  }
});
