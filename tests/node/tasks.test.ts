// Most tasks on tiny checkpoints, compared with transformers' hidden states and logits.
import { afterEach, expect, test } from 'vitest';
import { type PipelineOptions, pipeline, type Task } from '../../web/dist/index_node.js';
import { tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

const kNli = { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' }, label2id: { contradiction: 0, neutral: 1, entailment: 2 } };

async function open<T extends Task>(task: T, checkpoint: string, changes: object = {}) {
  const { files, expected } = await readTiny(checkpoint);
  const before = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
  files['config.json'] = new TextEncoder().encode(JSON.stringify({ ...before, ...changes }));
  const made = await pipeline(task, files);
  kOpen.push(made);
  const tensor = (name: string) => Array.from(expected.get(name)!);
  const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as { id2label?: Record<string, string> };
  return { pipe: made, tensor, config, text: (name: string) => tinyText(tensor(`${name}.input_ids`)) };
}

function expectClose(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 1e-5) {
  expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; ++i) expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(tolerance);
}

const kTokens = 11; // of text c

test('feature-extraction gives the last hidden state, and pools it', async () => {
  const { pipe: extract, tensor, text } = await open('feature-extraction', 'deberta-v2-bare');
  const hidden = tensor('c.hidden_states.2');
  const all = await extract(text('c'));
  expect(all.dims).toEqual([1, kTokens, 32]);
  expect(all.data).toBeInstanceOf(Float32Array);
  expectClose(all.data, hidden);
  const first = await extract([text('c'), text('d')], { pooling: 'cls' });
  expect(first.dims).toEqual([2, 32]);
  expect(first[0]!.dims).toEqual([32]);
  expect(first[0]!.tolist<number[]>()).toEqual(Array.from(first.data.subarray(0, 32)));
  expect(all.tolist<number[][][]>().flat(2)).toEqual(Array.from(all.data));
  expectClose(first[0]!.data, hidden.slice(0, 32));
  for (const pooling of ['last_token', 'eos'] as const) expectClose((await extract(text('c'), { pooling })).data, hidden.slice(-32));
  expectClose((await extract(text('c'), { pooling: 'first_token' })).data, hidden.slice(0, 32));
  const mean = await extract(text('c'), { pooling: 'mean', normalize: true });
  const sums = Array.from({ length: 32 }, (_, k) => hidden.reduce((sum, value, i) => (i % 32 === k ? sum + value : sum), 0));
  const length = Math.hypot(...sums);
  expectClose(
    mean.data,
    sums.map((sum) => sum / length),
  );
});

test("token-classification gives a label a token with offsets into the caller's text", async () => {
  const { pipe: tag, tensor, text, config } = await open('token-classification', 'deberta-v2-token');
  const logits = tensor('c.logits');
  const labels = logits.length / kTokens;
  const items = await tag(text('c'), { ignore_labels: [] });
  expect(items).toHaveLength(kTokens);
  items.forEach((item, i) => {
    const row = logits.slice(i * labels, (i + 1) * labels).map(Math.exp);
    const best = row.indexOf(Math.max(...row));
    expect(item.entity).toBe(config.id2label![best]);
    expect(text('c').slice(item.start, item.end)).toBe(item.word);
    expect(item.score).toBeCloseTo(row[best]! / row.reduce((a, b) => a + b), 5);
  });
  const several = await tag(['t1 t2', 't3'], { aggregation_strategy: 'simple', ignore_labels: [] });
  expect(several).toHaveLength(2);
  expect(several[0]![0]).toHaveProperty('entity_group');
});

test("replaced-token-detection gives each token's probability", async () => {
  const { pipe: detect, tensor, text } = await open('replaced-token-detection', 'deberta-v2-rtd');
  const items = await detect(text('c'));
  expectClose(
    items.map(({ score }) => score),
    tensor('c.logits').map((logit) => 1 / (1 + Math.exp(-logit))),
  );
  for (const { word, start, end } of items) expect(text('c').slice(start, end)).toBe(word);
});

test("zero-shot-classification ranks the caller's labels", async () => {
  const { pipe: classify } = await open('zero-shot-classification', 'deberta-v2-sequence', kNli);
  const result = await classify('t1 t2 t3', ['t4', 't5', 't6']);
  expect(result.sequence).toBe('t1 t2 t3');
  expect([...result.labels].sort()).toEqual(['t4', 't5', 't6']);
  expect(result.scores.reduce((a, b) => a + b)).toBeCloseTo(1, 5);
  expect(result.scores).toEqual([...result.scores].sort((a, b) => b - a));
  expect(await classify('t1 t2 t3', ' t4, t5 ,, t6')).toEqual(result);
  const several = await classify(['t1 t2 t3', 't7'], ['t4', 't5'], { multi_label: true, hypothesis_template: 't9 {} t8' });
  expect(several).toHaveLength(2);
  await expect(classify('t1', [])).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(classify('t1', ['t2'], { hypothesis_template: 'none' })).rejects.toMatchObject({ code: 'invalid_argument' });
});

test('zero-shot-classification needs a model with an entailment label', async () => {
  await expect(open('zero-shot-classification', 'deberta-v2-sequence')).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/entailment.* has LABEL_0, LABEL_1/),
  });
});

