// Static embeddings: vectors are those of model2vec and sentence-transformers (tests/reference/make_static_fixtures.py).
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline, SemanticIndex } from '../../web/dist/index_node.js';
import { convertCheckpoint, quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { joinSafetensors, splitSafetensors } from './support/tiny.js';

const kFixtures = fileURLToPath(new URL('../fixtures/static/', import.meta.url));
const kCases = (await readdir(kFixtures, { withFileTypes: true })).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();

async function golden(name: string): Promise<{ texts: string[]; vectors: number[][] }> {
  return JSON.parse(await readFile(`${kFixtures}${name}/vectors.json`, 'utf8'));
}

async function filesOf(name: string): Promise<Record<string, Uint8Array>> {
  const names = (await readdir(`${kFixtures}${name}`, { recursive: true })).filter((file) => /\.\w+$/.test(file));
  return Object.fromEntries(
    await Promise.all(names.map(async (file) => [file, new Uint8Array(await readFile(`${kFixtures}${name}/${file}`))])),
  );
}

async function vectorsOf(source: string | Record<string, Uint8Array>, texts: string[]): Promise<number[][]> {
  const embed = await pipeline('feature-extraction', source, { variant: 'simd' });
  try {
    return (await embed(texts, { pooling: 'sentence' })).tolist() as number[][];
  } finally {
    await embed.dispose();
  }
}

test.each(kCases)('%s gives the vectors of its library', async (name) => {
  const { texts, vectors } = await golden(name);
  const found = await vectorsOf(`${kFixtures}${name}`, texts);
  for (const [i, vector] of found.entries()) {
    for (const [c, value] of vector.entries()) expect(Math.abs(value - vectors[i]![c]!), `${texts[i]}: ${c}`).toBeLessThan(2e-6);
  }
  expect(kCases.length).toBe(6);
});

test('SemanticIndex searches with them', async () => {
  const embed = await pipeline('feature-extraction', `${kFixtures}float32`, { variant: 'simd' });
  const { texts } = await golden('float32');
  const index = new SemanticIndex(embed);
  await index.add(texts);
  const [best] = await index.search(texts[3]!);
  expect(best).toMatchObject({ text: texts[3] });
  await embed.dispose();
});

test.each(['mapped', 'sentence-normalized'])('%s is written as a folder of its own, also quantised', async (name) => {
  const { texts, vectors } = await golden(name);
  const folder = await mkdtemp(join(tmpdir(), 'peruse-static-'));
  const largest = async (source: string) =>
    Math.max(...(await vectorsOf(source, texts)).flatMap((vector, i) => vector.map((value, c) => Math.abs(value - vectors[i]![c]!))));
  try {
    await convertCheckpoint(`${kFixtures}${name}`, join(folder, 'plain'));
    await quantizeCheckpoint(`${kFixtures}${name}`, join(folder, 'q8'));
    expect(await largest(join(folder, 'plain'))).toBeLessThan(2e-6);
    const rounded = await largest(join(folder, 'q8'));
    expect(rounded).toBeGreaterThan(1e-4);
    expect(rounded).toBeLessThan(0.02); // A row of 8 numbers has steps of 1/127 of the largest.
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('embeddings of 64 bits are read, and a configuration with NaN', async () => {
  const { texts, vectors } = await golden('float32');
  const files = await filesOf('float32');
  const { header, body } = splitSafetensors(files['model.safetensors']!);
  const embeddings = header.embeddings!;
  expect(Object.keys(header).filter((name) => name !== '__metadata__')).toEqual(['embeddings']);
  const wide = new Uint8Array(Float64Array.from(new Float32Array(body.slice(...embeddings.data_offsets).buffer)).buffer);
  const weights = joinSafetensors({ ...header, embeddings: { ...embeddings, dtype: 'F64', data_offsets: [0, wide.length] } }, wide);
  const config = new TextDecoder().decode(files['config.json']).replace('{', '{"says": "NaN, Infinity", "loss": NaN, "limit": -Infinity,');
  const found = await vectorsOf({ ...files, 'model.safetensors': weights, 'config.json': new TextEncoder().encode(config) }, texts);
  for (const [i, vector] of found.entries()) {
    for (const [c, value] of vector.entries()) expect(Math.abs(value - vectors[i]![c]!)).toBeLessThan(2e-6);
  }
});

test('what is unclear is refused', async () => {
  const files = await filesOf('float32');
  const encode = (json: object) => new TextEncoder().encode(JSON.stringify(json));
  const refuses = (changed: Record<string, Uint8Array>, error: object) =>
    expect(vectorsOf({ ...files, ...changed }, ['a'])).rejects.toMatchObject(error);
  await refuses(
    { 'config.json': encode({ model_type: 'model2vec', normalize: false }) },
    { code: 'unsupported', message: expect.stringContaining('normalize') },
  );
  const { header, body } = splitSafetensors(files['model.safetensors']!);
  const { embeddings } = header;
  await refuses(
    { 'model.safetensors': joinSafetensors({ table: embeddings }, body) },
    { code: 'unsupported', message: expect.stringContaining("'table'") },
  );
  await refuses({ 'model.safetensors': files['model.safetensors']!.slice(0, -4) }, { code: 'truncated_file' });
  await refuses({ 'model.safetensors': new Uint8Array(4) }, { code: 'malformed_file' });
  await refuses(
    { 'model.safetensors': joinSafetensors({ embeddings: { ...embeddings!, shape: [40, 7] } }, body) },
    { code: 'malformed_file' },
  );
});

/** A folder of model2vec whose tokenizer makes one token of each of the letters a, b and c. */
function lettersFolder(unk_token: string | null, added: object[]): Record<string, Uint8Array> {
  const encode = (json: object) => new TextEncoder().encode(JSON.stringify(json));
  const rows = Float32Array.from([3, 4, 0, 1, 1, 0, 5, 12]); // of a, b, c and <unk>
  const model = { type: 'BPE', unk_token, vocab: { a: 0, b: 1, c: 2 }, merges: [] };
  return {
    'config.json': encode({ max_length: 512, normalize: true, embedding_dtype: 'float32' }),
    'tokenizer.json': encode({
      version: '1.0',
      added_tokens: added,
      normalizer: null,
      pre_tokenizer: null,
      post_processor: null,
      decoder: null,
      model,
    }),
    'model.safetensors': joinSafetensors(
      { embeddings: { dtype: 'F32', shape: [4, 2], data_offsets: [0, 32] } },
      new Uint8Array(rows.buffer),
    ),
  };
}

const kUnknown = { id: 3, content: '<unk>', single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };

test.each([
  ['is an added token', '<unk>', 0],
  ['is none', null, 1],
] as const)('the unknown token is left out of the mean: it %s', async (_, unk_token, counts) => {
  const [[x, y], [again]] = (await vectorsOf(lettersFolder(unk_token, [kUnknown]), ['ab<unk>', 'ab'])) as [number[], number[]];
  const sum = [3 + 0 + counts * 5, 4 + 1 + counts * 12];
  expect(x).toBeCloseTo(sum[0]! / Math.hypot(...sum), 5);
  expect(y).toBeCloseTo(sum[1]! / Math.hypot(...sum), 5);
  expect(again).toBeCloseTo(3 / Math.hypot(3, 5), 5);
});
