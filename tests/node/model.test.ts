// load() returns a model, and everybody who names the same model shares its engine.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { load, type ModelOptions, type Pipeline, pipeline } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { pipelineModel } from './support/pipeline_models.js';
import { readTiny } from './support/tiny_files.js';

const kRoot = fileURLToPath(new URL('../..', import.meta.url));
const kSentiment = join(kRoot, 'models/peruse-sentiment-convbert-tiny');
const kReader = join(kRoot, 'models/peruse-reader-deberta-tiny');
const kText = 'A gem of a film.';
const folder = mkdtempSync(join(tmpdir(), 'peruse-model-'));
afterAll(() => rmSync(folder, { recursive: true }));

const workers: Worker[] = [];
const threads = createRequire(import.meta.url)('node:worker_threads') as { Worker: typeof Worker };
threads.Worker = class extends threads.Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    super(file, options);
    workers.push(this);
  }
};
syncBuiltinESMExports();
let started = 0; // before the test
beforeEach(() => {
  started = workers.length;
});

const classifier = (options: ModelOptions = {}) => pipeline('text-classification', kSentiment, { threads: 1, ...options });
const nine = <T>(make: () => Promise<T>) => Promise.all(Array.from({ length: 9 }, make));

describe.each([true, false])('worker: %s', (worker) => {
  test('nine pipelines of one task, loaded at once, have one engine', async () => {
    const one = await classifier({ worker });
    const expected = await one(kText);
    const { weightBytes, heapBytes } = await one.memory();
    await one.dispose();

    const before = process.memoryUsage().rss;
    const all = await nine(() => classifier({ worker }));
    expect(all.map(({ info }) => info.shared).sort()).toEqual([false, ...Array(8).fill(true)]);
    expect(await Promise.all(all.map((one) => one(kText)))).toEqual(Array(9).fill(expected));
    expect(await all[8]!.memory()).toEqual({ weightBytes, heapBytes });
    expect(process.memoryUsage().rss - before).toBeLessThan(20e6);
    expect(workers.length - started).toBeLessThanOrEqual(worker ? 1 : 0);

    const usage = await Promise.all(all.map((one) => one.usage()));
    expect(usage.map(({ calls }) => calls)).toEqual(Array(9).fill(1)); // each counts its own calls
    expect(new Set(usage.map(({ tokens }) => tokens))).toEqual(new Set([9]));

    const order = [4, 0, 8, 2, 6, 1, 7, 3];
    for (const index of order) await all[index]!.dispose();
    expect(await all[5]!(kText)).toEqual(expected);
    await expect(all[4]!(kText)).rejects.toMatchObject({ code: 'disposed' });
    await all[5]!.dispose();
    const next = await classifier({ worker });
    expect(next.info.shared).toBe(false);
    await next.dispose();
  });

  test('a model makes pipelines, and lives as long as one of its users', async () => {
    const model = await load(kReader, { threads: 1, worker });
    expect(model.info).toMatchObject({ model: kReader, shared: false, worker, weights: { architecture: 'DebertaV2ForQuestionAnswering' } });
    expect(await model.tokenizer.count('The bees.')).toBeGreaterThan(3);
    const { downloads, refused } = await model.describe();
    expect(downloads[0]!.tasks).toContain('question-answering');
    expect(refused['text-classification']).toMatchObject({ code: 'missing_head' });

    const answer = await model.pipeline('question-answering');
    const embed = await model.pipeline('feature-extraction');
    expect([answer.info.shared, embed.info.shared, answer.info.bytes]).toEqual([true, true, 0]);
    await expect(model.pipeline('text-classification')).rejects.toMatchObject({ code: 'missing_head' });
    await expect(model.pipeline('fill-mask', { dtype: 'q8' } as never)).rejects.toMatchObject({ code: 'invalid_argument' });
    await model.dispose();
    await model.dispose();
    expect((await answer('Where do the bees live?', 'The bees live in a hollow oak.')).answer).toMatch(/oak/);
    await expect(model.pipeline('feature-extraction')).rejects.toMatchObject({ code: 'disposed' });
    await expect(model.tokenizer.count('a')).rejects.toMatchObject({ code: 'disposed' });
    await expect(model.describe()).rejects.toMatchObject({ code: 'disposed' });
    await answer.dispose();
    expect((await embed(kText, { pooling: 'mean' })).dims[0]).toBe(1);
    await embed.dispose();
    const fresh = await load(kReader, { threads: 1, worker });
    expect(fresh.info.shared).toBe(false);
    await fresh.dispose();
  });

  test('a load goes on for a caller if another one aborts it', async () => {
    const { files } = await readTiny('bert-sequence');
    let finish = () => {};
    let asked = 0;
    const weights = files['model.safetensors'] as Uint8Array;
    const server = await startModelServer({
      ...files,
      'model.safetensors': (request, response: ServerResponse) => {
        if (request.method === 'HEAD') return void response.writeHead(200, { 'content-length': weights.length }).end();
        asked += 1;
        response.writeHead(200, { 'content-length': weights.length }).write(weights.subarray(0, 100));
        finish = () => response.end(weights.subarray(100));
      },
    });
    try {
      for (const first of [true, false]) {
        const before = asked;
        const stop = new AbortController();
        const signals = first ? [stop.signal, undefined] : [undefined, stop.signal];
        const loads = signals.map((signal) =>
          pipeline('text-classification', server.url, { threads: 1, worker, cache: 'source', ...(signal && { signal }) }),
        );
        const [gone, stays] = first ? loads : [loads[1]!, loads[0]!];
        await expect.poll(() => asked, { timeout: 20_000 }).toBe(before + 1);
        stop.abort();
        await expect(gone).rejects.toMatchObject({ code: 'aborted' });
        finish();
        const classify = await stays!;
        expect(await classify('a')).toHaveLength(1);
        expect(asked).toBe(before + 1);
        await classify.dispose();
        const { modelCache } = await import('../../web/dist/index_node.js');
        await modelCache.delete(server.url);
      }
    } finally {
      await server.close();
    }
  });

  test('a load that fails, fails for all that wait, and the next one starts anew', async () => {
    const { files } = await readTiny('bert-sequence');
    let isBroken = true;
    const served = Object.fromEntries(
      Object.entries(files).map(([name, body]) => [
        name,
        (_: unknown, response: ServerResponse) => {
          if (isBroken && name === 'tokenizer.json') return void response.writeHead(200).end('{"version": 1');
          response.writeHead(200, { etag: `"${isBroken}"` }).end(body);
        },
      ]),
    );
    const server = await startModelServer(served);
    try {
      const results = await Promise.allSettled(
        Array.from({ length: 3 }, () => pipeline('text-classification', server.url, { threads: 1, worker })),
      );
      expect(results.map((one) => (one as PromiseRejectedResult).reason?.code)).toEqual(Array(3).fill('malformed_file'));
      isBroken = false;
      const classify = await pipeline('text-classification', server.url, { threads: 1, worker });
      expect(await classify('a')).toHaveLength(1);
      await classify.dispose();
    } finally {
      await server.close();
    }
  });

  test('calls of one and of many pipelines take turns, and an urgent call passes', async () => {
    const [batch, other] = await Promise.all([classifier({ worker }), classifier({ worker })]);
    const texts = Array.from({ length: 1500 }, (_, i) => `A waste of two hours of my life, number ${i}.`);
    const expected = await batch(texts.slice(0, 1));
    const order: string[] = [];
    const note = (name: string) => (result: unknown) => {
      order.push(name);
      return result;
    };
    const running = batch(texts).then(note('batch'));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const start = performance.now();
    const urgent = batch(kText, { priority: 'high' }).then(note('urgent'));
    const later = batch(kText).then(note('later'));
    const between = other(kText).then(note('other'));
    await urgent;
    const waited = performance.now() - start;
    const [all] = await Promise.all([running, later, between]);
    expect(order).toEqual(['urgent', 'other', 'later', 'batch']);
    expect(waited).toBeLessThan((performance.now() - start) / 2);
    expect((all as unknown[]).slice(0, 1)).toEqual(expected);
    expect(all).toEqual(await batch(texts));
    await expect(batch(kText, { priority: 'low' as 'high' })).rejects.toMatchObject({ code: 'invalid_argument' });
    await Promise.all([batch.dispose(), other.dispose()]);
  });

  test('disposing of a pipeline ends its calls and no others', async () => {
    const [one, other] = await Promise.all([classifier({ worker }), classifier({ worker })]);
    const texts = Array.from({ length: 500 }, () => kText);
    const [gone, stays] = [one(texts), other(texts)];
    await new Promise((resolve) => setTimeout(resolve, 5));
    await one.dispose();
    await expect(gone).rejects.toMatchObject({ code: 'aborted' });
    await expect(one(kText)).rejects.toMatchObject({ code: 'disposed' });
    expect(await stays).toHaveLength(500);
    await other.dispose();
  });
});

