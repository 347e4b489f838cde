import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { type Pipeline, type PipelineOptions, pipeline } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { pipelineModel } from './support/pipeline_models.js';

const kRoot = fileURLToPath(new URL('../..', import.meta.url));
const kReader = join(kRoot, 'models/peruse-reader-deberta-tiny');
const kPassage = 'The bees live in a hollow oak behind the mill.';
const kMasked = 'the [MASK] is here';
const kQuestion = 'Where do the bees live?';
const folder = mkdtempSync(join(tmpdir(), 'peruse-sharing-'));
afterAll(() => rmSync(folder, { recursive: true }));

const answering = (options: PipelineOptions = {}) => pipeline('question-answering', kReader, { threads: 1, ...options });
const embedding = (options: PipelineOptions = {}) => pipeline('feature-extraction', kReader, { threads: 1, ...options });

async function vectorOf(embed: Pipeline<'feature-extraction'>): Promise<number[]> {
  return Array.from((await embed(kPassage, { pooling: 'mean' })).data);
}

async function alone() {
  const answer = await answering();
  const expected = { answer: await answer(kQuestion, kPassage) };
  expect(answer.info.shared).toBe(false);
  await answer.dispose();
  const embed = await embedding();
  expect(embed.info.shared).toBe(false);
  const vector = await vectorOf(embed);
  await embed.dispose();
  return { ...expected, vector };
}

