import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { pipeline } from '../../../web/dist/index_node.js';
import { type TeachOptions, type TextExample, teach } from '../../../web/dist/teach/index_node.js';
import { kEntities, kPraise, kPraiseHeldBack } from '../support/lessons.js';
import { readTiny } from '../support/tiny_files.js';

const kModels = fileURLToPath(new URL('../../../models/', import.meta.url));
const kSentiment = join(kModels, 'peruse-sentiment-convbert-tiny');
const kTagger = join(kModels, 'peruse-tagger-convbert-tiny');

const kFew = [...kPraise.slice(0, 3), ...kPraise.slice(-3)];
const kMany = [...kPraise, ...kPraiseHeldBack];
const kHead = { method: 'head' } as const;

type Files = ReadonlyMap<string, Uint8Array>;

/** Faster than expect() for megabytes. */
function sameWeights(one: Files, two: Files): boolean {
  const [a, b] = [one, two].map((files) => Buffer.from(files.get('model.safetensors')!));
  return a!.equals(b!);
}

async function notices(examples: readonly TextExample[], options: TeachOptions<'text-classification'> = kHead): Promise<string[]> {
  return (await teach('text-classification', kSentiment, examples, options)).report.notices;
}

describe('labels', () => {
  test('other than the model’s make a new classifier, and the report says so', async () => {
    const { report } = await teach('text-classification', kSentiment, kPraise, { method: 'full', epochs: 1 });
    expect(report.labels).toEqual(['complaint', 'praise']);
    expect(report.fresh).toEqual(['classifier.out_proj.weight', 'classifier.out_proj.bias']);
    expect(report.losses[0]).toBeLessThan(1.2); // guessing gives 0.69; the old head gives far more
  });

  test('in another order keep what the model knows of them', async () => {
    const examples = kPraise.map(({ text, label }) => ({ text, label: label === 'praise' ? 'POSITIVE' : 'NEGATIVE' }));
    const losses = async (labels: string[]) =>
      (await teach('text-classification', kSentiment, examples, { method: 'full', epochs: 1, dropout: 0, attention_dropout: 0, labels }))
        .report.losses;
    const [own, turned] = [await losses(['NEGATIVE', 'POSITIVE']), await losses(['POSITIVE', 'NEGATIVE'])];
    for (const [step, loss] of own.entries()) expect(turned[step]).toBeCloseTo(loss, 4);
  });

  test('are class ids with a problem_type, or with names', async () => {
    const ids = kPraise.map(({ text, label }) => ({ text, label: label === 'praise' ? 1 : 0 }));
    const named = await teach('text-classification', kSentiment, ids, { ...kHead, labels: ['complaint', 'praise'] });
    const strings = await teach('text-classification', kSentiment, kPraise, kHead);
    expect(sameWeights(named.files, strings.files)).toBe(true);
    expect(named.report.labels).toEqual(['complaint', 'praise']);
    const unnamed = await teach('text-classification', kSentiment, ids, { ...kHead, problem_type: 'single_label_classification' });
    expect(unnamed.report.labels).toEqual(['LABEL_0', 'LABEL_1']);
    const amounts = await teach('text-classification', kSentiment, ids, { problem_type: 'regression', epochs: 1, method: 'full' });
    expect(amounts.report.labels).toEqual(['LABEL_0']);
  });

  test('too many are refused', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ text: `Text ${i}`, label: `label ${i}` }));
    await expect(teach('text-classification', kSentiment, many)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/20000 labels are to be taught; at most 4096/),
    });
  });
});

describe('without a method', () => {
  test('head and full are compared where that takes seconds, and the better one is kept', async () => {
    const { report } = await teach('text-classification', kSentiment, kMany, { epochs: 3 });
    expect(report.compared!.map(({ method }) => method).sort()).toEqual(['full', 'head']);
    const best = Math.max(...report.compared!.map(({ accuracy }) => accuracy));
    expect(report.accuracy).toMatchObject({ method: report.method, accuracy: best });
    const all = report.accuracy!.labels.reduce((sum, { examples }) => sum + examples, 0);
    const right = report.accuracy!.labels.reduce((sum, { right: own }) => sum + own, 0);
    expect(all).toBe(kMany.length);
    expect(right / all).toBeCloseTo(best, 6);
    expect(report.accuracy!.wrong).toHaveLength(all - right);
  });

  test('everything is taught from fewer, and the figure is of the head', async () => {
    const { report } = await teach('text-classification', kSentiment, kFew, { epochs: 2 });
    expect(report).toMatchObject({ method: 'full', accuracy: { method: 'head', folds: 6 } });
    expect(report.compared).toHaveLength(1);
    expect(report.trained_parameters).toBe(report.parameters); // of the kept training run, not of the head's
  });

  test('the same comes out of any number of threads', async () => {
    const [one, two] = await Promise.all(
      ([1, 2] as const).map((threads) => teach('text-classification', kSentiment, kMany, { threads, epochs: 2 })),
    );
    expect(sameWeights(one!.files, two!.files)).toBe(true);
  });
});

