// Tokenizers of peruse/transformers in Chromium: their calls are synchronous, and their files are read by the code that reads models' files.
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ModelServer } from '../../node/support/model_server.js';
import { readTiny } from '../../node/support/tiny_files.js';
import { readFolder, type Site, withPage } from './visit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kHub = 'hub/user/model/resolve/main/';
const kMake = `
const make = async (load, done = () => {}) => {
  peruse.env.remoteHost = location.origin + '/hub/';
  try {
    const ids = await load();
    return { ids };
  } catch (error) {
    return { code: error.code, name: error.name, message: error.message };
  }
};
const count = (source, options) => make(async () => {
  const tokenizer = await peruse.AutoTokenizer.from_pretrained(source, options);
  const { input_ids } = tokenizer('t1 t2');
  tokenizer.dispose();
  return input_ids.tolist().flat().map(Number);
});`;
const kPage = `
import { pipeline } from '/web/bundle/peruse.js';
globalThis.classify = async () => {
  const classifier = await pipeline('text-classification', '/models/x/');
  const [{ label }] = await classifier('t1 t2');
  await classifier.dispose();
  return label;
};
globalThis.start = async () => {
  globalThis.peruse = await import('/web/bundle/peruse-transformers.js');
  Object.assign(globalThis, await import('/make.js'));
};
globalThis.inWorker = () => new Promise((resolve, reject) => {
  const worker = new Worker('/worker.js', { type: 'module' });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(new Error(event.message));
});`;
const kWorker = `
import * as peruse from '/web/bundle/peruse-transformers.js';
${kMake}
count('/models/x/').then(postMessage);`;

let site: Site;
beforeAll(async () => {
  const { files } = await readTiny('deberta-v2-sequence');
  site = {
    'index.html': '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    'page.js': kPage,
    'make.js': `${kMake}\nexport { count };`,
    'worker.js': kWorker,
    ...(await readFolder(`${kRoot}web/bundle`, kRoot)),
  };
  for (const [name, content] of Object.entries(files)) Object.assign(site, { [`models/x/${name}`]: content, [kHub + name]: content });
});

function onPage<T>(use: (page: Page, server: ModelServer) => Promise<T>): Promise<T> {
  return withPage(site, {}, async (page, server) => {
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction('globalThis.start');
    return use(page, server);
  });
}

const kEmptied = 'caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))';
const kGood = { ids: [1, 2] };

test('a page that has classified loads one script and the build of tokenizers more', async () => {
  await onPage(async (page, server) => {
    await page.evaluate('classify()');
    const before = new Set(server.requests);
    await page.evaluate('start()');
    expect(await page.evaluate("count('/models/x/')")).toEqual(kGood);
    const more = server.requests.filter((path) => path.startsWith('web/') && !before.has(path));
    expect([...new Set(more)].sort()).toEqual(['web/bundle/peruse-tokenizer.wasm', 'web/bundle/peruse-transformers.js']);
    await expect.poll(() => page.workers().length, { timeout: 20_000 }).toBe(0);
  });
});

test("in a program's own worker", async () => {
  await onPage(async (page) => {
    expect(await page.evaluate('inWorker()')).toEqual(kGood);
    expect(page.workers()).toHaveLength(1);
  });
});

describe.each(['Cache Storage', "the page's own cache"])('%s', (store) => {
  test('a wrong tokenizer.json, and one that the engine refuses, are fetched again by the next load', async () => {
    await onPage(async (page, server) => {
      await page.evaluate('start()');
      if (store !== 'Cache Storage') {
        await page.evaluate(`(() => {
          globalThis.entries = new Map();
          peruse.env.cache = { match: async (url) => entries.get(url)?.clone(), put: async (url, response) => void entries.set(url, response) };
        })()`);
      }
      const right = server.files.get(`${kHub}tokenizer.json`)!;
      for (const wrong of ['{"error":"Rate limit reached"}', '{"version":"1.0","model":{"type":"Unknown"}}']) {
        server.files.set(`${kHub}tokenizer.json`, wrong);
        expect(await page.evaluate("count('user/model')")).toMatchObject({
          code: expect.stringMatching(/malformed_file|unsupported/) as string,
        });
        server.files.set(`${kHub}tokenizer.json`, right);
        expect(await page.evaluate("count('user/model')")).toEqual(kGood);
        await page.evaluate(`globalThis.entries ? entries.clear() : ${kEmptied}`);
      }
    });
  });
});

test('what is stored needs no server; a load that is cancelled, and one of a model that does not exist, reject', async () => {
  await onPage(async (page, server) => {
    await page.evaluate('start()');
    expect(await page.evaluate("count('user/model')")).toEqual(kGood);
    server.calls.length = 0;
    expect(await page.evaluate("count('user/model')")).toEqual(kGood);
    expect(server.calls.filter(({ path }) => path.startsWith(kHub))).toEqual([]);
    expect(await page.evaluate("count('user/model', { signal: AbortSignal.abort() })")).toMatchObject({
      code: 'aborted',
      name: 'AbortError',
    });
    server.files.set(`${kHub}tokenizer.json`, () => {}); // never answers
    await page.evaluate(kEmptied);
    expect(await page.evaluate("count('user/model', { signal: AbortSignal.timeout(500) })")).toMatchObject({ code: 'aborted' });
    expect(await page.evaluate("count('user/none', { offline: true })")).toMatchObject({ code: 'offline' });
    expect(await page.evaluate("count('/models/none/')")).toMatchObject({ code: 'not_found' });
    expect(await page.evaluate("count('/models/x/')")).toEqual(kGood);
  });
});
