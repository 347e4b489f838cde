import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { readFolder, type Site, tinyModels, visit } from '../browser/page/visit.js';
import { brotliKilobytes } from './brotli.js';

const { folder } = inject('installed');
const kBundle = join(folder, 'node_modules/peruse/web/bundle');
const kPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'; img-src data:";

test('is less than 95 KB of WebAssembly, and 31 KiB of scripts (brotli)', () => {
  const wasm = brotliKilobytes(join(kBundle, 'peruse-tokenizer.wasm'));
  const script = brotliKilobytes(join(kBundle, 'peruse-tokenizer.js'));
  console.log(`the tokenizer alone: ${wasm.toFixed(1)} KB, ${script.toFixed(1)} KB of scripts`);
  expect(wasm).toBeLessThan(95);
  expect(script).toBeLessThan(31);
});

test('peruse/transformers adds one script of less than 25 KiB (brotli) to that of peruse', () => {
  const size = brotliKilobytes(join(kBundle, 'peruse-transformers.js'));
  console.log(`peruse/transformers: ${size.toFixed(1)} KB`);
  expect(size).toBeLessThan(25);
  const code = readFileSync(join(kBundle, 'peruse-transformers.js'), 'utf8');
  const imported = [...code.matchAll(/(?:from|import) ?["'`]([^"'`]+)["'`]/g)].map(([, name]) => name);
  expect([...new Set(imported)].filter((name) => name!.startsWith('.')).sort()).toEqual(['./peruse.js']);
});

const kWork = `
  import { Tokenizer } from './peruse/peruse-tokenizer.js';
  export async function work() {
    const tokenizer = await Tokenizer.from_pretrained('/models/reader/');
    const { ids, offsets } = tokenizer.encode('t1 t2', { text_pair: 't3' });
    const text = tokenizer.decode(ids, { skip_special_tokens: true });
    const count = tokenizer.count('t1 t2');
    tokenizer.dispose();
    return { ids, offsets, text, count };
  }`;
/** The tiny models' tokenizers add no special tokens. */
const kGood = {
  ids: [1, 2, 3],
  offsets: [
    [0, 2],
    [3, 5],
    [0, 2],
  ],
  text: 't1 t2 t3',
  count: 2,
};
/** Files that are loaded in addition to the page's own. */
const kLoaded = [
  'models/reader/config.json',
  'models/reader/tokenizer.json',
  'models/reader/tokenizer_config.json',
  'peruse/peruse-tokenizer.js',
  'peruse/peruse-tokenizer.wasm',
];

const kPlaces: Record<string, Site> = {
  page: { 'page.js': "import { work } from './work.js'; globalThis.work = work;" },
  'module worker': {
    'worker.js': "import { work } from './work.js'; work().then(postMessage);",
    'page.js': `globalThis.work = () => new Promise((resolve) => {
      new Worker('./worker.js', { type: 'module' }).onmessage = ({ data }) => resolve(data);
    });`,
  },
  'service worker': {
    'worker.js': `import { work } from './work.js';
      self.addEventListener('install', () => self.skipWaiting());
      self.addEventListener('message', (event) => event.waitUntil(work().then((found) => event.ports[0].postMessage(found))));`,
    'page.js': `globalThis.work = async () => {
      const registration = await navigator.serviceWorker.register('./worker.js', { type: 'module' });
      await navigator.serviceWorker.ready;
      const { port1, port2 } = new MessageChannel();
      const answer = new Promise((resolve) => { port1.onmessage = ({ data }) => resolve(data); });
      registration.active.postMessage(null, [port2]);
      return answer;
    };`,
  },
};

describe('under a strict policy', () => {
  let site: Site;
  beforeAll(async () => {
    const bundle = await readFolder(kBundle, kBundle);
    site = {
      'index.html':
        '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><script type="module" src="/page.js"></script>',
      'work.js': kWork,
      ...Object.fromEntries(Object.entries(bundle).map(([path, content]) => [`peruse/${path}`, content])),
      ...(await tinyModels()),
    };
  });

  test.each(Object.keys(kPlaces))('a %s loads it and nothing else', async (place) => {
    const { result, elsewhere, requests } = await visit({ ...site, ...kPlaces[place] }, { 'Content-Security-Policy': kPolicy });
    expect(result).toEqual(kGood);
    expect(elsewhere).toEqual([]);
    const own = ['index.html', 'page.js', 'work.js', 'worker.js'];
    const loaded = [...new Set(requests)].filter((path) => !own.includes(path) && site[path] !== undefined);
    expect(loaded.sort()).toEqual(kLoaded.filter((path) => site[path] !== undefined));
  });
});

test('in Node, by import and by require', () => {
  const script = (load: string) =>
    `${load}
    Tokenizer.from_pretrained('models/peruse-reader-deberta-tiny').then((tokenizer) => {
      console.log(tokenizer.count('The bees live here.'), tokenizer.decode(tokenizer.encode('The bees.').ids, { skip_special_tokens: true }));
    });`;
  for (const [type, load] of [
    ['module', "import { Tokenizer } from 'peruse/tokenizer';"],
    ['commonjs', "const { Tokenizer } = require('peruse/tokenizer');"],
  ] as const) {
    const run = spawnSync(process.execPath, [`--input-type=${type}`, '-e', script(load)], { cwd: folder, encoding: 'utf8' });
    expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({ status: 0, out: '8 the bees.\n' });
  }
});
