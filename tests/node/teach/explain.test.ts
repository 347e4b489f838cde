// Explanations by gradients: the scores of words add up to the difference of the logits. The gradients themselves are compared with Captum's
// in tests/native/train/attribution_test.cc.
import { afterEach, expect, test } from 'vitest';
import { pipeline, type TaskOrAlias } from '../../../web/dist/index_node.js';
import '../../../web/dist/teach/index_node.js';
import { readTiny } from '../support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

/** A tiny model whose tokenizer has the mask t7. */
async function load<T extends TaskOrAlias>(task: T, name: string) {
  const { files } = await readTiny(name);
  const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json'])) as { added_tokens: object[] };
  tokenizer.added_tokens = [{ id: 7, content: 't7', special: true, single_word: true, lstrip: false, rstrip: false, normalized: false }];
  const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const masked = { ...files, 'tokenizer.json': encode(tokenizer), 'tokenizer_config.json': encode({ mask_token: 't7' }) };
  const made = await pipeline(task, masked);
  kOpen.push(made);
  return made;
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

test('after an abort the next explanation works', async () => {
  const classify = await load('text-classification', 'bert-sequence');
  const signal = AbortSignal.abort();
  await expect(classify.explain('t1', { method: 'gradient', signal })).rejects.toMatchObject({ code: 'aborted' });
  expect((await classify.explain('t1 t2', { method: 'gradient' })).words).toHaveLength(2);
});