test('load() finds the task of the class: a masked LM, a classifier of tokens, an embedder', async () => {
  for (const [head, tensor] of [
    ['masked-lm', /predictions|generator/],
    ['token', /classifier/],
  ] as const) {
    const model = await load(await pipelineModel('convbert', head), { threads: 1 });
    expect(model.info.weights.headTensors.join()).toMatch(tensor);
    await model.dispose();
  }
});

test('a lost worker: all of its users get a typed error, and the next load starts anew', async () => {
  const all = await nine(() => classifier({ worker: true }));
  const model = await load(kSentiment, { threads: 1, worker: true });
  const calls = all.map((one) => one(Array(2000).fill(kText)));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await workers.at(-1)!.terminate();
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'worker_died' });
  await expect(all[0]!(kText)).rejects.toMatchObject({ code: 'worker_died' });
  const next = await classifier({ worker: true });
  expect(next.info.shared).toBe(false);
  expect(await next(kText)).toHaveLength(1);
  for (const one of [...all, model]) await one.dispose();
  expect(await next(kText)).toHaveLength(1);
  await next.dispose();
});

test('a folder that has changed is another model; the old one stays with its users', async () => {
  const copy = join(folder, 'sentiment');
  cpSync(kSentiment, copy, { recursive: true });
  const open = () => pipeline('text-classification', copy, { threads: 1 });
  const [old, same] = [await open(), await open()];
  expect([old.info.shared, same.info.shared]).toEqual([false, true]);
  await same.dispose();
  utimesSync(join(copy, 'model.safetensors'), new Date(), new Date(Date.now() + 5000));
  const fresh = await nine(open);
  expect(fresh.map(({ info }) => info.shared).filter((shared) => !shared)).toHaveLength(1);
  await old.dispose();
  expect(await fresh[8]!(kText)).toHaveLength(1);
  for (const one of fresh) await one.dispose();
});

