// Lessons until a model has learnt, and cancelled ones. teach.test.ts has one or a few epochs of each kind.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { pipeline } from '../../../web/dist/index_node.js';
import { type Taught, type TeachMethod, type TeachOptions, type TeachProgress, teach } from '../../../web/dist/teach/index_node.js';
import { kAnswers, kHeldBack, kPraise, kPraiseHeldBack, kTexts } from '../support/lessons.js';

const kModels = fileURLToPath(new URL('../../../models/', import.meta.url));
const kSentiment = join(kModels, 'peruse-sentiment-convbert-tiny');
const kReader = join(kModels, 'peruse-reader-deberta-tiny');

const folder = await mkdtemp(join(tmpdir(), 'peruse-taught-'));
afterAll(() => rm(folder, { recursive: true }));

async function accuracy(taught: Taught<'text-classification'>, examples = kHeldBack): Promise<number> {
  const classify = await taught.pipeline();
  try {
    const found = await classify(examples.map(({ text }) => text));
    return found.filter(({ label }, index) => label === examples[index]!.label).length / examples.length;
  } finally {
    await classify.dispose();
  }
}

const kQuick = { epochs: 12, learning_rate: 2e-3, batch_size: 8 };

describe('texts', () => {
  const things = { texts: kTexts, heldBack: kHeldBack, labels: ['plant', 'tool'] };
  // A head can only learn what its frozen features distinguish; this model's distinguish opinions.
  const opinions = { texts: kPraise, heldBack: kPraiseHeldBack, labels: ['complaint', 'praise'] };
  test.each<[string, TeachMethod, object, typeof things]>([
    ['head', 'head', {}, opinions],
    ['layers', { layers: 2 }, { epochs: 40 }, things], // trains fewer layers
    ['lora', 'lora', { epochs: 60, learning_rate: 5e-3 }, things],
    ['full', 'full', {}, things],
  ])('are learnt: %s', async (name, method, more, { texts: taughtTexts, heldBack, labels }) => {
    const progress: TeachProgress[] = [];
    const taught = await teach('text-classification', kSentiment, taughtTexts, {
      ...kQuick,
      ...more,
      method,
      validation: heldBack,
      progress_callback: (one) => progress.push(one),
    });
    const { report } = taught;
    console.log(name, report.milliseconds, report.memory, report.validation, report.steps);
    expect(report).toMatchObject({ method: name, labels, examples: 32, validation_examples: 16 });
    expect(report.validation!.confusion!.flat().reduce((sum, n) => sum + n)).toBe(16);
    expect(report.losses).toHaveLength(report.steps);
    expect(report.milliseconds.teaching).toBeGreaterThan(0);
    expect(report.trained_parameters).toBeLessThanOrEqual(report.parameters);
    expect(progress[0]).toMatchObject({ phase: 'loading', load: { status: 'initiate' } });
    expect(progress.at(-1)).toMatchObject({ step: report.steps, validation: { examples: 16 } });
    const right = await accuracy(taught, heldBack);
    expect(right).toBeCloseTo(report.validation!.accuracy!, 6); // the pipeline has the weights that were measured
    expect(right).toBeGreaterThanOrEqual(0.75);

    const where = join(folder, name);
    await taught.save(where);
    expect((await readdir(where)).sort()).toEqual([...taught.files.keys()].sort());
    const now = await taught.pipeline();
    const again =
      method === 'lora'
        ? await pipeline('text-classification', kSentiment, { adapter: where }) // the adapter has the labels
        : await pipeline('text-classification', where);
    const texts = heldBack.map(({ text }) => text);
    expect(await again(texts, { top_k: null })).toEqual(await now(texts, { top_k: null }));
    await Promise.all([now.dispose(), again.dispose(), taught.dispose()]);
    expect(() => taught.files).toThrow(/disposed/);
    await expect(taught.pipeline()).rejects.toMatchObject({ code: 'disposed' });
  });

  test('few examples are seen often, and a small model learns fast', async () => {
    const { report } = await teach('text-classification', kSentiment, kTexts, { method: 'full' });
    expect(report.epochs).toHaveLength(75); // two updates in each: 150
    expect(report.learning_rate).toBeCloseTo(1e-3, 6);
    const said = await teach('text-classification', kSentiment, kTexts, { method: 'full', epochs: 2, learning_rate: 5e-5 });
    expect(said.report.epochs).toHaveLength(2);
    expect(said.report.learning_rate).toBeCloseTo(5e-5, 8);
  });

  test('a head that is solved has the weights and the smoothing, too', async () => {
    const chance = async (options: TeachOptions<'text-classification'>) => {
      const taught = await teach('text-classification', kSentiment, kTexts, { method: 'head', ...options });
      const classify = await taught.pipeline();
      const [found] = await classify([kHeldBack[0]!.text], { top_k: null });
      await classify.dispose();
      return found!.find(({ label }) => label === 'tool')!.score;
    };
    const plain = await chance({});
    expect(await chance({ class_weights: { tool: 20 } })).toBeGreaterThan(plain);
    expect(await chance({ class_weights: { plant: 20 } })).toBeLessThan(plain);
    expect(await chance({ label_smoothing: 0.9 })).not.toBe(plain);
  });

  test('several labels, numbers, pairs, probabilities', async () => {
    const multi = kTexts.map(({ text, label }) => ({ text, label: label === 'tool' ? [] : ['plant', 'green'] }));
    const tags = await teach('text-classification', kSentiment, multi, { ...kQuick, epochs: 30, method: 'full' });
    expect(tags.report.labels).toEqual(['green', 'plant']);
    const tag = await tags.pipeline();
    const [rose] = await tag([kHeldBack[0]!.text], { top_k: null });
    expect(rose!.every(({ score }) => score > 0.5)).toBe(true);
    await tag.dispose();

    const numbers = (texts: typeof kTexts) => texts.map(({ text, label }) => ({ text, label: label === 'tool' ? 1 : -1 }));
    const settings = { ...kQuick, epochs: 30, method: 'full', validation: numbers(kHeldBack) } as const;
    const measured = await teach('text-classification', kSentiment, numbers(kTexts), settings);
    expect(measured.report.validation!.mean_squared_error).toBeLessThan(0.1);

    const pairs = kTexts.map(({ text, label }) => ({ text: 'What is it?', text_pair: text, label }));
    expect((await teach('text-classification', kSentiment, pairs, { ...kQuick, epochs: 1 })).report.labels).toEqual(['plant', 'tool']);

    const soft = kTexts.map(({ text, label }) => ({ text, probabilities: label === 'tool' ? [0.1, 0.9] : [0.8, 0.2] }));
    const labels = ['plant', 'tool'];
    expect(await accuracy(await teach('text-classification', kSentiment, soft, { ...kQuick, labels, method: 'full' }))).toBeGreaterThan(
      0.7,
    );
  });
});

