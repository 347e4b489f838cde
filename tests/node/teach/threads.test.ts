import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { env } from '../../../web/dist/index_node.js';
import { pretrain, type TeachMethod, type TeachOptions, teach } from '../../../web/dist/teach/index_node.js';
import { kLines, kTexts } from '../support/lessons.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const kReader = `${kRoot}models/peruse-reader-deberta-tiny`;

afterEach(() => {
  env.threads = 'auto';
});

async function learnt(threads: number, { model = kSentiment, ...options }: { model?: string } & TeachOptions<'text-classification'>) {
  const taught = await teach('text-classification', model, kTexts, { epochs: 2, learning_rate: 2e-3, ...options, threads });
  const { losses, threads: worked, reason } = taught.report;
  expect(worked).toBe(threads);
  expect(reason).toBe(`${threads} thread${threads > 1 ? 's' : ''}, as asked for.`);
  const files = [...taught.files].map(([name, content]) => `${name} ${createHash('sha256').update(content).digest('hex')}`);
  await taught.dispose();
  return { losses, files };
}

test.each<[string, TeachMethod, { model?: string; sift?: boolean }]>([
  ['everything', 'full', {}],
  ['everything, of positions too', 'full', { model: kReader }],
  ['the head', 'head', {}],
  ['the last layers', { layers: 1 }, {}],
  ['an adapter, disturbed', 'lora', { sift: true }],
])('one, two and three threads learn the same: %s', async (_, method, more) => {
  const alone = await learnt(1, { method, ...more });
  expect(alone.losses.length).toBeGreaterThan(0);
  for (const threads of [2, 3]) expect(await learnt(threads, { method, ...more })).toEqual(alone);
});

test('pre-training with a generator learns the same by two threads', async () => {
  const losses = async (threads: number) => {
    const { report } = await pretrain('rtd', kReader, kLines.slice(0, 16), { epochs: 1, threads });
    return report.losses;
  };
  expect(await losses(2)).toEqual(await losses(1));
});

test('env.threads is the most, unless a lesson says otherwise', async () => {
  env.threads = 1;
  const lesson = (options: TeachOptions<'text-classification'>) =>
    teach('text-classification', kSentiment, kTexts, { method: 'full', epochs: 1, ...options });
  const { report } = await lesson({});
  expect(report.threads).toBe(1);
  expect(report.reason).toMatch(/^1 thread for .* at most 1 by env\.threads\.$/);
  expect((await lesson({ threads: 2 })).report.threads).toBe(2);
  env.threads = 2;
  expect((await lesson({})).report.threads).toBeLessThanOrEqual(2);
});

test.each([0, 17, 1.5, 'many'])('threads: %s is refused', async (threads) => {
  const lesson = teach('text-classification', kSentiment, kTexts, { threads: threads as number });
  await expect(lesson).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('threads must be') });
});
