// Calls in the calling thread yield to the event loop: timers, signals and other requests run between them.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedactor, type Pipeline, pipeline, SemanticIndex } from '../../web/dist/index_node.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const kText = 'A gem of a film, told with patience and with a dry wit that never tires.';

let classify: Pipeline<'text-classification'>;
let embed: Pipeline<'feature-extraction'>;
beforeAll(async () => {
  const options = { worker: false, variant: 'simd' } as const;
  classify = await pipeline('text-classification', kSentiment, options);
  embed = await pipeline('feature-extraction', kSentiment, options);
});
afterAll(async () => {
  await classify.dispose();
  await embed.dispose();
});

async function firing(work: () => Promise<unknown>): Promise<{ times: number; milliseconds: number }> {
  let times = 0;
  const timer = setInterval(() => times++, 1);
  const start = performance.now();
  await work();
  clearInterval(timer);
  return { times, milliseconds: performance.now() - start };
}

describe('timers run', () => {
  test('between calls that follow each other', async () => {
    const { times, milliseconds } = await firing(async () => {
      for (let i = 0; i < 200; ++i) await classify(kText);
    });
    expect(milliseconds).toBeGreaterThan(60); // otherwise the test would prove nothing
    expect(times).toBeGreaterThan(milliseconds / 200);
  });

  test('within a call of many texts', async () => {
    const { times } = await firing(() => classify(Array.from({ length: 300 }, (_, i) => `${kText} ${i}`)));
    expect(times).toBeGreaterThan(2);
  });

  test('within a redaction without a model, which hears an abort', async () => {
    const redact = createRedactor({ patterns: true });
    const texts = Array.from({ length: 3000 }, (_, i) => `Mail mary${i}@example.org or call +44 20 7946 0${100 + (i % 900)}.`);
    const { times } = await firing(() => redact(texts));
    expect(times).toBeGreaterThan(2);
    await expect(redact(texts, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ code: 'aborted' });
  });

  test('between additions to an index, which hears an abort', async () => {
    const index = new SemanticIndex(embed);
    const texts = Array.from({ length: 3000 }, (_, i) => `${kText} ${i}`);
    const signal = AbortSignal.timeout(50);
    await expect(index.add(texts, { pooling: 'mean', signal })).rejects.toMatchObject({ code: 'aborted' });
    expect(index.size).toBeLessThan(texts.length);
  });
});

test('a signal that fires by time ends calls that follow each other', async () => {
  const signal = AbortSignal.timeout(50);
  let calls = 0;
  await expect(
    (async () => {
      for (; calls < 100_000; ++calls) await classify(kText, { signal });
    })(),
  ).rejects.toMatchObject({ code: 'aborted' });
  expect(calls).toBeGreaterThan(0);
});

test.each(['classify', 'redact'])('Ctrl-C ends peruse %s in the middle of its lines', async (command) => {
  const model = command === 'redact' ? `${kRoot}models/peruse-tagger-convbert-tiny` : kSentiment;
  const child = spawn(process.execPath, [`${kRoot}web/dist/cli/main.js`, command, model], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  child.stdin.on('error', () => {});
  child.stdin.end(`${kText}\n`.repeat(100_000));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.stdout.resume();
  child.kill('SIGINT');
  expect(await Promise.race([ended, wait(10_000, 'still there')])).toBe(130);
});

// Comparing all pairs of labels, or reading all labels before the first turn, would take minutes.
test('a call with 100,000 labels hears an abort before it has cost what 20,000 of them cost', async () => {
  const read = (path: string) => readFileSync(`${kRoot}tests/fixtures/gliner/${path}`);
  const files = {
    'gliner_config.json': read('markerV0/gliner_config.json'),
    'model.safetensors': read('markerV0/model.safetensors'),
    'tokenizer.json': read('tokenizer/tokenizer.json'),
    'tokenizer_config.json': read('tokenizer/tokenizer_config.json'),
  };
  const find = await pipeline('zero-shot-token-classification', files, { worker: false, variant: 'simd' });
  const processor = async (count: number, signal?: AbortSignal) => {
    const labels = Array.from({ length: count }, (_, i) => `label ${i}`);
    const start = process.cpuUsage();
    const end = await find('Anna lives in Paris with Bob.', labels, signal && { signal }).then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    const { user, system } = process.cpuUsage(start);
    return { end, time: user + system };
  };
  try {
    await processor(500);
    const thousand = await processor(1000);
    expect(thousand.end).toBe('done');
    const controller = new AbortController();
    setTimeout(() => controller.abort());
    const aborted = await processor(100_000, controller.signal);
    expect(aborted.end).toBe('aborted');
    expect(aborted.time).toBeLessThan(20 * thousand.time);
  } finally {
    await find.dispose();
  }
});