test('multiple-choice gives probabilities of the choices', async () => {
  const { pipe: choose } = await open('multiple-choice', 'deberta-v2-choice');
  const scores = await choose('t1 t2', ['t3 t4', 't5', 't6 t7 t8']);
  expect(scores.map(({ choice }) => choice).sort()).toEqual([0, 1, 2]);
  expect(scores.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 5);
});

test('text-ranking by one of several labels gives the scores of all', async () => {
  const { pipe: rank } = await open('text-ranking', 'deberta-v2-sequence', kNli);
  const ranked = await rank('t1', ['t2', 't3'], { label: 'entailment', return_documents: true });
  expect(ranked.map((one) => one.text).sort()).toEqual(['t2', 't3']);
  for (const { score, scores } of ranked) expect(scores![2]).toBe(score);
  await expect(rank('t1', ['t2'])).rejects.toMatchObject({
    name: 'PeruseError',
    code: 'invalid_argument',
    message: expect.stringMatching(/contradiction, neutral, entail/),
  });
  await expect(rank('t1', ['t2'], { label: 'neutral', return_documents: 'yes' as unknown as boolean })).rejects.toThrow(/return_documents/);
  await expect(rank('t1', 't2' as unknown as string[])).rejects.toMatchObject({ code: 'invalid_argument' });
});

test("fill-mask goes through DeBERTa's enhanced mask decoder when asked", async () => {
  const { files, expected } = await readTiny('deberta-v2-masked-lm-emd');
  const ids = Array.from(expected.get('c.input_ids')!);
  const position = ids.findIndex((id, i) => ids.indexOf(id) === i && ids.lastIndexOf(id) === i);
  const mask_token = `t${ids[position]}`;
  const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json'])) as { added_tokens: object[] };
  tokenizer.added_tokens = [
    { id: ids[position], content: mask_token, special: true, single_word: true, lstrip: false, rstrip: false, normalized: false },
  ];
  const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const masked = { ...files, 'tokenizer.json': encode(tokenizer), 'tokenizer_config.json': encode({ mask_token }) };
  const logits = Array.from(expected.get('c.logits')!);
  const words = logits.length / ids.length;
  const row = logits.slice(position * words, (position + 1) * words).map(Math.exp);
  const sum = row.reduce((a, b) => a + b);

  const fill = await pipeline('fill-mask', masked, { enhanced_mask_decoder: true });
  kOpen.push(fill);
  const proposals = (await fill(tinyText(ids), { top_k: words })) as { token: number; score: number }[];
  expect(proposals).toHaveLength(words);
  for (const { token, score } of proposals) expect(Math.abs(score - row[token]! / sum)).toBeLessThan(1e-5);

  const plain = await pipeline('fill-mask', masked);
  kOpen.push(plain);
  const others = (await plain(tinyText(ids), { top_k: words })) as { token: number; score: number }[];
  expect(others.some(({ token, score }) => Math.abs(score - row[token]! / sum) > 1e-3)).toBe(true);
  const misplaced = { enhanced_mask_decoder: true } as PipelineOptions;
  await expect(pipeline('text-classification', 'models/peruse-sentiment-convbert-tiny', misplaced)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringMatching(/it is an option of fill-mask/),
  });
});