test('where a context has no answer, that is learnt too, and an empty answer says so', async () => {
  const kNobody = kAnswers.map(({ question, context }) => ({ question: question.replace('Where', 'How old'), context, answer: null }));
  const settings = { method: 'full', epochs: 6, learning_rate: 1e-3, validation: [kAnswers[15]!, kNobody[15]!] } as const;
  const taught = await teach('question-answering', kReader, [...kAnswers.slice(0, 15), ...kNobody.slice(0, 15)], settings);
  expect(taught.report.validation).toMatchObject({ examples: 2, accuracy: 1 });
  const answer = await taught.pipeline();
  const options = { handle_impossible_answer: true };
  expect(await answer('Where is Peter?', 'Peter is in the attic.', options)).toMatchObject({ answer: 'attic' });
  expect(await answer('How old is Peter?', 'Peter is in the attic.', options)).toMatchObject({ answer: '', start: 0, end: 0 });
  await answer.dispose();
});

test('cancelling is at once, by name, and gives the memory back', async () => {
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 6; ++round) {
    const stop = new AbortController();
    const lesson = teach('text-classification', kSentiment, kTexts, {
      method: 'full',
      epochs: 10_000,
      signal: stop.signal,
      progress_callback: ({ phase, step }) => {
        if (phase === 'training' && step === 2) stop.abort(new Error('enough'));
      },
    });
    await expect(lesson).rejects.toMatchObject({ name: 'AbortError', code: 'aborted', cause: { message: 'enough' } });
  }
  await new Promise((resolve) => setTimeout(resolve, 500)); // threads need time to end
  const held = (process.memoryUsage().rss - before) / 1e6;
  console.log(`after six lessons that were cancelled: ${held.toFixed(0)} MB more`);
  expect(held).toBeLessThan(150);
});
