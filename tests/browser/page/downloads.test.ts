// Downloads in Chromium that go wrong: connections that break within 40 MB, wrong answers that are stored nowhere, and a page's own fetch. The
// files are stored in Cache Storage, and in the origin's private file system.
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright';
import { beforeAll, describe, expect, test } from 'vitest';
import { type BrokenFile, breaksAt, randomPositions } from '../../node/support/broken_downloads.js';
import type { Content, ModelServer } from '../../node/support/model_server.js';
import { joinSafetensors, splitSafetensors, type TensorEntry } from '../../node/support/tiny.js';
import { readTiny } from '../../node/support/tiny_files.js';
import { readFolder, type Site, withPage } from './visit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kBulk = 40 << 20;
const kHub = 'hub/user/model/resolve/main/';
const kScript = `
import { env, modelCache, pipeline } from '/web/bundle/peruse.js';
globalThis.peruse = { env, modelCache };
globalThis.classify = async (options) => {
  const progress = [];
  const progress_callback = ({ status, file, loaded }) => {
    if (status === 'progress' && file === 'model.safetensors') progress.push(loaded);
  };
  try {
    const classifier = await pipeline('text-classification', 'user/model', { ...options, progress_callback });
    const [best] = await classifier('t1 t2 t3', { function_to_apply: 'none' });
    await classifier.dispose();
    return { best, rises: progress.every((loaded, index) => index === 0 || loaded >= progress[index - 1]) };
  } catch (error) {
    return { code: error.code, message: error.message };
  }
};
`;

let small: Site;
let large: Uint8Array;
let weights: Uint8Array;
beforeAll(async () => {
  const { files } = await readTiny('deberta-v2-sequence');
  weights = files['model.safetensors']!;
  large = withBulk(weights);
  small = {
    'index.html': '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/page.js"></script>',
    'page.js': kScript,
  };
  Object.assign(small, await readFolder(`${kRoot}web/bundle`, kRoot));
  for (const [name, content] of Object.entries(files)) small[kHub + name] = content;
});

/** Weights with 40 MB between the tensors that the model reads: a byte too many or too few moves those behind. */
function withBulk(file: Uint8Array): Uint8Array {
  const { header, body } = splitSafetensors(file);
  const middle = 4 * Math.floor(body.length / 8);
  const cut = Math.max(...Object.values(header).flatMap((one) => (one.data_offsets?.[1] <= middle ? [one.data_offsets[1]] : [])));
  const moved = Object.entries(header).map(([name, entry]): [string, TensorEntry] => {
    if (!entry.data_offsets || entry.data_offsets[0] < cut) return [name, entry];
    return [name, { ...entry, data_offsets: [entry.data_offsets[0] + kBulk, entry.data_offsets[1] + kBulk] }];
  });
  const bulk = new Uint8Array(kBulk);
  const words = new Uint32Array(bulk.buffer);
  for (let i = 0; i < words.length; ++i) words[i] = Math.imul(i + 1, 2654435761) & 0x3fffffff; // never NaN
  const own: TensorEntry = { dtype: 'F32', shape: [kBulk / 4], data_offsets: [cut, cut + kBulk] };
  const ordered = Object.fromEntries([...moved, ['unused.bulk', own] as const]);
  return joinSafetensors(ordered, Buffer.concat([body.subarray(0, cut), bulk, body.subarray(cut)]));
}

interface Loaded {
  best?: { label: string; score: number };
  rises?: boolean;
  code?: string;
  message?: string;
}

async function onPage(store: string | boolean, content: Content, use: (page: Page, server: ModelServer) => Promise<void>): Promise<void> {
  await withPage({ ...small, [`${kHub}model.safetensors`]: content }, { 'cache-control': 'no-store' }, async (page, server) => {
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction('globalThis.classify');
    await page.evaluate(`Object.assign(peruse.env, { remoteHost: new URL("/hub/", location.href).href, cache: ${JSON.stringify(store)} })`);
    await use(page, server);
  });
}

const load = (page: Page, options: object = {}) => page.evaluate(`classify(${JSON.stringify(options)})`) as Promise<Loaded>;
const weightsAsked = (server: ModelServer) => server.calls.splice(0).filter(({ path }) => path === `${kHub}model.safetensors`);

const kTag = () => '"1"';
let tags = 0;
const changingTag = () => {
  tags += 1;
  return `"${tags >> 1}"`;
};

async function expected(): Promise<Loaded> {
  let found: Loaded = {};
  await onPage(false, weights, async (page) => {
    found = await load(page);
  });
  return found;
}

