import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import {
  checkQuantizedSentiment,
  checkReader,
  checkSentiment,
  checkTagger,
  checkZeroShot,
  type ReaderFixture,
  type SentimentFixture,
  type TaggerFixture,
  type ZeroShotFixture,
} from './support/demo_cases.js';

const kRoot = new URL('../../', import.meta.url);
const folder = (name: string) => fileURLToPath(new URL(`models/${name}/`, kRoot));

async function readFixture<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(`tests/fixtures/demo/${name}.json`, kRoot), 'utf8')) as T;
}

test.each([false, true])(
  'sentiment of 200 sentences, with worker: %s',
  async (worker) => {
    const fixture = await readFixture<SentimentFixture>('sentiment');
    expect(fixture.cases.length).toBeGreaterThanOrEqual(200);
    const classify = await pipeline('text-classification', folder('peruse-sentiment-convbert-tiny'), { worker });
    try {
      await checkSentiment(fixture, classify);
    } finally {
      await classify.dispose();
    }
  },
  120_000,
);

test.each([false, true])(
  'answers to 100 questions, with worker: %s',
  async (worker) => {
    const fixture = await readFixture<ReaderFixture>('reader');
    expect(fixture.cases.length).toBeGreaterThanOrEqual(100);
    const answer = await pipeline('question-answering', folder('peruse-reader-deberta-tiny'), { worker });
    try {
      await checkReader(fixture, answer);
    } finally {
      await answer.dispose();
    }
  },
  120_000,
);

test.each([
  ['tagger', 'peruse-tagger-convbert-tiny', 170],
  ['multilingual', 'peruse-multilingual-tagger-convbert-tiny', 180],
])(
  'entities of texts, by every aggregation strategy: %s',
  async (name, model, count) => {
    const fixture = await readFixture<TaggerFixture>(name);
    expect(fixture.cases.length).toBeGreaterThanOrEqual(count);
    const tag = await pipeline('token-classification', folder(model));
    try {
      await checkTagger(fixture, tag);
    } finally {
      await tag.dispose();
    }
  },
  120_000,
);

test.each([false, true])(
  'labels of 140 texts, unknown to the model, with worker: %s',
  async (worker) => {
    const fixture = await readFixture<ZeroShotFixture>('zero-shot');
    expect(fixture.cases.length).toBeGreaterThanOrEqual(140);
    const classify = await pipeline('zero-shot-classification', folder('peruse-zero-shot-deberta-tiny'), { worker });
    try {
      await checkZeroShot(fixture, classify);
    } finally {
      await classify.dispose();
    }
  },
  120_000,
);

test('sentiment of 200 sentences in q8: the same labels, in less memory', async () => {
  const fixture = await readFixture<SentimentFixture>('sentiment');
  const bytes: number[] = [];
  for (const dtype of ['fp32', 'q8'] as const) {
    const classify = await pipeline('text-classification', folder('peruse-sentiment-convbert-tiny'), { dtype });
    try {
      bytes.push(classify.info.weights.weightBytes);
      expect(classify.info.dtype).toBe(dtype);
      if (dtype === 'q8') expect((await checkQuantizedSentiment(fixture, classify)).different).toBeLessThanOrEqual(2);
    } finally {
      await classify.dispose();
    }
  }
  expect(bytes[1]).toBeLessThan(0.4 * bytes[0]!);
}, 120_000);
