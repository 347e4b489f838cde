import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../../web/dist/index_node.js';
import { teach } from '../../../web/dist/teach/index_node.js';

const kFixtures = fileURLToPath(new URL('../../fixtures/gliclass/', import.meta.url));

function model(variant: string): Record<string, Uint8Array> {
  return Object.fromEntries(
    [`${variant}/config.json`, `${variant}/model.safetensors`, 'tokenizer/tokenizer.json', 'tokenizer/tokenizer_config.json'].map(
      (path) => [path.split('/')[1]!, readFileSync(join(kFixtures, path))],
    ),
  );
}

const kExamples = [
  { text: 'Anna met Mr. O in Genève', label: 'person' },
  { text: 'Monday the 3rd of May', label: 'date' },
  { text: 'Mr. Schmidt', label: 'person' },
  { text: 'on Tuesday', label: 'date' },
  { text: 'Anna and Otto', label: 'person' },
  { text: 'May 5', label: 'date' },
];
const kLabels = ['date', 'person'];

async function answers(source: Record<string, Uint8Array> | ReadonlyMap<string, Uint8Array>): Promise<string[]> {
  const classify = await pipeline('zero-shot-classification', source as Record<string, Uint8Array>);
  const found = await classify(
    kExamples.map(({ text }) => text),
    kLabels,
  );
  await classify.dispose();
  return found.map(({ labels }) => labels[0]!);
}

const right = (labels: string[]) => labels.filter((label, index) => label === kExamples[index]!.label).length;

test.for(['simple', 'mlp', 'cross-attn'])('a GLiClass learns the labels of the examples: %s', async (variant) => {
  const taught = await teach('zero-shot-classification', model(variant), kExamples, {
    learning_rate: 3e-3,
    dropout: 0,
    attention_dropout: 0,
  });
  const { report } = taught;
  expect(report).toMatchObject({ method: 'full', labels: kLabels, examples: 6 });
  expect(report.fresh).toEqual([]);
  expect(report.losses.at(-1)!).toBeLessThan(0.5 * report.losses[0]!);
  expect(right(await answers(taught.files))).toBe(6);
  const classify = await taught.pipeline();
  expect(await classify('Mr. Schmidt', kLabels)).toMatchObject({ labels: ['person', 'date'] });
  await classify.dispose();
  // The reference package expects the model's tensor names.
  const names = (file: Uint8Array) => {
    const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))) as Record<string, unknown>;
    return Object.keys(header).filter((name) => name !== '__metadata__' && name !== 'model.logit_scale');
  };
  expect(names(taught.files.get('model.safetensors')!).sort()).toEqual(names(model(variant)['model.safetensors']!).sort());
});

interface Goldens {
  examples: { text: string; labels: string[] }[];
  learning_rate: number;
  weight_decay: number;
  cases: { model: string; several: boolean; method: 'full' | 'head'; losses: number[] }[];
}
const kGoldens = JSON.parse(readFileSync(join(kFixtures, 'training.json'), 'utf8')) as Goldens; // make_gliclass_training_goldens.py

test.for(kGoldens.cases)('losses equal those of the package gliclass: $model, several labels: $several, $method', async (golden) => {
  const { examples, learning_rate, weight_decay } = kGoldens;
  const lesson = golden.several
    ? examples.map(({ text, labels }) => ({ text, label: labels }))
    : examples.filter(({ labels }) => labels.length === 1).map(({ text, labels }) => ({ text, label: labels[0]! }));
  const { report } = await teach('zero-shot-classification', model(golden.model), lesson, {
    method: golden.method,
    epochs: golden.losses.length,
    learning_rate,
    weight_decay,
    dropout: 0,
    attention_dropout: 0,
  });
  expect(report.losses).toHaveLength(golden.losses.length);
  // AdamW scales gradients to one size, rounding errors too. Most differences are below 5e-5.
  for (const [step, loss] of golden.losses.entries()) expect(Math.abs(report.losses[step]! - loss), `step ${step}`).toBeLessThan(2e-4);
});

test('head trains what compares texts with labels, and leaves the encoder', async () => {
  const taught = await teach('zero-shot-classification', model('simple'), kExamples, { method: 'head', epochs: 60, learning_rate: 1e-2 });
  expect(taught.report.method).toBe('head');
  expect(taught.report.trained_parameters).toBeLessThan(taught.report.parameters / 2);
  expect(taught.report.losses.at(-1)!).toBeLessThan(taught.report.losses[0]!);
  expect(right(await answers(taught.files))).toBeGreaterThanOrEqual(5);
});

test('several labels at once, and what cannot be taught', async () => {
  const several = kExamples.map(({ text, label }, index) => ({ text, label: index % 3 === 0 ? [label, 'place'] : [label] }));
  const { report } = await teach('zero-shot-classification', model('simple'), several, { epochs: 2 });
  expect(report.labels).toEqual(['date', 'person', 'place']);
  const refused = (task: 'text-classification' | 'zero-shot-classification', source: Record<string, Uint8Array>, options = {}) =>
    expect(teach(task, source, kExamples, options)).rejects;
  await refused('text-classification', model('simple')).toMatchObject({
    message: expect.stringContaining('zero-shot-classification') as string,
  });
  await refused('zero-shot-classification', model('simple'), { method: 'lora' }).toMatchObject({ code: 'unsupported' });
  await refused('zero-shot-classification', model('layer'), { method: 'head' }).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('encoder_layer_id') as string,
  });
  await refused('zero-shot-classification', model('bi')).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('bi-encoder') as string,
  });
});
