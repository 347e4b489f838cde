import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { type LabelScore, type Pipeline, pipeline } from '../../web/dist/index_node.js';
import { pipelineModel } from './support/pipeline_models.js';

const folderOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const kSettings = { variant: 'simd', worker: false } as const;
const kTexts = Array.from({ length: 50 }, (_, i) => `This was ${['lovely', 'awful', 'long', 'short'][i % 4]}, ${i} times.`);

let classify: Pipeline<'text-classification'>;
beforeAll(async () => {
  classify = await pipeline('text-classification', folderOf('models/peruse-sentiment-convbert-tiny'), kSettings);
});
afterAll(() => classify.dispose());

async function collected<R>(stream: AsyncIterable<R>): Promise<R[]> {
  const results: R[] = [];
  for await (const result of stream) results.push(result);
  return results;
}

function counted(texts: readonly string[]) {
  const state = { read: 0, closed: false };
  async function* generate() {
    try {
      for (const text of texts) {
        state.read += 1;
        yield text;
      }
    } finally {
      state.closed = true;
    }
  }
  return { state, texts: generate() };
}

describe('a stream', () => {
  test('yields what the call returns for a list', async () => {
    const wanted = await classify(kTexts);
    const scores = (results: readonly LabelScore[]) => results.map(({ label, score }) => `${label} ${score.toFixed(4)}`);
    expect(scores(await collected(classify.stream(kTexts)))).toEqual(scores(wanted));
    expect(scores(await collected(classify.stream(new Set(kTexts), { batch_size: 7 })))).toEqual(scores(wanted));
    expect(scores(await collected(classify.stream(counted(kTexts).texts)))).toEqual(scores(wanted));
    const lists = await collected(classify.stream(kTexts, { top_k: null }));
    expect(lists[0]).toHaveLength(2);
    expectTypeOf(lists).toEqualTypeOf<LabelScore[][]>();
    expect(await collected(classify.stream([]))).toEqual([]);
  });

  test('reports progress', async () => {
    const seen: unknown[] = [];
    await collected(classify.stream(kTexts.slice(0, 3), { progress_callback: (progress) => seen.push(progress) }));
    expect(seen).toEqual([1, 2, 3].map((done) => ({ done, total: 3 })));
    seen.length = 0;
    await collected(classify.stream(counted(kTexts.slice(0, 2)).texts, { progress_callback: (progress) => seen.push(progress) }));
    expect(seen).toEqual([{ done: 1 }, { done: 2 }]);
  });

  test('reads at most two batches ahead, and ends its source with the loop', async () => {
    const { state, texts } = counted(kTexts);
    for await (const { label } of classify.stream(texts, { batch_size: 4 })) {
      expect(label).toBeTypeOf('string');
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(state.read).toBeLessThanOrEqual(8);
      break;
    }
    expect(state.closed).toBe(true);
    expect(state.read).toBeLessThanOrEqual(8);
  });

  test('ends with an abort', async () => {
    const controller = new AbortController();
    const results: unknown[] = [];
    const reading = (async () => {
      for await (const result of classify.stream(kTexts, { batch_size: 2, signal: controller.signal })) {
        results.push(result);
        if (results.length === 3) controller.abort();
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
    expect(results).toHaveLength(3);
    await expect(collected(classify.stream(kTexts, { signal: AbortSignal.abort() }))).rejects.toMatchObject({ code: 'aborted' });
  });

  test('fails at the input that fails, by its number, behind the results before it', async () => {
    const results: unknown[] = [];
    const reading = (async () => {
      const texts = kTexts.map((text, i) => (i === 21 ? 'word '.repeat(5000) : text));
      for await (const result of classify.stream(texts, { batch_size: 8, truncation: false })) results.push(result);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'text_too_long', message: expect.stringMatching(/input 21\b/i) });
    expect(results).toHaveLength(21);
    const failing = async function* () {
      yield 'One.';
      throw new Error('the source broke');
    };
    await expect(collected(classify.stream(failing()))).rejects.toThrow('the source broke');
  });

  describe('while its source waits', () => {
    function waiting(before: readonly string[]) {
      const state = { closed: false };
      let next = 0;
      const texts: AsyncIterable<string> = {
        [Symbol.asyncIterator]: () => ({
          next: () => (next < before.length ? Promise.resolve({ value: before[next++]!, done: false }) : new Promise(() => {})),
          return: async () => {
            state.closed = true;
            return { value: undefined, done: true };
          },
        }),
      };
      return { state, texts };
    }

    test('hears an abort', async () => {
      const controller = new AbortController();
      const { state, texts } = waiting(kTexts.slice(0, 4));
      const results: unknown[] = [];
      const reading = (async () => {
        for await (const one of classify.stream(texts, { batch_size: 2, signal: controller.signal })) results.push(one);
      })();
      setTimeout(() => controller.abort(), 100);
      await expect(reading).rejects.toMatchObject({ code: 'aborted' });
      expect(results).toHaveLength(4);
      expect(state.closed).toBe(true);
    });

    test('hears return()', async () => {
      const { state, texts } = waiting(kTexts.slice(0, 2));
      const stream = classify.stream(texts, { batch_size: 2 });
      expect((await stream.next()).done).toBe(false);
      expect((await stream.next()).done).toBe(false);
      const pending = stream.next();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(await stream.return()).toEqual({ value: undefined, done: true });
      expect(await pending).toEqual({ value: undefined, done: true });
      expect(await stream.next()).toEqual({ value: undefined, done: true });
      expect(state.closed).toBe(true);
    });

    test('hears return() before its first result', async () => {
      const { state, texts } = waiting([]);
      const stream = classify.stream(texts);
      const pending = stream.next();
      await new Promise((resolve) => setTimeout(resolve, 20));
      await stream.return();
      expect((await pending).done).toBe(true);
      expect(state.closed).toBe(true);
      expect(await classify.stream(texts).return()).toEqual({ value: undefined, done: true });
    });
  });

  test('yields the results of all inputs before the error of its source', async () => {
    for (const count of [1, 7, 16, 20]) {
      const failing = async function* () {
        yield* kTexts.slice(0, count);
        throw new Error('the source broke');
      };
      const results: unknown[] = [];
      const reading = (async () => {
        for await (const one of classify.stream(failing())) results.push(one);
      })();
      await expect(reading).rejects.toThrow('the source broke');
      expect(results).toHaveLength(count);
    }
  });

  test('takes promises of inputs from a list', async () => {
    const promises = kTexts.slice(0, 3).map((text) => Promise.resolve(text));
    expect(await collected(classify.stream(promises as never))).toHaveLength(3);
  });

  test('refuses arguments that make no sense', async () => {
    for (const inputs of ['text', 5, null, {}]) {
      await expect(collected(classify.stream(inputs as never))).rejects.toMatchObject({ code: 'invalid_argument' });
    }
    await expect(collected(classify.stream(kTexts, { batch_size: 0 }))).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(collected(classify.stream(kTexts, { top_n: 1 } as never))).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(collected(classify.stream([5 as never]))).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});

test('other tasks', async () => {
  const read = await pipeline('question-answering', folderOf('models/peruse-reader-deberta-tiny'), kSettings);
  const question = 'Where do the bees live?';
  const context = 'The bees of Mary live in a hollow oak.';
  expect(await collected(read.stream([{ question, context }]))).toEqual([await read(question, context)]);
  await expect(collected(read.stream([{ question } as never]))).rejects.toMatchObject({ code: 'invalid_argument' });
  await read.dispose();

  const redact = await pipeline('redact', folderOf('models/peruse-tagger-convbert-tiny'), kSettings);
  expect((await collected(redact.stream(['Mary Johnson lives in London.'])))[0]!.text).toContain('[');
  await redact.dispose();

  const folder = await pipelineModel('convbert', 'sequence', { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } });
  const sort = await pipeline('zero-shot-classification', folder, kSettings);
  const [sorted] = await collected(sort.stream(['A text.'], ['travel', 'food'], { multi_label: true }));
  expect(sorted).toEqual((await sort(['A text.'], ['travel', 'food'], { multi_label: true }))[0]);
  await sort.dispose();

  const rank = await pipeline('text-ranking', await pipelineModel('convbert', 'one-logit'), kSettings);
  expect('stream' in rank).toBe(false);
  await rank.dispose();
});