test('an example with the wrong label is named', async () => {
  const odd = kPraise.map((example, index) => (index === 20 ? { ...example, label: 'complaint' } : example));
  const { report } = await teach('text-classification', kSentiment, odd, kHead);
  expect(report.accuracy!.wrong).toContainEqual(expect.objectContaining({ example: 20, label: 'complaint', predicted: 'praise' }));
});

test('a share of few texts holds nothing out: what was asked for is cross-validated', async () => {
  const { report } = await teach('text-classification', kSentiment, kFew, { method: 'full', epochs: 5, validation: 0.2 });
  expect(report).toMatchObject({ examples: 6, validation_examples: 0, accuracy: { method: 'full', folds: 3 } });
  expect(report.notices).toContainEqual(expect.stringMatching(/validation holds nothing out: 6 examples are too few/));
});

describe('warnings', () => {
  test.each<[string, readonly TextExample[], TeachOptions<'text-classification'>, RegExp]>([
    [
      'a field that is not read',
      [{ ...kFew[0]!, text2: 'B' } as TextExample, ...kFew.slice(1)],
      kHead,
      /^Example 0: the field 'text2' is not read/,
    ],
    [
      'labels that differ by case',
      [...kFew, { text: 'C', label: 'Praise ' }],
      kHead,
      /"Praise " .*taught as different labels|"praise" and "Praise "/,
    ],
    [
      'a text with two labels',
      [...kFew, { ...kFew[0]!, label: 'praise' }],
      kHead,
      /^Examples 0 and 6 are the same text with different labels/,
    ],
    [
      'options of steps for what is solved',
      kFew,
      { ...kHead, epochs: 3, dropout: 0 },
      /^epochs, dropout have no effect: the method 'head' is solved/,
    ],
    ['options of LoRA', kFew, { method: 'full', epochs: 1, lora_rank: 4 }, /^lora_rank has no effect: the method is 'full'/],
    ['patience for nothing', kFew, { method: 'full', epochs: 1, patience: 2 }, /^patience has no effect: no examples are held out/],
    ['an empty list to measure by', kFew, { ...kHead, validation: [] }, /^validation is an empty list/],
    ['a text that is cut', [...kFew, { text: 'very '.repeat(600), label: 'praise' }], kHead, /^1 texts are longer than max_length/],
    ['a limit beyond the model’s', kFew, { ...kHead, max_length: 5000 }, /^max_length is 512: the model takes no more/],
    [
      'a label without examples',
      kFew,
      { ...kHead, labels: ['complaint', 'praise', 'question'] },
      /^No training example has the label question/,
    ],
    ['little that was learnt', kFew, { method: 'full', epochs: 1, learning_rate: 0 }, /^Little was learnt/],
  ])('%s', async (_, examples, options, notice) => {
    expect(await notices(examples, options)).toContainEqual(expect.stringMatching(notice));
  });

  test('nothing odd, no warning', async () => {
    expect(await notices(kPraise)).toEqual([]);
  });

  test('an entity that is white space', async () => {
    const blank = { text: 'A  rose', entities: [{ start: 1, end: 2, label: 'PLANT' }] };
    const { report } = await teach('token-classification', kTagger, [...kEntities, blank], { epochs: 1 });
    expect(report.notices).toContainEqual(expect.stringMatching(/^Example 24: an entity is only white space/));
    expect(report.notices).toContainEqual(expect.stringMatching(/^1 entities have no token/));
  });
});

test('more examples are taught together with those of before', async () => {
  const first = await teach('text-classification', kSentiment, kFew, kHead);
  const more = await first.more(kPraise.slice(3, 9));
  const together = await teach('text-classification', kSentiment, [...kFew, ...kPraise.slice(3, 9)], kHead);
  expect(more.report.examples).toBe(12);
  expect(sameWeights(more.files, together.files)).toBe(true);
  const changed = await more.more([], { method: 'full', epochs: 1 });
  expect(changed.report).toMatchObject({ method: 'full', examples: 12 });
});

