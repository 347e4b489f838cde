// shrink() with 4 bits: which layers keep 8, by what 4 would cost them.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { type Files, joinSafetensors, splitSafetensors, tinyModel, tinyText } from './support/tiny.js';

const kWidth = 1024;
const kConfig = {
  model_type: 'bert',
  architectures: ['BertModel'],
  vocab_size: 40,
  max_position_embeddings: 20,
  hidden_size: kWidth,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  intermediate_size: 64,
  hidden_act: 'gelu',
  type_vocab_size: 2,
  layer_norm_eps: 1e-12,
};

/** Weights of a layer of BERT. In the tensors that `steep` names, each group of 32 values has one that is 20 times as large as the others. */
function wideModel(steep: string): Files {
  const header: Record<string, object> = {};
  const parts: Uint8Array[] = [];
  let at = 0;
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  const add = (name: string, shape: number[], value: (i: number) => number) => {
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => value(i));
    header[name] = { dtype: 'F32', shape, data_offsets: [at, at + values.byteLength] };
    at += values.byteLength;
    parts.push(new Uint8Array(values.buffer));
  };
  const norm = (name: string) => {
    add(`${name}.weight`, [kWidth], () => 1);
    add(`${name}.bias`, [kWidth], () => 0);
  };
  const linear = (name: string, out: number, width: number) => {
    const isSteep = name.endsWith(steep);
    add(`${name}.weight`, [out, width], (i) => random() * (isSteep && i % 32 !== 5 ? 0.003 : 0.06));
    add(`${name}.bias`, [out], () => 0);
  };
  add('bert.embeddings.word_embeddings.weight', [40, kWidth], random);
  add('bert.embeddings.position_embeddings.weight', [20, kWidth], random);
  add('bert.embeddings.token_type_embeddings.weight', [2, kWidth], random);
  norm('bert.embeddings.LayerNorm');
  for (const name of ['query', 'key', 'value']) linear(`bert.encoder.layer.0.attention.self.${name}`, kWidth, kWidth);
  linear('bert.encoder.layer.0.attention.output.dense', kWidth, kWidth);
  norm('bert.encoder.layer.0.attention.output.LayerNorm');
  linear('bert.encoder.layer.0.intermediate.dense', 64, kWidth);
  linear('bert.encoder.layer.0.output.dense', kWidth, 64);
  norm('bert.encoder.layer.0.output.LayerNorm');
  return tinyModel(new TextEncoder().encode(JSON.stringify(kConfig)), joinSafetensors(header, new Uint8Array(Buffer.concat(parts))));
}

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-shrink-'));
});
afterAll(() => rm(root, { recursive: true }));

const attention = 'bert.encoder.layer.0.attention';

test.each([
  ['no layer', 'none', []],
  ['a layer alone', 'attention.output.dense', [`${attention}.output.dense.weight`]],
  ['query, key and value, which are one layer', 'self.key', ['key', 'query', 'value'].map((name) => `${attention}.self.${name}.weight`)],
])('%s keeps 8 bits', async (_, steep, kept) => {
  const files = wideModel(steep);
  const folder = join(root, steep);
  const report = await shrinkCheckpoint(files, folder, { dtype: 'q4', compare: [tinyText([1, 7, 30, 12])] });
  const layers = report.layers!;
  expect(layers.kept.map(({ name }) => name).sort()).toEqual(kept);
  expect(layers.packed).toBe(4 - kept.length);
  expect(layers.largestLoss).toBeGreaterThan(0.05); // uniform weights
  expect(layers.largestLoss).toBeLessThan(0.08);
  for (const { name, loss } of layers.kept) {
    if (name.includes(steep)) expect(loss, name).toBeGreaterThan(0.125);
    else expect(loss, name).toBeLessThan(0.08);
  }
  const { header } = splitSafetensors(new Uint8Array(await readFile(join(folder, 'model.safetensors'))));
  for (const name of ['self.query', 'self.key', 'self.value', 'output.dense']) {
    const tensor = `${attention}.${name}.weight`;
    expect(header[tensor]?.dtype, tensor).toBe(kept.includes(tensor) ? 'I8' : 'U8');
  }
  const card = await readFile(join(folder, 'README.md'), 'utf8');
  expect(card.includes('in 4 bits keep 8')).toBe(kept.length > 0);
  expect(report.difference!.leastCosine).toBeGreaterThan(0.99);
  const embed = await pipeline('feature-extraction', folder);
  expect(embed.info.dtype).toBe('q4');
  await embed.dispose();
});