test('React mounts, unmounts and mounts again: one engine', async () => {
  const mounts: Promise<Pipeline<'text-classification'>>[] = [];
  for (let component = 0; component < 5; ++component) {
    const stop = new AbortController();
    const first = classifier({ worker: true, signal: stop.signal });
    first.then(
      (one) => one.dispose(),
      () => {},
    );
    stop.abort();
    mounts.push(classifier({ worker: true }));
  }
  const all = await Promise.all(mounts);
  expect(all.filter(({ info }) => !info.shared).length).toBeLessThanOrEqual(1); // the first load may be that of an unmounted component
  expect(workers.length - started).toBeLessThanOrEqual(1);
  for (const one of all) await one.dispose();
});

// Node 20 has the permission model under another name.
const kPermission = Number(process.versions.node.split('.')[0]) < 23 ? '--experimental-permission' : '--permission';

test.each([
  [[], '{}', 'false 1 1'],
  [['--allow-worker'], '{"threads":2}', 'true 2 0'],
  [[], '{"worker":true}', 'unsupported'],
  [[], '{"threads":2}', 'unsupported'],
])('under the permission model with %j, options %s', (allowed, options, expected) => {
  const program = `import { pipeline } from '${new URL('../../web/dist/index_node.js', import.meta.url).href}';
    try {
      const classify = await pipeline('text-classification', '${kSentiment}', ${options});
      await classify('a');
      const { worker, threads, notices } = classify.info;
      console.log(worker, threads, notices.filter((one) => one.includes('--allow-worker')).length);
    } catch (error) {
      console.log(error.code);
    }`;
  const flags = [kPermission, '--allow-fs-read=*', ...allowed, '--input-type=module', '-e', program];
  const run = spawnSync(process.execPath, flags, { encoding: 'utf8', timeout: 60_000 });
  expect(run.stdout, run.stderr).toBe(`${expected}\n`);
});

test('model.teach() needs peruse/teach', async () => {
  const program = `import { load } from 'peruse';
    const model = await load('${kSentiment}', { threads: 1 });
    const examples = [{ text: 'a gem', label: 'good' }, { text: 'a joy', label: 'good' }, { text: 'dull', label: 'bad' }, { text: 'a waste', label: 'bad' }];
    await model.teach(examples, { epochs: 1 }).catch((error) => console.log(error.code, error.message));
    await import('peruse/teach');
    const taught = await model.teach(examples, { method: 'head', threads: 1 });
    console.log(taught.task, taught.report.examples);
    const classify = await taught.pipeline();
    console.log((await classify('a gem')).length);`;
  const run = spawnSync(process.execPath, ['--input-type=module'], { cwd: kRoot, input: program, encoding: 'utf8', timeout: 60_000 });
  expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({
    status: 0,
    out: 'unsupported model.teach() needs the training engine. Import peruse/teach first.\ntext-classification 4\n1\n',
  });
});
