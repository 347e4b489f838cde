// The search kit from the installed package: the command makes an index, and the page of the guide searches it.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { readFolder, type Site, withPage } from '../browser/page/visit.js';
import { brotliKilobytes } from './brotli.js';

const { folder } = inject('installed');
const kBundle = join(folder, 'node_modules/peruse/web/bundle');
const kGuide = fileURLToPath(new URL('../../docs/guides/search-a-static-site.md', import.meta.url));
const kModel = 'models/peruse-zero-shot-deberta-tiny';

test('the kit is one script of less than 10.6 KiB (brotli)', () => {
  const size = brotliKilobytes(join(kBundle, 'peruse-search.js'));
  console.log(`the search kit: ${size.toFixed(1)} KB`);
  expect(size).toBeLessThan(10.6);
});

async function siteWithIndex(): Promise<{ site: Site; texts: number }> {
  const made = join(folder, 'site');
  mkdirSync(join(made, 'docs/deep'), { recursive: true });
  cpSync(join(folder, kModel), join(made, kModel), { recursive: true, dereference: true });
  const page = (title: string, text: string) => `<!doctype html><title>${title}</title><nav>Home</nav><p>${text}</p><script>1</script>`;
  writeFileSync(join(made, 'docs/trains.html'), page('Trains &amp; ferries', 'The train to the coast leaves at nine. It takes an hour.'));
  writeFileSync(join(made, 'docs/deep/onions.html'), page('Onions', 'Fry the onions in butter.'));
  writeFileSync(join(made, 'docs/left.out'), 'This is not read.');
  const bin = join(folder, 'node_modules/peruse/web/dist/cli/main.js');
  const args = [bin, 'index', 'docs/**/*.html', '--model', kModel, '--int8', '--dtype', 'fp32', '-o', 'search.bin'];
  const run = spawnSync(process.execPath, args, { cwd: made, encoding: 'utf8' });
  expect(run.status, run.stderr).toBe(0);
  expect(statSync(join(made, 'search.bin')).size).toBe((JSON.parse(run.stdout) as { bytes: number }).bytes);
  const html = /```html\n([\s\S]*?)```/.exec(readFileSync(kGuide, 'utf8'))![1]!;
  expect(html.trim().split('\n').length).toBeLessThanOrEqual(40);
  const bundle = await readFolder(kBundle, kBundle);
  const site: Site = {
    ...(await readFolder(made, made)),
    'index.html': html
      .replace('sentence-transformers/all-MiniLM-L6-v2', `./${kModel}`)
      .replace('<meta', '<link rel="icon" href="data:,"><meta'),
    ...Object.fromEntries(Object.entries(bundle).map(([path, content]) => [`peruse/${path}`, content])),
  };
  return { site, texts: (JSON.parse(run.stdout) as { texts: number }).texts };
}

test("the guide's page searches an index that the command made", async () => {
  const { site, texts } = await siteWithIndex();
  expect(texts).toBe(2);
  await withPage(site, {}, async (page, server) => {
    await page.goto(`${server.url}index.html`);
    await page.fill('input', 'onions');
    await page.click('button');
    await page.waitForFunction(
      "document.querySelectorAll('li').length > 0 || /error|can't|made with/i.test(document.querySelector('p').textContent)",
    );
    expect(await page.textContent('p')).toBe('2 results');
    expect(await page.textContent('li')).toBe('Onions Fry the onions in butter.');
    expect(await page.getAttribute('li a', 'href')).toBe('docs/deep/onions.html');
    await page.fill('input', 'coast');
    await page.click('button');
    await page.waitForFunction("document.querySelector('li').textContent.startsWith('Trains & ferries')");
    expect(server.requests).toContain('peruse/peruse-search.js');
  });
});

test('in Node, by import and by require', () => {
  const script = `
    pipeline('feature-extraction', './${kModel}').then(async (embed) => {
      const index = new SemanticIndex(embed);
      await index.add(['One.', 'Two.']);
      const again = await SemanticIndex.load(embed, await index.save());
      console.log((await again.search('Two.', { top_k: 1 }))[0].id);
      await embed.dispose();
    });`;
  for (const [type, load] of [
    ['module', "import { pipeline, SemanticIndex } from 'peruse';"],
    ['commonjs', "const { pipeline, SemanticIndex } = require('peruse');"],
  ] as const) {
    const run = spawnSync(process.execPath, [`--input-type=${type}`, '-e', load + script], { cwd: folder, encoding: 'utf8' });
    expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({ status: 0, out: '1\n' });
  }
});
