// OpenAI's privacy filter: tokens are those of transformers, spans those of a search of all sequences of spans
// (tests/reference/make_privacy_fixture.py).
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedactor, describe as describeModel, entityFinder, pipeline } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { splitSafetensors } from './support/tiny.js';

const kFolder = fileURLToPath(new URL('../fixtures/privacy', import.meta.url));
const kCalibration = 'viterbi_calibration.json';
const kSettings = { variant: 'simd', worker: false, threads: 1 } as const;

interface Span {
  entity_group: string;
  score: number;
  start: number;
  end: number;
}
interface Golden {
  biases: Record<string, number>;
  texts: { text: string; tokens: { label: string; score: number }[]; plain: Span[]; biased: Span[] }[];
}
const golden: Golden = JSON.parse(readFileSync(join(kFolder, 'texts.json'), 'utf8'));

let temporary: string;
beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'peruse-privacy-'));
});
afterAll(() => rmSync(temporary, { recursive: true }));

function copyWith(name: string, calibration: unknown): string {
  const folder = join(temporary, name);
  cpSync(kFolder, folder, { recursive: true });
  writeFileSync(join(folder, kCalibration), JSON.stringify(calibration));
  return folder;
}
const calibrated = (biases: Record<string, number>) => ({
  operating_points: {
    default: { biases: Object.fromEntries(Object.entries(biases).map(([name, value]) => [`transition_bias_${name}`, value])) },
  },
});

function expectSpans(found: readonly object[], wanted: readonly Span[]): void {
  const spans = found as Span[];
  expect(spans.map(({ entity_group, start, end }) => ({ entity_group, start, end }))).toEqual(
    wanted.map(({ entity_group, start, end }) => ({ entity_group, start, end })),
  );
  for (const [i, { score }] of spans.entries()) expect(score).toBeCloseTo(wanted[i]!.score, 4);
}

test('tokens have the labels of transformers, spans are those of the best sequence', async () => {
  const tag = await pipeline('token-classification', kFolder, kSettings);
  for (const { text, tokens, plain } of golden.texts) {
    const found = await tag(text, { ignore_labels: [] });
    expect(found.map(({ entity }) => entity)).toEqual(tokens.map(({ label }) => label));
    for (const [i, { score }] of found.entries()) expect(score).toBeCloseTo(tokens[i]!.score, 4);
    for (const aggregation_strategy of ['simple', 'average'] as const) {
      const spans = await tag(text, { aggregation_strategy });
      expectSpans(spans, plain);
      for (const { start, end, word } of spans) expect(text.slice(start, end)).toBe(word);
    }
  }
  await tag.dispose();
});

test('biases of viterbi_calibration.json count, also in a quantised copy', async () => {
  const folder = copyWith('biased', calibrated(golden.biases));
  const tag = await pipeline('token-classification', folder, kSettings);
  for (const { text, biased } of golden.texts) expectSpans(await tag(text, { aggregation_strategy: 'simple' }), biased);
  await tag.dispose();
  const { quantized } = await quantizeCheckpoint(folder, join(temporary, 'q8'));
  expect(quantized).toBeGreaterThan(3);
  expect(readFileSync(join(temporary, 'q8', kCalibration), 'utf8')).toBe(readFileSync(join(folder, kCalibration), 'utf8'));
  const [copy, direct] = [
    await pipeline('token-classification', join(temporary, 'q8'), kSettings),
    await pipeline('token-classification', folder, { ...kSettings, dtype: 'q8' }),
  ];
  const { text } = golden.texts[3]!;
  const options = { aggregation_strategy: 'simple' } as const;
  expect(await copy(text, options)).toEqual(await direct(text, options));
  await copy.dispose();
  await direct.dispose();
});

test.each(['q8', 'q4'] as const)('a copy of %s stores the experts in it, and finds the same', async (dtype) => {
  const target = join(temporary, `experts-${dtype}`);
  await quantizeCheckpoint(kFolder, target, { dtype });
  const { header } = splitSafetensors(readFileSync(join(target, 'model.safetensors')));
  const experts = Object.entries(header).filter(([name]) => name.includes('experts') && name.endsWith('_proj'));
  expect(experts.length).toBeGreaterThan(1);
  expect(new Set(experts.map(([, { dtype: stored }]) => stored))).toEqual(new Set([dtype === 'q8' ? 'I8' : 'U8']));
  const [copy, direct] = [
    await pipeline('token-classification', target, kSettings),
    await pipeline('token-classification', kFolder, { ...kSettings, dtype }),
  ];
  for (const { text } of golden.texts) expect(await copy(text)).toEqual(await direct(text));
  await copy.dispose();
  await direct.dispose();
  // The floats that the integers stand for, in the layout of the original.
  const again = join(temporary, `again-${dtype}`);
  await quantizeCheckpoint(target, again, { dtype });
  const whole = splitSafetensors(readFileSync(join(again, 'model.safetensors')));
  for (const [name] of experts) expect(whole.header[name]!.shape).toEqual(header[name]!.shape);
});

test('a calibration that lacks a bias, or is no object, is refused', async () => {
  const { end_to_start: _, ...others } = golden.biases;
  for (const calibration of [calibrated(others), calibrated({ ...golden.biases, other: 1 }), { operating_points: 1 }]) {
    const folder = copyWith('refused', calibration);
    await expect(pipeline('token-classification', folder, kSettings)).rejects.toMatchObject({ code: 'malformed_file' });
  }
});

test('redact replaces its spans, as the model and as a finder, and more with recall', async () => {
  const { text, plain } = golden.texts[0]!;
  const { id2label } = JSON.parse(readFileSync(join(kFolder, 'config.json'), 'utf8')) as { id2label: Record<string, string> };
  const labels = Object.values(id2label).filter((label) => label !== 'O');
  const types = [...new Set(labels.map((label) => label.slice(2)))];
  const model = await pipeline('redact', kFolder, kSettings);
  const tag = await pipeline('token-classification', kFolder, kSettings);
  const covered = (spans: readonly { start: number; end: number }[]) =>
    new Set(spans.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i)).filter((at) => text[at] !== ' '));
  for (const call of [model, createRedactor({ finders: [entityFinder(tag)] })]) {
    const { entities } = await call(text, { types }); // otherwise unsure names in small letters stay
    expect(covered(entities)).toEqual(covered(plain)); // neighbours of one type are one detail
    expect(entities[0]).toMatchObject({ type: plain[0]!.entity_group, start: plain[0]!.start, end: plain[0]!.end });
  }
  const { entities } = await model(text, { recall: 1, types });
  expect(covered(entities).size).toBe(text.replaceAll(' ', '').length);
  await model.dispose();
  await tag.dispose();
});

test('describe() says which tasks it is for', async () => {
  const { model_type, refused } = await describeModel(kFolder);
  expect(model_type).toBe('openai_privacy_filter');
  expect(refused['token-classification']).toBeUndefined();
  expect(refused['fill-mask']).toMatchObject({ code: 'unsupported' });
});
