import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PipelineOptions, type PipelineOptionsOf, pipeline, type Source } from '../../web/dist/index_node.js';
import { peruse } from './cli/run_in_test.js';
import { startModelServer } from './support/model_server.js';
import { type Files, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kTexts = [1, 5, 12].map((length) => tinyText(Array.from({ length }, (_, i) => (i * 7 + length) % 40)));
const read = async (file: string) => new Uint8Array(await readFile(join(kFixtures, file)));

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-adapter-'));
});
afterAll(() => rm(root, { recursive: true }));

async function readCase(adapter: string, base: string): Promise<{ base: Files; merged: Files; adapter: Files }> {
  const { files } = await readTiny(base);
  return {
    base: files,
    merged: { ...files, 'model.safetensors': await read(`adapters/${adapter}/merged.safetensors`) },
    adapter: {
      'adapter_config.json': await read(`adapters/${adapter}/adapter_config.json`),
      'adapter_model.safetensors': await read(`adapters/${adapter}/adapter_model.safetensors`),
    },
  };
}

async function logits(source: Source, options: PipelineOptions = {}): Promise<number[]> {
  const classify = await pipeline('text-classification', source, { variant: 'simd', ...options });
  try {
    const all = await classify(kTexts, { top_k: null, function_to_apply: 'none' });
    return all.flatMap((labels) => [...labels].sort((a, b) => a.label.localeCompare(b.label)).map(({ score }) => score));
  } finally {
    await classify.dispose();
  }
}

async function vectors(source: Source, options: PipelineOptions = {}): Promise<number[]> {
  const embed = await pipeline('feature-extraction', source, { variant: 'simd', ...options });
  try {
    const all = await embed(kTexts, { pooling: 'mean' });
    return [...all.data];
  } finally {
    await embed.dispose();
  }
}

function expectClose(found: number[], expected: number[]): void {
  expect(found).toHaveLength(expected.length);
  expect(Math.max(...found.map((value, i) => Math.abs(value - expected[i]!)))).toBeLessThan(1e-5);
}

test('gives the logits of the merged checkpoint, from bytes, a folder and a URL, here and in a worker', async () => {
  const { base, merged, adapter } = await readCase('linear', 'deberta-v2-sequence');
  const expected = await logits(merged);
  const plain = await logits(base);
  expect(Math.max(...plain.map((value, i) => Math.abs(value - expected[i]!)))).toBeGreaterThan(1e-2);
  const server = await startModelServer(adapter);
  try {
    for (const source of [adapter, join(kFixtures, 'adapters/linear'), server.url]) {
      for (const worker of [false, true]) expectClose(await logits(base, { adapter: source, worker }), expected);
    }
  } finally {
    await server.close();
  }
});

test('merges embeddings and biases, and before weights become 8-bit integers', async () => {
  const { base, merged, adapter } = await readCase('embeddings', 'electra-sequence');
  expectClose(await vectors(base, { adapter }), await vectors(merged));
  const linear = await readCase('linear', 'deberta-v2-sequence');
  const found = await logits(linear.base, { adapter: linear.adapter, dtype: 'q8' });
  const expected = await logits(linear.merged, { dtype: 'q8' });
  expect(Math.max(...found.map((value, i) => Math.abs(value - expected[i]!)))).toBeLessThan(1e-2);
});

test('an adapter brings the number of its labels, and id2label their names', async () => {
  const { base, adapter } = await readCase('labels', 'deberta-v2-bare');
  const labelsWith = async (options: PipelineOptionsOf<'token-classification'>) => {
    const tag = await pipeline('token-classification', base, { variant: 'simd', adapter, ...options });
    try {
      return new Set((await tag(kTexts[2]!, { ignore_labels: [] })).map(({ entity }) => entity));
    } finally {
      await tag.dispose();
    }
  };
  for (const label of await labelsWith({})) expect(label).toMatch(/^LABEL_[0-4]$/);
  for (const label of await labelsWith({ id2label: ['a', 'b', 'c', 'd', 'e'] })) expect(label).toMatch(/^[a-e]$/);
  for (const label of await labelsWith({ id2label: { 0: 'a', 1: 'b', 2: 'c', 3: 'd', 4: 'e' } })) expect(label).toMatch(/^[a-e]$/);
  await expect(labelsWith({ id2label: ['a', 'b'] })).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(labelsWith({ id2label: { 1: 'a' } })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('id2label'),
  });
});

test('merges into shards', async () => {
  const { merged, adapter } = await readCase('linear', 'deberta-v2-sequence');
  expectClose(await logits(join(kFixtures, 'sharded'), { adapter }), await logits(merged));
});

test('is an option of the commands', async () => {
  const { base } = await readCase('linear', 'deberta-v2-sequence');
  for (const [name, content] of Object.entries(base)) await writeFile(join(root, name), content);
  const { code, err } = await peruse(['classify', root, '--adapter', join(kFixtures, 'adapters/linear'), kTexts[1]!]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
});

test('what does not fit is one clear error', async () => {
  const { base, adapter } = await readCase('linear', 'deberta-v2-sequence');
  const encode = (text: string) => new TextEncoder().encode(text);
  const failing = (files: Files) => logits(base, { adapter: files }).catch((error: unknown) => error);
  expect(await failing({})).toMatchObject({ code: 'invalid_argument' });
  expect(await failing({ 'adapter_config.json': adapter['adapter_config.json']! })).toMatchObject({
    code: 'not_found',
    message: expect.stringMatching(/neither .*adapter_model\.safetensors .*nor .*adapter_model\.bin/),
  });
  expect(await failing({ ...adapter, 'adapter_config.json': encode('{"peft_type":"IA3"}') })).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('IA3'),
  });
  expect(await failing({ ...adapter, 'adapter_model.safetensors': adapter['adapter_model.safetensors']!.subarray(0, 500) })).toMatchObject({
    code: 'truncated_file',
    message: expect.stringContaining('adapter_model.safetensors'),
  });
  const other = await readCase('patterns', 'bert-token');
  expect(await failing(other.adapter)).toMatchObject({ code: 'missing_tensor', message: expect.stringMatching(/The adapter changes/) });
});
