import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { pipeline, type TaskOrAlias } from '../../web/dist/index_node.js';
import { loadNotes } from '../../web/src/pipeline_info.js';
import { type Files, joinSafetensors, splitSafetensors, type TensorEntry, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function load<T extends TaskOrAlias>(task: T, files: Files) {
  const made = await pipeline(task, files);
  kOpen.push(made);
  return made;
}

function withHeader(files: Files, change: (name: string, entry: TensorEntry) => [string, TensorEntry][]): Files {
  const { header, body } = splitSafetensors(files['model.safetensors']!);
  const entries = Object.entries(header).flatMap(([name, entry]): [string, TensorEntry][] =>
    name === '__metadata__' ? [[name, entry]] : change(name, entry),
  );
  return { ...files, 'model.safetensors': joinSafetensors(Object.fromEntries(entries), body) };
}

function withConfig(files: Files, change: (config: Record<string, unknown>) => void): Files {
  const config = JSON.parse(new TextDecoder().decode(files['config.json']!)) as Record<string, unknown>;
  change(config);
  return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify(config)) };
}

test.each([
  ['text-classification', 'convbert-sequence', ['classifier.dense', 'classifier.out_proj']],
  ['text-classification', 'deberta-v2-sequence', ['pooler.dense', 'classifier']],
  ['text-classification', 'bert-sequence', ['pooler.dense', 'classifier']],
  ['token-classification', 'deberta-v1-token', ['classifier']],
  ['question-answering', 'convbert-question', ['qa_outputs']],
  ['multiple-choice', 'electra-choice', ['sequence_summary.summary', 'classifier']],
  ['replaced-token-detection', 'electra-rtd', ['discriminator_predictions.dense', 'discriminator_predictions.dense_prediction']],
  ['replaced-token-detection', 'deberta-v2-rtd', ['mask_predictions.dense', 'mask_predictions.LayerNorm', 'mask_predictions.classifier']],
  ['feature-extraction', 'convbert-bare', []],
] as const)('%s of %s: the tensors of the head', async (task, name, layers) => {
  const { weights } = (await load(task, (await readTiny(name)).files)).info;
  expect([...weights.headTensors].sort()).toEqual(layers.flatMap((layer) => [`${layer}.bias`, `${layer}.weight`]).sort());
});

test('tensors that the task does not need are counted and named', async () => {
  const { files } = await readTiny('deberta-v2-question');
  const tensors = Object.keys(splitSafetensors(files['model.safetensors']!).header).filter((name) => name !== '__metadata__');
  const { weights } = (await load('feature-extraction', files)).info;
  expect([...weights.extraTensors].sort()).toEqual(['qa_outputs.bias', 'qa_outputs.weight']);
  expect(weights.tensors).toBe(tensors.length - 2);
});

test('sentences of the command line name them, and the head', async () => {
  const { files } = await readTiny('deberta-v2-question');
  const notes = [];
  for (const task of ['feature-extraction', 'question-answering'] as const) notes.push(...loadNotes((await load(task, files)).info, task));
  expect(notes).toHaveLength(6);
  expect(notes.join('\n')).toMatch(
    /feature-extraction: \d+ tensors in use; the task has no head\.\n2 tensors of the checkpoint unused: qa_outputs\.bias, qa_outputs\.weight\./,
  );
  expect(notes.join('\n')).toMatch(/head is made of qa_outputs\.\w+, qa_outputs\.\w+\.\nAll tensors of the checkpoint are used\./);
});

test('legacy names and other spellings are the same model', async () => {
  const { files, expected } = await readTiny('convbert-sequence');
  const text = tinyText(expected.get('c.input_ids')!);
  const plain = await (await load('text-classification', files))(text, { top_k: null });
  const legacy = withHeader(files, (name, entry) => [
    [name.replace(/LayerNorm\.weight$/, 'LayerNorm.gamma').replace(/LayerNorm\.bias$/, 'LayerNorm.beta'), entry],
  ]);
  const bare = withHeader(files, (name, entry) => [[name.replace(/^convbert\./, ''), entry]]);
  const spelled = withConfig(files, (config) => {
    config.model_type = 'conv_bert';
  });
  for (const changed of [legacy, bare, spelled]) {
    expect(await (await load('text-classification', changed))(text, { top_k: null })).toEqual(plain);
  }
});

test('missing and misshapen tensors are reported together, by name and with their shapes', async () => {
  const { files } = await readTiny('convbert-sequence');
  const spoilt = withConfig(
    withHeader(files, (name, entry) => [[name.replace('layer.0.attention.self.query.weight', 'layer.0.something'), entry]]),
    (config) => {
      config.intermediate_size = 50;
    },
  );
  const error = await load('text-classification', spoilt).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'PeruseError', code: 'missing_tensor' });
  const { message } = error as Error;
  expect(message).toContain('missing: encoder.layer.0.attention.self.query.weight [16, 32]');
  expect(message).toContain('convbert.encoder.layer.0.intermediate.dense.weight [48, 32] instead of [50, 32]');
  expect(message).toMatch(/ and \d+ more/); // the first three are named
});

test('a head that is not there is refused by name, as are talking heads', async () => {
  await expect(load('question-answering', (await readTiny('convbert-sequence')).files)).rejects.toMatchObject({
    code: 'missing_head',
    message: expect.stringMatching(/question answering.*qa_outputs\.weight/),
  });
  await expect(load('text-classification', (await readTiny('deberta-v1-talking-heads')).files)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('talking_head'),
  });
});

test('a folder that has ONNX files only is named as that, where safetensors were requested', async () => {
  const { files } = await readTiny('convbert-sequence');
  const folder = mkdtempSync(join(tmpdir(), 'peruse-onnx-'));
  try {
    for (const name of ['config.json', 'tokenizer.json']) writeFileSync(join(folder, name), files[name]!);
    mkdirSync(join(folder, 'onnx'));
    writeFileSync(join(folder, 'onnx/model.onnx'), 'x');
    await expect(pipeline('text-classification', folder, { weights: 'safetensors' })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(
        /neither .*model\.safetensors .*nor .*pytorch_model\.bin .*; there is onnx\/model\.onnx \(ONNX, which weights: 'onnx' and peruse convert read\)/,
      ),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
