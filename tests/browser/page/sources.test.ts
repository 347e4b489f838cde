import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../../node/support/model_server.js';
import { readTiny } from '../../node/support/tiny_files.js';
import { readFolder, type Site, withPage } from './visit.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kFiles = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'];

// The page's classify(source, options) loads, classifies, disposes, and returns the result or error.
const kPage = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title>
<input type="file" webkitdirectory><div id="drop" style="height:200px;background:#ddd">drop</div>
<script type="module" src="/page.js"></script>`;
const kScript = `
import { env, modelCache, pipeline } from '/web/bundle/peruse.js';
globalThis.peruse = { env, modelCache };
globalThis.classify = async (source, options) => {
  try {
    const classifier = await pipeline('text-classification', source, options);
    const [best] = await classifier('t1 t2 t3');
    await classifier.dispose();
    return best.label;
  } catch (error) {
    return \`\${error.name} \${error.code}: \${error.message}\`;
  }
};
const drop = document.querySelector('#drop');
drop.ondragover = (event) => event.preventDefault();
drop.ondrop = (event) => {
  event.preventDefault();
  globalThis.dropped = classify(event.dataTransfer);
};
`;

let site: Site;
let model: Record<string, Uint8Array>;
let folder: string;
beforeAll(async () => {
  model = (await readTiny('deberta-v2-sequence')).files;
  site = {
    'index.html': kPage,
    'page.js': kScript,
    ...(await readFolder(`${kRoot}web/bundle`, kRoot)),
  };
  for (const [name, content] of Object.entries(model)) {
    site[`m/${name}`] = content;
    site[`hub/user/model/resolve/main/${name}`] = content;
  }
  folder = await mkdtemp(join(tmpdir(), 'peruse-model-'));
  await Promise.all(Object.entries(model).map(([name, content]) => writeFile(join(folder, name), content)));
});
afterAll(() => rm(folder, { recursive: true }));

async function onPage(use: (page: Page, server: ModelServer) => Promise<void>): Promise<void> {
  await withPage(site, { 'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT', 'cache-control': 'no-store' }, async (page, server) => {
    await page.goto(`${server.url}index.html`);
    await page.waitForFunction('globalThis.classify');
    await page.evaluate('peruse.env.remoteHost = new URL("/hub/", location.href).href');
    await use(page, server);
  });
}

function asked(server: ModelServer): string[] {
  return server.calls
    .splice(0)
    .flatMap(({ method, path }) => (/^(m|hub)\//.test(path) ? [`${method} ${path.split('/').pop()}`] : []))
    .sort();
}

const gets = kFiles.map((name) => `GET ${name}`);

test('a hub id and a URL are kept in Cache Storage; loads at the same time share one download', () =>
  onPage(async (page, server) => {
    expect(await page.evaluate('Promise.all([classify("user/model"), classify("user/model"), classify("user/model")])')).toEqual(
      Array(3).fill(expect.stringMatching(/^LABEL_/)),
    );
    expect(asked(server)).toEqual(gets);
    expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
    expect(asked(server)).toEqual([]);

    expect(await page.evaluate('classify("./m/")')).toMatch(/^LABEL_/);
    expect(asked(server)).toEqual(gets);
    expect(await page.evaluate('classify("./m/")')).toMatch(/^LABEL_/);
    expect(asked(server)).toEqual(['GET tokenizer_config.json', 'HEAD config.json', 'HEAD model.safetensors', 'HEAD tokenizer.json']);

    const listed = (await page.evaluate('peruse.modelCache.list()')) as { url: string; bytes: number }[];
    expect(listed).toHaveLength(6);
    for (const { url, bytes } of listed) expect(bytes).toBe(model[url.split('/').pop()!]!.length);
    expect(await page.evaluate('peruse.modelCache.delete("user/model")')).toBe(3);
    await page.evaluate('peruse.env.offline = true');
    expect(await page.evaluate('classify("./m/")')).toMatch(/^LABEL_/);
    expect(await page.evaluate('classify("user/model")')).toMatch(/^PeruseError offline: .*config\.json/);
    expect(await page.evaluate('peruse.modelCache.clear()')).toBe(3);
    expect(await page.evaluate('caches.keys()')).toEqual(['peruse-models-v3']);
    expect(asked(server)).toEqual([]);
  }));

test('with the cache off every load fetches', () =>
  onPage(async (page, server) => {
    await page.evaluate('peruse.env.cache = false');
    for (let i = 0; i < 2; ++i) {
      expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
      expect(asked(server)).toEqual(gets);
    }
    expect(await page.evaluate('caches.keys()')).toEqual([]);
  }));

test("a cache of the page's own serves the worker; one that is full does no harm", () =>
  onPage(async (page, server) => {
    await page.evaluate(`{
    globalThis.kept = new Map();
    peruse.env.cache = {
      match: async (url) => kept.get(url)?.clone(),
      put: async (url, response) => { kept.set(url, new Response(response.status === 200 ? await response.arrayBuffer() : null, response)); },
    };
  }`);
    for (const expected of [gets, []]) {
      expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
      expect(asked(server)).toEqual(expected);
    }
    expect(await page.evaluate('classify("user/none")')).toMatch(/^PeruseError not_found: .*user\/none\/resolve\/main\/config\.json/);
    await page.evaluate(
      'peruse.env.cache = { match: async () => undefined, put: async () => { throw new DOMException("full", "QuotaExceededError"); } }',
    );
    expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
  }));

test('Cache Storage that is full does no harm', () =>
  onPage(async (page, server) => {
    const session = await page.context().newCDPSession(page);
    await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(server.url).origin, quotaSize: 1000 });
    expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
    asked(server);
    expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
    expect(asked(server)).toContain('GET model.safetensors');
  }));

test('a load that is cancelled midway stores nothing of the torn file', () =>
  onPage(async (page, server) => {
    const whole = model['model.safetensors']!;
    const path = 'hub/user/model/resolve/main/model.safetensors';
    server.files.set(path, (_, response) => {
      response.writeHead(200, { 'content-length': whole.length }).write(whole.subarray(0, 20_000));
    });
    await page.evaluate(`{
    globalThis.stop = new AbortController();
    globalThis.loading = classify("user/model", { signal: stop.signal, progress_callback: (p) => { if (p.file === 'model.safetensors' && p.loaded > 0) stop.abort(); } });
  }`);
    expect(await page.evaluate('loading')).toMatch(/^AbortError aborted/);
    server.files.set(path, whole);
    expect(await page.evaluate('classify("user/model")')).toMatch(/^LABEL_/);
    expect(asked(server).filter((call) => call === 'GET model.safetensors')).toHaveLength(2);
  }));

test('files that another origin compresses, of whatever length, load and are asked for once', () =>
  onPage(async (page) => {
    const elsewhere = await startModelServer(
      Object.fromEntries(
        Object.entries(model).map(([name, content]) => [
          name,
          (request, response) => {
            const zipped = gzipSync(content, { level: name.endsWith('.json') ? 9 : 0 }); // longer or shorter than the file
            response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': zipped.length });
            response.end(request.method === 'HEAD' ? undefined : zipped);
          },
        ]),
      ),
      { 'access-control-allow-origin': '*', 'last-modified': 'Sat, 01 Jan 2022 00:00:00 GMT' },
    );
    try {
      for (let i = 0; i < 3; ++i) {
        expect(await page.evaluate(`classify("${elsewhere.url}")`)).toMatch(/^LABEL_/);
        const fetched = elsewhere.calls.splice(0).filter(({ method, path }) => method === 'GET' && path in model);
        expect(fetched).toHaveLength(i === 0 ? Object.keys(model).length : 0);
      }
    } finally {
      await elsewhere.close();
    }
  }));

test('a server of another origin that does not answer: what a page can know of it', () =>
  onPage(async (page) => {
    const said = await page.evaluate('classify("http://127.0.0.1:1/m/")');
    expect(said).toMatch(/^PeruseError network: .*could not be reached: .*does not allow this page by CORS .*connect-src/);
  }));

test('a token goes to the hub, never to where it redirects', () =>
  onPage(async (page, server) => {
    const seen: (string | undefined)[] = [];
    const elsewhere = await startModelServer(
      Object.fromEntries(
        Object.entries(model).map(([name, content]) => [
          name,
          (request, response) => {
            seen.push(request.headers.authorization);
            response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content);
          },
        ]),
      ),
      { 'access-control-allow-origin': '*' },
    );
    try {
      for (const name of Object.keys(model)) {
        server.files.set(`hub/user/model/resolve/main/${name}`, (request, response) => {
          if (request.headers.authorization !== 'Bearer right') response.writeHead(401).end();
          else response.writeHead(302, { location: elsewhere.url + name }).end();
        });
      }
      expect(await page.evaluate('classify("user/model")')).toMatch(/^PeruseError unauthorized: .*pass an access token/);
      expect(await page.evaluate('classify("user/model", { token: "right" })')).toMatch(/^LABEL_/);
      expect(seen).toEqual(Object.keys(model).map(() => undefined));
    } finally {
      await elsewhere.close();
    }
  }));

test('a folder that is chosen, dropped or given by a handle is a source, and so are files that are dropped', () =>
  onPage(async (page) => {
    await page.setInputFiles('input', folder);
    expect(await page.evaluate('classify(document.querySelector("input").files)')).toMatch(/^LABEL_/);
    expect(await page.evaluate('classify([...document.querySelector("input").files])')).toMatch(/^LABEL_/);

    const session = await page.context().newCDPSession(page);
    const drop = async (paths: string[]) => {
      const { x, y } = (await page.locator('#drop').boundingBox())!;
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await session.send('Input.dispatchDragEvent', {
          type,
          x: x + 5,
          y: y + 5,
          data: { items: [], files: paths, dragOperationsMask: 1 },
        });
      }
      return page.evaluate('dropped');
    };
    expect(await drop([folder])).toMatch(/^LABEL_/);
    expect(await drop(Object.keys(model).map((name) => join(folder, name)))).toMatch(/^LABEL_/);
    expect(await drop([folder, join(folder, 'config.json')])).toMatch(/^PeruseError invalid_argument: Drop either one folder/);

    expect(
      await page.evaluate(`(async () => {
    const root = await navigator.storage.getDirectory();
    const directory = await root.getDirectoryHandle('model', { create: true });
    for (const name of ${JSON.stringify(Object.keys(model))}) {
      const file = await (await directory.getFileHandle(name, { create: true })).createWritable();
      await (await fetch('/m/' + name)).body.pipeTo(file);
    }
    return classify(directory);
  })()`),
    ).toMatch(/^LABEL_/);
  }));
