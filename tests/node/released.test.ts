// What a call or a load holds is released: computations, listeners, ports, threads.

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { env, modelCache, pipeline } from '../../web/dist/index_node.js';
import { UrlFolder } from '../../web/dist/sources/folders/folder_url.js';
import { streamOf } from '../../web/dist/tasks/stream.js';
import { readTiny } from './support/tiny_files.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const { files } = await readTiny('bert-sequence');

/** A cache of the caller's own, which a worker can only read through this thread. */
const kOwnCache = {
  async match(url: string) {
    const content = files[url.replace(/.*\/resolve\/main\//, '')];
    return content && new Response(content as Uint8Array<ArrayBuffer>);
  },
  async put() {},
};
afterEach(() => {
  env.cache = true;
});

/** A signal, and the number of its listeners. */
function watchedSignal() {
  const { signal } = new AbortController();
  const watched = { signal, listeners: 0 };
  for (const [name, change] of [
    ['addEventListener', 1],
    ['removeEventListener', -1],
  ] as const) {
    const own = signal[name].bind(signal) as (...given: unknown[]) => void;
    signal[name] = (...given: unknown[]) => {
      watched.listeners += change;
      own(...given);
    };
  }
  return watched;
}

test('a file that was read, or closed, leaves no listener at the signal of its load', async () => {
  const folder = new UrlFolder(
    { name: 'x', base: 'https://x.test/' },
    { fetchFile: async (url) => ({ url, response: new Response('{"a": 1}', { headers: { 'Content-Length': '8' } }) }) },
  );
  const watched = watchedSignal();
  const file = await folder.open('config.json', watched.signal);
  expect(watched.listeners).toBeGreaterThan(0);
  if (file.found) for await (const _ of file.chunks());
  expect(watched.listeners).toBe(0);
  const other = await folder.open('config.json', watched.signal);
  if (other.found) await other.close();
  expect(watched.listeners).toBe(0);
});

describe('a stream', () => {
  /** Computes batches that never end, except the first. */
  function calls() {
    const signals: AbortSignal[] = [];
    const call = async (batch: unknown, options: unknown) => {
      signals.push((options as { signal: AbortSignal }).signal);
      return signals.length === 1 ? (batch as unknown[]) : new Promise(() => {});
    };
    return { signals, call: call as (...given: unknown[]) => Promise<unknown> };
  }

  test('that is left ends the batch that is computed ahead', async () => {
    const { signals, call } = calls();
    const stream = streamOf('text-classification', call, new AbortController().signal);
    for await (const _ of stream(['a', 'b', 'c', 'd'], { batch_size: 2 })) {
      await expect.poll(() => signals.length).toBe(2);
      expect(signals[1]!.aborted).toBe(false);
      break;
    }
    expect(signals[1]!.aborted).toBe(true);
  });

  test('leaves no listeners at the signals of the caller and of the pipeline', async () => {
    const [own, returned] = [watchedSignal(), watchedSignal()];
    const stream = streamOf('text-classification', async (batch) => batch, returned.signal);
    for await (const _ of stream(['a', 'b', 'c'], { batch_size: 1, signal: own.signal }));
    expect([own.listeners, returned.listeners]).toEqual([0, 0]);
  });
});

describe('modelCache.has()', () => {
  const folders: string[] = [];
  afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  test('is false for models that are not there, and throws for broken ones', async () => {
    expect(await modelCache.has('./missing-folder/')).toBe(false);
    expect(await modelCache.has('user/not-stored')).toBe(false);
    const folder = await mkdtemp(join(tmpdir(), 'peruse-broken-'));
    folders.push(folder);
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    expect(await modelCache.has(folder)).toBe(true);
    await writeFile(join(folder, 'config.json'), '{"model_type": 7');
    await expect(modelCache.has(folder)).rejects.toMatchObject({ code: 'malformed_file' });
    await expect(modelCache.has('', {})).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

test('describe() reads in its own thread what a worker could only read through it', () => {
  const threads = (settings: string, model: string) => {
    const script = `
      import { describe, env } from './web/dist/index_node.js';
      import { readFile } from 'node:fs/promises';
      let threads = 0;
      process.on('worker', () => (threads += 1));
      ${settings}
      const { downloads } = await describe('${model}', { offline: true });
      console.log(threads, downloads[0].cached);`;
    return execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: kRoot, encoding: 'utf8' }).trim();
  };
  const own = `
    const open = (url) => readFile('models/peruse-sentiment-convbert-tiny/' + url.replace(/.*\\/main\\//, ''));
    env.cache = { match: (url) => open(url).then((content) => new Response(content), () => undefined), put: async () => {} };`;
  expect(threads('', 'models/peruse-sentiment-convbert-tiny')).toBe('1 true');
  expect(threads(own, 'made/up')).toBe('0 true');
});

const ports = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

test('the port of the files of a model closes after its load', async () => {
  const plain = await pipeline('text-classification', kSentiment, { worker: true });
  const after = ports();
  await plain.dispose();
  env.cache = kOwnCache;
  const classify = await pipeline('text-classification', 'made/up', { worker: true, offline: true });
  await expect.poll(ports).toBe(after);
  await classify.dispose();
});
