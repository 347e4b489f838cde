import { expect, test } from 'vitest';
import { pipeline } from '../../web/bundle/peruse.js';
import {
  checkQuantizedSentiment,
  checkReader,
  checkSentiment,
  checkZeroShot,
  type ReaderFixture,
  type SentimentFixture,
  type ZeroShotFixture,
} from '../node/support/demo_cases.js';

async function fetchFixture<T>(name: string): Promise<T> {
  const response = await fetch(`/tests/fixtures/demo/${name}.json`);
  return (await response.json()) as T;
}

test('sentiment of 200 sentences', async () => {
  const classify = await pipeline('text-classification', '/models/peruse-sentiment-convbert-tiny/');
  try {
    await checkSentiment(await fetchFixture<SentimentFixture>('sentiment'), classify);
    expect(classify.info.bytes).toBeGreaterThan(1e6);
  } finally {
    await classify.dispose();
  }
}, 120_000);

test('answers to 100 questions', async () => {
  const answer = await pipeline('question-answering', '/models/peruse-reader-deberta-tiny');
  try {
    await checkReader(await fetchFixture<ReaderFixture>('reader'), answer);
  } finally {
    await answer.dispose();
  }
}, 120_000);

test('labels of 140 texts, unknown to the model', async () => {
  const classify = await pipeline('zero-shot-classification', '/models/peruse-zero-shot-deberta-tiny');
  try {
    await checkZeroShot(await fetchFixture<ZeroShotFixture>('zero-shot'), classify);
  } finally {
    await classify.dispose();
  }
}, 120_000);

test.each(['simd', 'relaxed'] as const)(
  'sentiment of 200 sentences in q8, variant %s',
  async (variant) => {
    const classify = await pipeline('text-classification', '/models/peruse-sentiment-convbert-tiny/', { dtype: 'q8', variant });
    try {
      const { different } = await checkQuantizedSentiment(await fetchFixture<SentimentFixture>('sentiment'), classify);
      expect(different).toBeLessThanOrEqual(2);
    } finally {
      await classify.dispose();
    }
  },
  120_000,
);
