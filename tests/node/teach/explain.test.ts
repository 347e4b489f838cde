// Explanations by gradients: the scores of words add up to the difference of the logits. The gradients themselves are compared with Captum's
// in tests/native/train/attribution_test.cc.
import { afterEach, expect, test } from 'vitest';
import { env, pipeline, type TaskOrAlias } from '../../../web/dist/index_node.js';
import { teach } from '../../../web/dist/teach/index_node.js';
import type { Files } from '../support/tiny.js';
import { readTiny } from '../support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

function withMask(files: Files): Files {
  const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json'])) as { added_tokens: object[] };
  tokenizer.added_tokens = [{ id: 7, content: 't7', special: true, single_word: true, lstrip: false, rstrip: false, normalized: false }];
  const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  return { ...files, 'tokenizer.json': encode(tokenizer), 'tokenizer_config.json': encode({ mask_token: 't7' }) };
}

async function load<T extends TaskOrAlias>(task: T, name: string) {
  const made = await pipeline(task, withMask((await readTiny(name)).files));
  kOpen.push(made);
  return made;
}

function bodyOf(files: Files, url: string): Response | undefined {
  const content = files[url.replace(/.*\/resolve\/main\//, '')];
  return content && new Response(content as Uint8Array<ArrayBuffer>);
}

const sum = (words: readonly { score: number }[]) => words.reduce((total, { score }) => total + score, 0);

test.each(['bert-sequence', 'deberta-v2-sequence', 'convbert-sequence'])('%s: the logit is divided among the words', async (name) => {
  const classify = await load('text-classification', name);
  const text = 't1 t12 t30 t5 t20';
  const found = await classify.explain(text, { method: 'gradient' });
  expect(found.words.map(({ word }) => word)).toEqual(text.split(' '));
  const { logits } = await classify.inspect(text, { output_logits: true });
  const { logits: none } = await classify.inspect('t7 t7 t7 t7 t7', { output_logits: true });
  const column = Number(/\d+/.exec(found.label)![0]);
  expect(found.score).toBeCloseTo(logits!.data[column]!, 4);
  expect(found.baseline_score).toBeCloseTo(none!.data[column]!, 4);
  expect(sum(found.words)).toBeCloseTo(found.score - found.baseline_score!, 4);
  expect(await classify.explain(text, { method: 'gradient' })).toEqual(found); // the engine is kept
});

test('an answer: question and context share the sum of the logits of its ends', async () => {
  const answer = await load('question-answering', 'bert-question');
  const found = await answer.explain('t1 t12', 't30 t5 t20 t9', { method: 'gradient' });
  const all = [...found.question_words, ...found.words];
  expect(all.map(({ word }) => word)).toEqual(['t1', 't12', 't30', 't5', 't20', 't9']);
  expect(sum(all)).toBeCloseTo(found.score - found.baseline_score!, 4);
});

test.each([
  ['mean, normalised', ['Transformer', 'Pooling', 'Normalize'], 'pooling_mode_mean_tokens'],
  ['cls', ['Transformer', 'Pooling'], 'pooling_mode_cls_token'],
])('a classifier that was taught on a sentence embedder (%s)', async (_, types, mode) => {
  const json = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const { files } = await readTiny('bert-sequence');
  const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
  const embedder = {
    ...withMask(files),
    'config.json': json({ ...config, architectures: ['BertModel'] }),
    'modules.json': json(
      types.map((type, idx) => ({
        idx,
        name: String(idx),
        path: idx === 0 ? '' : `${idx}_${type}`,
        type: `sentence_transformers.models.${type}`,
      })),
    ),
    '1_Pooling/config.json': json({ word_embedding_dimension: 32, [mode]: true }),
  };
  const examples = Array.from({ length: 12 }, (_, i) => ({ text: `t${i} t${20 + i}`, label: i % 2 === 0 ? 'even' : 'odd' }));
  const taught = await teach('text-classification', embedder, examples);
  const classify = await taught.pipeline();
  const embed = await pipeline('feature-extraction', new Map(taught.files));
  kOpen.push(classify, embed);
  const text = 't1 t12 t30';
  const found = await classify.explain(text, { method: 'gradient', steps: 200 });
  const logits = await embed([text, 't7 t7 t7'], { pooling: 'sentence' }); // the vectors of the folder are the logits
  const column = taught.report.labels.indexOf(found.label);
  expect(found.score).toBeCloseTo(logits[0]!.data[column]!, 4);
  expect(found.baseline_score).toBeCloseTo(logits[1]!.data[column]!, 4);
  expect(sum(found.words)).toBeCloseTo(found.score - found.baseline_score!, 4);
});

test('a failed and an aborted explanation leave the others as they are', async () => {
  const classify = await load('text-classification', 'bert-sequence');
  const alone = await classify.explain('t1 t2', { method: 'gradient' });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  const outcomes = await Promise.allSettled([
    classify.explain('t1 t2', { method: 'gradient', steps: 1_000_000 }), // more than the engine accepts
    classify.explain('t1 t3', { method: 'gradient', steps: 10_000, signal: stop.signal }),
    classify.explain('t1 t2', { method: 'gradient' }),
  ]);
  expect(outcomes).toMatchObject([
    { reason: { code: 'invalid_argument', message: expect.stringContaining('steps') } },
    { reason: { code: 'aborted' } },
    { value: alone },
  ]);
  expect(await classify.explain('t1 t2', { method: 'gradient' })).toEqual(alone);
});

test('the model may come from a custom cache', async () => {
  const { files } = await readTiny('bert-sequence');
  const masked = withMask(files);
  env.cache = { match: async (url: string) => bodyOf(masked, url), put: async () => {} };
  try {
    const classify = await pipeline('text-classification', 'made/up', { offline: true });
    kOpen.push(classify);
    expect((await classify.explain('t1 t2', { method: 'gradient' })).words).toHaveLength(2);
  } finally {
    env.cache = true;
  }
});

test.each([['id2label', { id2label: ['a', 'b', 'c'] }]])('a pipeline with the option %s is refused', async (name, options) => {
  const { files } = await readTiny('bert-sequence');
  const classify = await pipeline('text-classification', files, options);
  kOpen.push(classify);
  await expect(classify.explain('t1', { method: 'gradient' })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining(`the option ${name}`),
  });
});