describe.each([[true], ['opfs']])('store: %s', (store) => {
  test.each([
    ['with ranges', { etag: kTag, ranges: true }, 20],
    ['without ranges', { etag: kTag, ranges: false }, 20],
    ['with a tag that changes between the parts', { etag: changingTag, ranges: true }, 3],
  ] as [string, Omit<BrokenFile, 'content'>, number][])('random breaks in 40 MB, %s', async (_, file, count) => {
    const { best } = await expected();
    const positions = randomPositions(count, 7, large.length);
    await onPage(store, breaksAt(positions, { ...file, content: large }), async (page, server) => {
      expect(await load(page)).toEqual({ best, rises: true });
      expect(weightsAsked(server).length).toBeGreaterThan(Math.min(count, 10) - 1);
      expect(await load(page, { offline: true })).toMatchObject({ best });
      expect(weightsAsked(server)).toEqual([]);
      expect(await page.evaluate('peruse.modelCache.verify()')).toMatchObject({ damaged: [] });
    });
  });

  test('a later visit goes on where the last one ended', async () => {
    const { best } = await expected();
    const end = 20.5 * (1 << 20);
    let answer = breaksAt(
      Array.from({ length: 9 }, () => end),
      { content: large, etag: kTag },
    );
    const content: Content = (request, response) => answer(request, response);
    await onPage(store, content, async (page, server) => {
      expect(await load(page)).toMatchObject({ code: 'network' });
      answer = breaksAt([], { content: large, etag: kTag });
      weightsAsked(server);
      await page.reload();
      await page.waitForFunction('globalThis.classify');
      await page.evaluate(
        `Object.assign(peruse.env, { remoteHost: new URL("/hub/", location.href).href, cache: ${JSON.stringify(store)} })`,
      );
      expect(await load(page)).toMatchObject({ best });
      const [{ headers }] = weightsAsked(server) as [ModelServer['calls'][number]];
      expect(Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')![1])).toBeGreaterThan(10 << 20);
    });
  });

  test.each([
    ['config.json', '<!doctype html><title>Sign in</title>', 'text/html'],
    ['config.json', '{"error":"Rate limit reached"}', 'application/json'],
    ['tokenizer.json', '{"model":', 'application/json'],
    ['tokenizer.json', '', 'application/json'],
    ['model.safetensors', `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 5\n`, 'text/plain'],
    ['model.safetensors', '<?xml version="1.0"?><Error/>', 'application/xml'],
  ])('%s is %j once: the next load asks again, and a later one does not', async (name, body, type) => {
    await onPage(store, weights, async (page, server) => {
      const right = server.files.get(kHub + name)!;
      server.files.set(kHub + name, (_, response) => response.writeHead(200, { 'content-type': type }).end(body));
      expect((await load(page)).code).toMatch(/malformed_file|truncated_file/);
      server.files.set(kHub + name, right);
      expect((await load(page)).best).toBeDefined();
      server.calls.length = 0;
      expect((await load(page)).best).toBeDefined();
      expect(server.calls.filter(({ path }) => path.startsWith(kHub))).toEqual([]);
    });
  });

  test('modelCache lists, checks and removes what is stored; loads at the same time share one download', async () => {
    await onPage(store, weights, async (page, server) => {
      await page.evaluate('Promise.all([classify(), classify(), classify()])');
      expect(weightsAsked(server).filter(({ method }) => method === 'GET')).toHaveLength(1);
      const listed = (await page.evaluate('peruse.modelCache.list()')) as { url: string }[];
      expect(listed.map(({ url }) => url.split('/').pop()).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
      expect(await page.evaluate('peruse.modelCache.delete("user/model")')).toBeGreaterThan(2);
      expect(await page.evaluate('peruse.modelCache.list()')).toEqual([]);
      await load(page);
      expect(await page.evaluate('peruse.modelCache.clear()')).toBeGreaterThan(2);
      expect(await load(page, { offline: true })).toMatchObject({ code: 'offline' });
    });
  });
});

test.each([true, false])("env.fetch sends every request of a page, in the page's thread; worker: %s", async (worker) => {
  await onPage(true, weights, async (page, server) => {
    await page.evaluate(`(() => {
      globalThis.asked = [];
      peruse.env.fetch = (url, init) => {
        asked.push(String(url).split('/').pop());
        return fetch(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-own': 'yes' } });
      };
    })()`);
    expect((await load(page, { worker })).best).toBeDefined();
    const calls = server.calls.filter(({ path }) => path.startsWith('hub/'));
    expect(calls.length).toBeGreaterThan(2);
    expect(calls.map(({ headers }) => headers['x-own'])).toEqual(calls.map(() => 'yes'));
    expect(await page.evaluate('asked.length')).toBeGreaterThanOrEqual(calls.length);
    expect(server.requests.filter((path) => path.endsWith('peruse-files.js'))).toEqual([]);
    await page.evaluate(`(() => {
      peruse.env.fetch = async (url, init) => {
        if (String(url).includes('/hub/')) throw new Error('the proxy is closed');
        return fetch(url, init);
      };
      return peruse.modelCache.clear();
    })()`);
    expect(await load(page, { worker })).toMatchObject({
      code: 'network',
      message: expect.stringContaining('the proxy is closed') as string,
    });
  });
});

test("a page's own fetch sends every request, also those of the worker", async () => {
  await onPage(true, weights, async (page, server) => {
    await page.evaluate(`(() => {
      const usual = fetch;
      globalThis.fetch = (url, init) =>
        usual(url, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-own': 'yes' } });
    })()`);
    expect((await load(page)).best).toBeDefined();
    const calls = server.calls.filter(({ path }) => path.startsWith('hub/'));
    expect(calls.length).toBeGreaterThan(2);
    expect(calls.map(({ headers }) => headers['x-own'])).toEqual(calls.map(() => 'yes'));
  });
});
