import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { teach } from '../../../web/dist/teach/index_node.js';
import { kAnswers, kEntities, kTexts } from '../support/lessons.js';
import { startModelServer } from '../support/model_server.js';
import { readTiny } from '../support/tiny_files.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const kTagger = `${kRoot}models/peruse-tagger-convbert-tiny`;
const kReader = `${kRoot}models/peruse-reader-deberta-tiny`;

const folder = await mkdtemp(join(tmpdir(), 'peruse-taught-'));
afterAll(() => rm(folder, { recursive: true }));

const kQuick = { epochs: 12, learning_rate: 2e-3, batch_size: 8 };

describe('texts', () => {
  test('where nobody can make a folder nothing is saved, and the model is still there', async () => {
    const taught = await teach('text-classification', kSentiment, kTexts, { ...kQuick, method: 'head', epochs: 1 });
    for (const folder of ['/proc/peruse/taught', '/dev/null/taught']) {
      const message = expect.stringContaining(`can't be written to ${folder}`);
      await expect(taught.save(folder)).rejects.toMatchObject({ code: 'invalid_argument', message });
    }
    expect(taught.files.size).toBeGreaterThan(0);
    await taught.dispose();
  });

  test('with the same seed the same, with another another', async () => {
    const options = { method: 'full', epochs: 1, learning_rate: 1e-3 } as const;
    const losses = await Promise.all(
      [1, 1, 2].map(async (seed) => (await teach('text-classification', kSentiment, kTexts, { ...options, seed })).report.losses),
    );
    expect(losses[0]).toEqual(losses[1]);
    expect(losses[0]).not.toEqual(losses[2]);
  });

  test('a share is held out of every label', async () => {
    const { report } = await teach('text-classification', kSentiment, kTexts, { validation: 0.25, method: 'head' });
    expect(report).toMatchObject({ method: 'head', examples: 24, validation_examples: 8 });
    expect(report.validation!.confusion!.map((row) => row[0]! + row[1]!)).toEqual([4, 4]);
    expect(report.l2).toBeGreaterThan(0);
  });

  test('labels that the model knows stay where they are', async () => {
    const examples = kTexts.slice(8, 24).map(({ text, label }) => ({ text, label: label === 'plant' ? 'POSITIVE' : 'NEGATIVE' }));
    const { labels } = JSON.parse(await readFile(join(kSentiment, 'config.json'), 'utf8')) as { labels?: never; id2label: object };
    expect(labels).toBeUndefined();
    const { report } = await teach('text-classification', kSentiment, examples, { method: 'full', epochs: 1 });
    expect(report.labels).toEqual(['NEGATIVE', 'POSITIVE']);
    expect(report.fresh).toEqual([]);
  });

  test('in the order that is asked for, with weights, smoothing, sift, and words left alone', async () => {
    const taught = await teach('text-classification', kSentiment, kTexts, {
      ...kQuick,
      method: 'full',
      epochs: 1,
      labels: ['tool', 'plant'],
      class_weights: { tool: 2 },
      label_smoothing: 0.1,
      sift: true,
      freeze_words: true,
    });
    expect(taught.report.labels).toEqual(['tool', 'plant']);
    expect(taught.report.trained_parameters).toBeLessThan(taught.report.parameters);
    expect(JSON.parse(new TextDecoder().decode(taught.files.get('config.json')))).toMatchObject({ id2label: { 0: 'tool', 1: 'plant' } });
  });
});

test('entities are learnt from their places', async () => {
  const taught = await teach('token-classification', kTagger, kEntities, { ...kQuick, method: 'full', validation: 0.2 });
  expect(taught.report.labels).toEqual(['O', 'B-PLANT', 'I-PLANT']);
  expect(taught.report.validation!.f1).toBeGreaterThan(0.7);
  const tag = await taught.pipeline();
  expect(await tag('My rose is old.', { aggregation_strategy: 'simple' })).toMatchObject([{ entity_group: 'PLANT', word: 'rose' }]);
  await tag.dispose();
});

test('answers are learnt from their places', async () => {
  const taught = await teach('question-answering', kReader, kAnswers, { method: 'full', epochs: 4, learning_rate: 1e-3 });
  expect(taught.report).toMatchObject({ labels: [], fresh: [] });
  expect(taught.report.epochs.at(-1)!.loss).toBeLessThan(taught.report.epochs[0]!.loss);
  const answer = await taught.pipeline();
  expect(await answer('Where is Peter?', 'Peter is in the attic.')).toMatchObject({ answer: 'attic' });
  await answer.dispose();
});

