import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { pipeline } from '../../../web/dist/index_node.js';
import { pipelineOf } from '../../../web/dist/pipeline.js';
import { resolveSource } from '../../../web/dist/sources/source.js';
import { LocalHost } from '../../../web/dist/worker/local_host.js';
import { nodeEngines } from '../../../web/dist/worker/runtime_node.js';
import { watchGpu } from './watched_gpu.js';

const kReader = fileURLToPath(new URL('../../../models/peruse-reader-deberta-tiny', import.meta.url));
const kPassage = 'The bees live in a hollow oak behind the mill.';
const kQuestion = 'Where do the bees live?';

const kOpen: { dispose(): Promise<void> }[] = [];
const kGpu = watchGpu();
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
  await kGpu.compiled();
  await workersHaveCompiled();
}, 300_000);

/** Vitest ends the process without waiting for workers that keep it alive (start_worker_node.ts). */
async function workersHaveCompiled(): Promise<void> {
  while (process.getActiveResourcesInfo().includes('MessagePort')) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** `other` numbers the engine of the second pipeline: 0 is that of the first. */
async function open(other = 0) {
  const answer = await pipelineOf('question-answering', kReader, { device: 'webgpu' }, 0);
  kOpen.push(answer);
  const embed = await pipelineOf('feature-extraction', kReader, { device: 'webgpu' }, other);
  kOpen.push(embed);
  const vector = async () => Array.from((await embed(kPassage, { pooling: 'mean' })).data);
  return { answer, embed, vector };
}

async function alone() {
  const { answer, embed, vector } = await open(1);
  expect([answer.info.shared, embed.info.shared]).toEqual([false, false]);
  const expected = { answer: await answer(kQuestion, kPassage), vector: await vector() };
  const { weightBytes } = await answer.memory();
  await Promise.all([answer.dispose(), embed.dispose()]);
  return { expected, weightBytes };
}

test('the second brings no weights; calls at once, an abort and a fault of one leave the other as it is; either may go first', async () => {
  const { expected, weightBytes } = await alone();
  const { answer, embed, vector } = await open();
  expect([answer.info.shared, embed.info.shared]).toEqual([false, true]);
  expect(embed.info).toMatchObject({ device: 'webgpu', dtype: 'fp16' });
  expect(embed.info.bytes).toBeLessThan(answer.info.bytes / 5);
  expect((await embed.memory()).weightBytes).toBe(weightBytes);

  const results = await Promise.all([vector(), answer(kQuestion, kPassage), vector(), answer(kQuestion, kPassage)]);
  expect(results).toEqual([expected.vector, expected.answer, expected.vector, expected.answer]);

  await expect(embed('a', { layer: 99 })).rejects.toMatchObject({ code: 'invalid_argument' });
  const stop = new AbortController();
  const long = embed(
    Array.from({ length: 40 }, () => kPassage),
    { pooling: 'mean', signal: stop.signal },
  );
  const meanwhile = answer(kQuestion, kPassage);
  stop.abort();
  await expect(long).rejects.toMatchObject({ code: 'aborted' });
  expect(await meanwhile).toEqual(expected.answer);

  const dying = expect(embed(Array.from({ length: 40 }, () => kPassage))).rejects.toMatchObject({ code: 'aborted' });
  const living = answer(kQuestion, kPassage);
  await embed.dispose();
  await dying;
  expect(await living).toEqual(expected.answer);
  expect(await answer(kQuestion, kPassage)).toEqual(expected.answer);

  const again = await pipeline('feature-extraction', kReader, { device: 'webgpu' });
  kOpen.push(again);
  expect(again.info.shared).toBe(true);
  await answer.dispose();
  expect(Array.from((await again(kPassage, { pooling: 'mean' })).data)).toEqual(expected.vector);
});

test('a head that is not there, and other settings, share nothing', async () => {
  const { answer, vector } = await open();
  const before = [await answer(kQuestion, kPassage), await vector()];
  await expect(pipeline('text-classification', kReader, { device: 'webgpu' })).rejects.toMatchObject({ code: 'missing_head' });
  const full = await pipeline('feature-extraction', kReader, { device: 'webgpu', dtype: 'fp32' });
  kOpen.push(full);
  expect(full.info.shared).toBe(false);
  expect([await answer(kQuestion, kPassage), await vector()]).toEqual(before);
});

test('a lost device: the first call brings the engine back, and both use it', async () => {
  const parts = { ...nodeEngines, findGpu: kGpu.findGpu };
  const load = async (host: LocalHost, task: string) =>
    host.call('load', {
      task: { name: task },
      dtype: 'auto',
      source: await resolveSource(kReader, {}, { baseUrl: () => undefined, findFolder: async (path) => path }),
      choice: { variant: 'simd', threads: 1, reason: '' },
      device: 'webgpu',
      share: true,
      probes: {},
    });
  const first = new LocalHost(() => {}, parts);
  const second = first.another(() => {});
  kOpen.push({ dispose: async () => first.dispose() }, { dispose: async () => second.dispose() });
  expect((await load(first, 'question-answering')).shared).toBe(false);
  expect((await load(second, 'feature-extraction')).shared).toBe(true);
  const answers = () =>
    Promise.all([
      first.call('run', { inputs: [{ question: kQuestion, context: kPassage }], options: {} }),
      second.call('run', { inputs: [{ text: kPassage }], options: { pooling: 'mean' } }),
    ]);
  const before = await answers();
  expect(kGpu.devices).toHaveLength(1);
  kGpu.devices[0]!.destroy();
  await kGpu.devices[0]!.lost;
  expect(await answers()).toEqual(before);
  expect(kGpu.devices).toHaveLength(2);
});