describe.each([
  ['in this thread', false],
  ['in a worker', true],
])('%s', (_, worker) => {
  test('the second holds no weights of its own, and both answer as alone', async () => {
    const expected = await alone();
    const answer = await answering({ worker });
    const before = await answer.memory();
    const embed = await embedding({ worker });
    expect([answer.info.shared, embed.info.shared]).toEqual([false, true]);
    expect(embed.info.bytes).toBeLessThan(answer.info.bytes / 5); // did not read weights
    const after = await embed.memory();
    expect(after.weightBytes).toBe(before.weightBytes);
    expect(after.heapBytes - before.heapBytes).toBeLessThan(before.weightBytes / 4);
    expect(await answer(kQuestion, kPassage)).toEqual(expected.answer);
    expect(await vectorOf(embed)).toEqual(expected.vector);
    await answer.dispose();
    await embed.dispose();
  });

  test.each([['the first'], ['the second']])('%s goes, and the other works on', async (which) => {
    const expected = await alone();
    const answer = await answering({ worker });
    const embed = await embedding({ worker });
    if (which === 'the first') {
      await answer.dispose();
      expect(await vectorOf(embed)).toEqual(expected.vector);
      await expect(answer(kQuestion, kPassage)).rejects.toMatchObject({ code: 'disposed' });
      const again = await answering({ worker });
      expect(again.info.shared).toBe(true); // although it had to read its head
      expect(await again(kQuestion, kPassage)).toEqual(expected.answer);
      await embed.dispose();
      expect(await again(kQuestion, kPassage)).toEqual(expected.answer);
      await again.dispose();
    } else {
      await embed.dispose();
      expect(await answer(kQuestion, kPassage)).toEqual(expected.answer);
      await expect(embed(kPassage)).rejects.toMatchObject({ code: 'disposed' });
      await answer.dispose();
    }
    const fresh = await embedding({ worker });
    expect(fresh.info.shared).toBe(false); // the last pipeline has freed the engine
    await fresh.dispose();
  });

  test('both at once, and loaded at once', async () => {
    const expected = await alone();
    const [answer, embed] = await Promise.all([answering({ worker }), embedding({ worker })]);
    expect([answer.info.shared, embed.info.shared].sort()).toEqual([false, true]);
    const results = await Promise.all([vectorOf(embed), answer(kQuestion, kPassage), vectorOf(embed), answer(kQuestion, kPassage)]);
    expect(results).toEqual([expected.vector, expected.answer, expected.vector, expected.answer]);
    await Promise.all([answer.dispose(), embed.dispose()]);
  });

  test('what goes wrong in one harms the other in nothing', async () => {
    const expected = await alone();
    const answer = await answering({ worker });
    const embed = await embedding({ worker });
    await expect(embed('word '.repeat(600), { truncation: false })).rejects.toMatchObject({ code: 'text_too_long' });
    await expect(embed('a', { layer: 99 })).rejects.toMatchObject({ code: 'invalid_argument' });
    const stop = new AbortController();
    const long = embed(
      Array.from({ length: 400 }, () => kPassage),
      { pooling: 'mean', signal: stop.signal },
    );
    const meanwhile = answer(kQuestion, kPassage);
    stop.abort();
    await expect(long).rejects.toMatchObject({ code: 'aborted' });
    expect(await meanwhile).toEqual(expected.answer);
    const dying = embed(
      Array.from({ length: 400 }, () => kPassage),
      { pooling: 'mean' },
    );
    await embed.dispose();
    await expect(dying).rejects.toMatchObject({ code: worker ? 'aborted' : expect.any(String) });
    expect(await answer(kQuestion, kPassage)).toEqual(expected.answer);
    await answer.dispose();
  });

  test('a load that fails, or is called off, harms the other in nothing', async () => {
    const expected = await alone();
    const answer = await answering({ worker });
    await expect(pipeline('text-classification', kReader, { threads: 1, worker })).rejects.toMatchObject({ code: 'missing_head' });
    await expect(embedding({ worker, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    const stop = new AbortController();
    const loading = embedding({ worker, signal: stop.signal, progress_callback: () => stop.abort() });
    await expect(loading).rejects.toMatchObject({ code: 'aborted' });
    expect(await answer(kQuestion, kPassage)).toEqual(expected.answer);
    const embed = await embedding({ worker });
    expect(embed.info.shared).toBe(true);
    expect(await vectorOf(embed)).toEqual(expected.vector);
    await embed.dispose();
    await answer.dispose();
  });
});

test('other settings have engines of their own', async () => {
  const answer = await answering({ worker: true });
  const others = [await embedding({ dtype: 'q8' }), await embedding({ worker: false }), await embedding({ threads: 2 })];
  expect(others.map(({ info }) => info.shared)).toEqual([false, false, false]);
  for (const one of [answer, ...others]) await one.dispose();
});

test('a program whose pipelines have shared a worker ends by itself', () => {
  const program = `import { pipeline } from 'peruse';
    const options = { worker: true, threads: 1 };
    const answer = await pipeline('question-answering', '${kReader}', options);
    const embed = await pipeline('feature-extraction', '${kReader}', options);
    await embed('Bees.');
    await embed.dispose();
    await answer('Who?', 'Anna.');
    console.log('done');`;
  const run = spawnSync(process.execPath, ['--input-type=module'], { cwd: kRoot, input: program, encoding: 'utf8', timeout: 20_000 });
  expect({ status: run.status, out: run.stdout }, run.stderr).toEqual({ status: 0, out: 'done\n' });
});

test('a head that the first has not is read for the second', async () => {
  const files = await pipelineModel('convbert', 'masked-lm');
  const blobs = Object.fromEntries(Object.entries(files).map(([name, content]) => [name, new Blob([content as Uint8Array<ArrayBuffer>])]));
  const options = { threads: 1 };
  const alone = await pipeline('fill-mask', blobs, options);
  const expected = await alone(kMasked);
  await alone.dispose();
  const embed = await pipeline('feature-extraction', blobs, options);
  const fill = await pipeline('fill-mask', blobs, options);
  expect(fill.info.shared).toBe(true);
  expect(fill.info.weights.headTensors.length).toBeGreaterThan(0);
  expect(await fill(kMasked)).toEqual(expected);
  await embed.dispose();
  expect(await fill(kMasked)).toEqual(expected);
  await fill.dispose();
});

test('a folder whose weights changed meanwhile is another checkpoint', async () => {
  const copy = join(folder, 'reader');
  cpSync(kReader, copy, { recursive: true });
  const answer = await pipeline('question-answering', copy, { threads: 1 });
  utimesSync(join(copy, 'model.safetensors'), new Date(), new Date(Date.now() + 5000));
  const embed = await pipeline('feature-extraction', copy, { threads: 1 });
  expect(embed.info.shared).toBe(false);
  await answer.dispose();
  await embed.dispose();
});

test('from a server: what says its version is shared, what says none is not', async () => {
  const names = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
  const served = (etag?: string) =>
    Object.fromEntries(
      names.map((name) => {
        const body = readFileSync(join(kReader, name));
        return [
          `m/${name}`,
          (_: unknown, response: import('node:http').ServerResponse) =>
            void response.writeHead(200, { 'content-length': body.length, ...(etag === undefined ? {} : { etag }) }).end(body),
        ];
      }),
    );
  for (const [etag, shared] of [
    ['"one"', true],
    [undefined, false],
  ] as const) {
    const server = await startModelServer(served(etag));
    const answer = await pipeline('question-answering', `${server.url}m/`, { threads: 1, worker: false });
    const embed = await pipeline('feature-extraction', `${server.url}m/`, { threads: 1, worker: false });
    expect(embed.info.shared, etag).toBe(shared);
    await answer.dispose();
    await embed.dispose();
    await server.close();
  }
});