test.each<[string, object[], object, string, RegExp]>([
  [
    'a label that is not among those asked for',
    kTexts,
    { labels: ['plant', 'x'] },
    'invalid_argument',
    /^Example 16: its label "tool" is none of these: plant, x/,
  ],
  ['a text that is empty', [...kTexts, { text: ' ', label: 'tool' }], {}, 'empty_text', /^Example 32: it has no text/],
  ['one label only', kTexts.slice(0, 4), {}, 'invalid_argument', /at least two labels/],
  [
    'a label held out that nobody teaches',
    kTexts,
    { validation: [{ text: 'A', label: 'x' }] },
    'invalid_argument',
    /^Validation example 0: its label "x"/,
  ],
  [
    'weights for a label that is none',
    kTexts,
    { class_weights: { x: 1 } },
    'invalid_argument',
    /class_weights names 'x', which is not one of plant, tool/,
  ],
  ['a weight that is none', kTexts, { class_weights: { tool: -1 } }, 'invalid_argument', /class_weights must have numbers above 0/],
  [
    'weights for labels of which a text has several',
    kTexts.map(({ text, label }) => ({ text, label: [label] })),
    { class_weights: { tool: 2 } },
    'unsupported',
    /class_weights is for texts with one label each/,
  ],
  [
    'smoothing for numbers',
    kTexts.map(({ text }, i) => ({ text, label: i + 0.5 })),
    { label_smoothing: 0.1 },
    'unsupported',
    /label_smoothing is for texts with one label each/,
  ],
  ['more layers than there are', kTexts, { method: { layers: 99 } }, 'invalid_argument', /Option layers is 99/],
  [
    'a rate that is none',
    kTexts,
    { learning_rate: 1e30 },
    'invalid_argument',
    /^Option learning_rate is 1e\+30, which is not from 0 to 1\.$/,
  ],
])('%s is refused by name', async (_, examples, options, code, message) => {
  const lesson = teach('text-classification', kSentiment, examples as typeof kTexts, options);
  await expect(lesson).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

test('a place outside the text is refused by the example’s number', async () => {
  const bad = [...kEntities.slice(0, 2), { text: 'A rose.', entities: [{ start: 2, end: 70, label: 'PLANT' }] }];
  await expect(teach('token-classification', kTagger, bad)).rejects.toMatchObject({
    message: expect.stringMatching(/^Example 2: an entity of it is not within/),
  });
});

test('a context of nothing is refused, though a question may have no answer', async () => {
  const bad = [...kAnswers.slice(0, 2), { question: 'Where?', context: ' ', answer: null }];
  await expect(teach('question-answering', kReader, bad)).rejects.toMatchObject({
    code: 'empty_text',
    message: expect.stringMatching(/^Example 2: its context has no text/),
  });
});

describe('what is saved is what transformers and peft read', () => {
  // tests/reference/check_taught.py also uses these places.
  const kPlaces = [0, 3, 6, 9].map((start) => ({ question: 't7 t8', context: 't5 t6 t9 t4 t3', answer: { start, end: start + 2 } }));

  test('answers have two outputs whatever labels there were', async () => {
    const { files } = await readTiny('bert-sequence');
    expect(JSON.parse(new TextDecoder().decode(files['config.json']))).toHaveProperty('id2label');
    const taught = await teach('question-answering', files, kPlaces, { method: 'full', epochs: 1 });
    const config = JSON.parse(new TextDecoder().decode(taught.files.get('config.json'))) as object;
    for (const name of ['id2label', 'label2id', 'num_labels', 'problem_type']) expect(config).not.toHaveProperty(name);
  });

  test('LoRA knows what MPNet calls query and value', async () => {
    const { files } = await readTiny('mpnet-question');
    const taught = await teach('question-answering', files, kPlaces, { method: 'lora', epochs: 1 });
    const about = JSON.parse(new TextDecoder().decode(taught.files.get('adapter_config.json'))) as { target_modules: string[] };
    expect(about.target_modules).toEqual(['q', 'v']);
  });
});

describe('sources', () => {
  test('files, and a model of which only the encoder is trained', async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    const { report } = await teach('text-classification', files, kTexts, { method: 'head', labels: ['plant', 'tool'] });
    expect(report.labels).toEqual(['plant', 'tool']);
  });

  test('a server, of which nothing is asked again for the pipeline', async () => {
    const names = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
    const files = names.map((name) => [name, readFileSync(join(kSentiment, name))] as const);
    const server = await startModelServer(Object.fromEntries(files));
    try {
      const taught = await teach('text-classification', server.url, kTexts, { method: 'lora', epochs: 1 });
      const asked = server.requests.length;
      expect(asked).toBeGreaterThan(2);
      await (await taught.pipeline()).dispose();
      expect(server.requests.length).toBe(asked);
    } finally {
      await server.close();
    }
  });

  test('a model that is not there', async () => {
    await expect(teach('text-classification', folder, kTexts)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/config\.json/),
    });
  });
});

describe('cancelling', () => {
  test('a listener that throws ends it', async () => {
    const lesson = teach('text-classification', kSentiment, kTexts, {
      progress_callback: () => {
        throw new Error('not now');
      },
    });
    await expect(lesson).rejects.toMatchObject({ code: 'invalid_argument', message: 'progress_callback failed: not now.' });
  });
});

test('two at a time, and the event loop goes on', async () => {
  let ticks = 0;
  const timer = setInterval(() => ++ticks, 5);
  const both = await Promise.all([
    teach('text-classification', kSentiment, kTexts, { ...kQuick, epochs: 4, method: 'full' }),
    teach('token-classification', kTagger, kEntities, { ...kQuick, epochs: 4, method: 'full' }),
  ]);
  clearInterval(timer);
  expect(both.map(({ task }) => task)).toEqual(['text-classification', 'token-classification']);
  expect(ticks).toBeGreaterThan(10);
});