describe('what to label next', () => {
  test('is what the model is least sure of, each text once, and not two alike', async () => {
    const taught = await teach('text-classification', kSentiment, kPraise, kHead);
    const classify = await taught.pipeline();
    const texts = [...kPraiseHeldBack.map(({ text }) => text), 'The train leaves at nine.', 'The train leaves at nine.', ' '];
    const found = await taught.suggest(texts, 4);
    expect(found).toHaveLength(4);
    expect(new Set(found.map(({ text }) => text)).size).toBe(4);
    const scores = await classify(texts.slice(0, -1), { top_k: null });
    const uncertainties = scores.map(([one, two]) => 1 - (one!.score - two!.score));
    expect(found[0]!.uncertainty).toBeCloseTo(Math.max(...uncertainties), 5);
    for (const { index, text, label } of found) {
      expect(texts[index]).toBe(text);
      expect(scores[index]![0]!.label).toBe(label);
    }
    expect(await taught.suggest([' '])).toEqual([]);
    await expect(taught.suggest(['A'], 0)).rejects.toMatchObject({ code: 'invalid_argument' });
    await classify.dispose();
  });

  test('is not a question for entities', async () => {
    const taught = await teach('token-classification', kTagger, kEntities, { epochs: 1 });
    await expect(taught.suggest(['A rose.'])).rejects.toMatchObject({ code: 'unsupported' });
  });
});

describe('a folder of sentence-transformers', () => {
  const text = (content: object) => new TextEncoder().encode(JSON.stringify(content));
  const kPooling = { word_embedding_dimension: 32, pooling_mode_mean_tokens: true };
  const modules = (types: string[]) =>
    types.map((type, idx) => ({
      idx,
      name: String(idx),
      path: idx === 0 ? '' : `${idx}_${type}`,
      type: `sentence_transformers.models.${type}`,
    }));

  async function encoder(): Promise<Record<string, Uint8Array>> {
    const { files } = await readTiny('bert-sequence');
    const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as object;
    return { ...files, 'config.json': text({ ...config, architectures: ['BertModel'] }) };
  }

  test.each(['head', 'contrast'] as const)('is taught by %s on its own vector of a text, and saved as such a folder', async (method) => {
    const files = await encoder();
    const source = {
      ...files,
      'modules.json': text(modules(['Transformer', 'Pooling', 'Normalize'])),
      '1_Pooling/config.json': text(kPooling),
    };
    const taught = await teach('text-classification', source, kPraise, {
      labels: ['complaint', 'praise'],
      ...(method === 'contrast' ? {} : { method }), // 'contrast' is the default
    });
    expect(taught.report).toMatchObject({ method, fresh: ['sentence_classifier.weight', 'sentence_classifier.bias'] });
    expect(taught.report.accuracy).toMatchObject({ method: 'head', folds: 5 });
    const saved = JSON.parse(new TextDecoder().decode(taught.files.get('modules.json'))) as { name: string; path: string }[];
    expect(saved.at(-1)).toMatchObject({ name: 'classifier', path: '3_Dense' });
    const classify = await taught.pipeline();
    const embed = await pipeline('feature-extraction', new Map(taught.files));
    const words = kPraise.slice(0, 4).map((example) => example.text);
    const [scores, logits] = [await classify(words, { top_k: null }), await embed(words, { pooling: 'sentence' })];
    for (const [index, { data }] of [...logits].entries()) {
      const chance = 1 / (1 + Math.exp(data[0]! - data[1]!)); // of praise: the folder's vector is the logits
      expect(scores[index]!.find(({ label }) => label === 'praise')!.score).toBeCloseTo(chance, 5);
    }
    const again = await teach('text-classification', new Map(taught.files), kPraise, { method: 'full', epochs: 1 });
    expect([...again.files.keys()].sort()).toEqual([...taught.files.keys()].sort());
    await Promise.all([classify.dispose(), embed.dispose()]);
  });

  test('of which something is not known is refused by name', async () => {
    const files = await encoder();
    const source = (pooling: object) => ({
      ...files,
      'modules.json': text(modules(['Transformer', 'Pooling'])),
      '1_Pooling/config.json': text(pooling),
    });
    const max = { word_embedding_dimension: 32, pooling_mode_max_tokens: true };
    await expect(teach('text-classification', source(max), kPraise)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/pooling/),
    });
    await expect(teach('text-classification', source(kPooling), kPraise, { method: 'lora' })).rejects.toMatchObject({
      code: 'unsupported',
    });
  });

  test('is taught by contrast only if each text has one label; other models are not', async () => {
    const source = {
      ...(await encoder()),
      'modules.json': text(modules(['Transformer', 'Pooling'])),
      '1_Pooling/config.json': text(kPooling),
    };
    const several = kPraise.map(({ text, label }) => ({ text, label: [label as string] }));
    const contrast = { method: 'contrast' } as const;
    await expect(teach('text-classification', source, several, contrast)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/one label/),
    });
    await expect(teach('text-classification', kSentiment, kPraise, contrast)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/sentence embedders/),
    });
    const { report } = await teach('text-classification', source, several, { epochs: 1 });
    expect(report.method).not.toBe('contrast');
    const unused = await teach('text-classification', source, kPraise, { ...contrast, epochs: 3, patience: 1, dropout: 0 });
    expect(unused.report.notices).toContainEqual(
      expect.stringMatching(/^epochs, patience have no effect: the number of updates of the method 'contrast' does not depend on them/),
    );
  });
});
