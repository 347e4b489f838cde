import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PeruseError, type PipelineOptions, pipeline } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { peruse } from './cli/run_in_test.js';
import { type Files, joinSafetensors, splitSafetensors, type TensorEntry, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const kSentiment = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny/', import.meta.url));

let root: string;
let folders = 0;
const newFolder = () => join(root, `${++folders}`);
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-quantize-'));
});
afterAll(() => rm(root, { recursive: true }));

async function failure(promise: Promise<unknown>): Promise<PeruseError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(PeruseError);
  return error as PeruseError;
}

async function scores(source: Files | string, options: PipelineOptions = {}) {
  const classify = await pipeline('text-classification', source, { variant: 'simd', ...options });
  try {
    const texts = [1, 7, 20].map((length) => tinyText(Array.from({ length }, (_, i) => (i * 7 + length) % 40)));
    const results = await classify(texts, { top_k: null, function_to_apply: 'none' });
    return { info: classify.info, results };
  } finally {
    await classify.dispose();
  }
}

describe('a q8 checkpoint', () => {
  test.each(['deberta-v2-sequence', 'deberta-v2-sequence-bf16', 'convbert-sequence', 'electra-sequence'])(
    'of %s gives the bits of quantising while loading, and says what it is',
    async (name) => {
      const { files } = await readTiny(name);
      const folder = newFolder();
      const report = await quantizeCheckpoint(files, folder);
      expect(report.quantized).toBeGreaterThan(8);
      const whileLoading = await scores(files, { dtype: 'q8' });
      const onDisk = await scores(folder);
      expect(onDisk.info.dtype).toBe('q8');
      expect(onDisk.results).toEqual(whileLoading.results);
      expect(onDisk.info.weights.weightBytes).toBe(whileLoading.info.weights.weightBytes);
      expect(onDisk.info.weights.extraTensors).toEqual(whileLoading.info.weights.extraTensors);
      expect((await failure(scores(folder, { dtype: 'fp32' }))).code).toBe('unsupported');
    },
  );

  test.each([Number.NaN, Number.NEGATIVE_INFINITY])('is not made of weights with %d', async (value) => {
    const { files } = await readTiny('bert-sequence-f32');
    const { header, body } = splitSafetensors(files['model.safetensors']!);
    const [name, { data_offsets: offsets }] = Object.entries(header).find(([one]) => one.endsWith('layer.0.intermediate.dense.weight'))!;
    const broken = body.slice();
    new DataView(broken.buffer).setFloat32(offsets[0] + 4 * 40, value, true);
    const folder = newFolder();
    const weights = joinSafetensors(header, broken);
    const error = await failure(quantizeCheckpoint({ ...files, 'model.safetensors': weights }, folder));
    expect(error).toMatchObject({ code: 'malformed_file', message: expect.stringContaining(`"${name}" holds NaN or infinity in row 1`) });
    expect(existsSync(folder)).toBe(false);
  });

  test.each(['deberta-v2-sequence', 'deberta-v2-sequence-bf16', 'convbert-sequence', 'electra-sequence'])(
    'of %s with words of 4 bits gives the bits of quantising while loading',
    async (name) => {
      const { files } = await readTiny(name);
      const [folder, large] = [newFolder(), newFolder()];
      const report = await quantizeCheckpoint(files, folder, { dtype: 'q4' });
      const { bytesAfter, quantized } = await quantizeCheckpoint(files, large);
      expect(report.quantized).toBe(quantized);
      expect(report.bytesAfter).toBeLessThan(bytesAfter);
      const stored = await scores(folder);
      expect(stored.info.dtype).toBe('q4');
      expect(stored.results).toEqual((await scores(files, { dtype: 'q4' })).results);
      const other = await failure(scores(folder, { dtype: 'q8' }));
      expect(other).toMatchObject({ code: 'unsupported', message: expect.stringContaining('which only dtype q4 reads for words') });
      expect((await failure(quantizeCheckpoint(files, newFolder(), { dtype: 'q2' as 'q4' }))).code).toBe('invalid_argument');
    },
  );

  test('of a masked LM rounds the words that its decoder shares', async () => {
    const { files: tiny } = await readTiny('bert-masked-lm');
    const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));
    const tokenizer = JSON.parse(new TextDecoder().decode(tiny['tokenizer.json'])) as { added_tokens: object[] };
    tokenizer.added_tokens = [{ id: 7, content: 't7', special: true, single_word: true, lstrip: false, rstrip: false, normalized: false }];
    const files = { ...tiny, 'tokenizer.json': encode(tokenizer), 'tokenizer_config.json': encode({ mask_token: 't7' }) };
    const folder = newFolder();
    await quantizeCheckpoint(files, folder, { dtype: 'q4' });
    const answers = async (source: Files | string, options: PipelineOptions = {}) => {
      const fill = await pipeline('fill-mask', source, { variant: 'simd', ...options });
      try {
        return await fill('t1 t2 t7 t3');
      } finally {
        await fill.dispose();
      }
    };
    expect(await answers(folder)).toEqual(await answers(files, { dtype: 'q4' }));
  });

  test('can be made of every GLiClass', async () => {
    const folders = join(kFixtures, 'gliclass');
    for (const name of await readdir(folders)) {
      const files: string[] = await readdir(join(folders, name)).catch(() => []);
      if (!files.includes('config.json')) continue;
      expect((await quantizeCheckpoint(join(folders, name), newFolder())).quantized, name).toBeGreaterThan(6);
    }
  });

  test('of an architecture that Peruse lacks is refused', async () => {
    const { files } = await readTiny('bert-sequence-f32');
    const config = new TextEncoder().encode(JSON.stringify({ model_type: 'gpt2' }));
    const error = await failure(quantizeCheckpoint({ ...files, 'config.json': config }, newFolder()));
    expect(error).toMatchObject({ code: 'unsupported', message: expect.stringContaining('"gpt2" is not supported') });
  });

  test("is written by the command, a quarter of the linear layers' size", async () => {
    const folder = newFolder();
    const { code, lines, err } = await peruse(['quantize', kSentiment, folder]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(lines[0]).toMatchObject({ folder, quantized: expect.any(Number) });
    expect(await readdir(folder)).toEqual(expect.arrayContaining(['config.json', 'model.safetensors', 'tokenizer.json']));
    const {
      code: loaded,
      lines: [result],
    } = await peruse(['classify', folder, 'A waste of two hours.']);
    expect({ loaded, label: result.label }).toEqual({ loaded: 0, label: 'NEGATIVE' });

    const small = newFolder();
    expect((await peruse(['quantize', kSentiment, small, '--dtype', 'q4'])).code).toBe(0);
    const [q4, q8] = await Promise.all([small, folder].map(async (one) => (await stat(join(one, 'model.safetensors'))).size));
    expect(q4).toBeLessThan(q8!);
    const { lines: answers } = await peruse(['classify', small, 'A waste of two hours.']);
    expect(answers[0].label).toBe('NEGATIVE');
    const wrong = await peruse(['quantize', kSentiment, newFolder(), '--dtype', 'fp16']);
    expect({ code: wrong.code, says: wrong.err.includes('--dtype is q8 or q4, not fp16') }).toEqual({ code: 2, says: true });
  });

  test('of shards keeps the shards', async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    const { header, body } = splitSafetensors(files['model.safetensors']!);
    const entries = Object.entries(header).filter(([name]) => name !== '__metadata__');
    const shard = (parity: number) => {
      const parts: Uint8Array[] = [];
      let at = 0;
      const own: Record<string, TensorEntry> = {};
      entries.forEach(([name, entry], i) => {
        if (i % 2 !== parity) return;
        const bytes = body.subarray(...entry.data_offsets);
        own[name] = { ...entry, data_offsets: [at, at + bytes.length] };
        at += bytes.length;
        parts.push(bytes);
      });
      return joinSafetensors(own, Buffer.concat(parts));
    };
    const map = Object.fromEntries(entries.map(([name], i) => [name, `part-${i % 2}.safetensors`]));
    const { 'model.safetensors': _, ...rest } = files;
    const sharded: Files = {
      ...rest,
      'part-0.safetensors': shard(0),
      'part-1.safetensors': shard(1),
      'model.safetensors.index.json': new TextEncoder().encode(JSON.stringify({ weight_map: map })),
    };
    const [whole, parts] = [newFolder(), newFolder()];
    await quantizeCheckpoint(files, whole);
    await quantizeCheckpoint(sharded, parts);
    const index = JSON.parse(await readFile(join(parts, 'model.safetensors.index.json'), 'utf8')) as { weight_map: Record<string, string> };
    const single = splitSafetensors(new Uint8Array(await readFile(join(whole, 'model.safetensors'))));
    expect(Object.keys(index.weight_map).sort()).toEqual(
      Object.keys(single.header)
        .filter((name) => name !== '__metadata__')
        .sort(),
    );
    for (const [name, file] of Object.entries(index.weight_map)) {
      const part = splitSafetensors(new Uint8Array(await readFile(join(parts, file))));
      expect(part.body.subarray(...part.header[name]!.data_offsets), name).toEqual(
        single.body.subarray(...single.header[name]!.data_offsets),
      );
    }
  });
});

describe('refused, and nothing is left behind', () => {
  test('a truncated or broken file', async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    const weights = files['model.safetensors']!;
    const folder = newFolder();
    const tryWith = (bytes: Uint8Array) => failure(quantizeCheckpoint({ ...files, 'model.safetensors': bytes }, folder));
    expect((await tryWith(weights.subarray(0, weights.length - 1))).code).toBe('truncated_file');
    expect((await tryWith(weights.subarray(0, 100))).code).toBe('truncated_file');
    expect((await tryWith(Buffer.concat([weights, Buffer.of(0)]))).code).toBe('malformed_file');
    expect((await tryWith(joinSafetensors('{"a": 1', new Uint8Array(0)))).code).toBe('malformed_file');
    expect((await tryWith(joinSafetensors({ a: { dtype: 'F32', shape: [1], data_offsets: [4, 8] } }, new Uint8Array(8)))).code).toBe(
      'malformed_file',
    );
    expect(
      (
        await tryWith(
          joinSafetensors({ 'x.encoder.layer.0.a.weight': { dtype: 'F32', shape: [2, 2], data_offsets: [0, 8] } }, new Uint8Array(8)),
        )
      ).code,
    ).toBe('malformed_file');
    expect((await tryWith(new Uint8Array(8).fill(255))).code).toBe('malformed_file');
    expect(existsSync(folder)).toBe(false);
  });

  test('a checkpoint that another tool has quantised, and one without weights', async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    const config = { ...JSON.parse(new TextDecoder().decode(files['config.json'])), quantization_config: { quant_method: 'gptq' } };
    const again = await failure(
      quantizeCheckpoint({ ...files, 'config.json': new TextEncoder().encode(JSON.stringify(config)) }, newFolder()),
    );
    expect(again).toMatchObject({ code: 'unsupported', message: expect.stringContaining('quantised already') });
    const { 'model.safetensors': _, ...rest } = files;
    expect((await failure(quantizeCheckpoint(rest, newFolder()))).code).toBe('not_found');
  });

  test('a folder in place of itself', async () => {
    const folder = newFolder();
    const { files } = await readTiny('deberta-v2-sequence');
    await quantizeCheckpoint(files, folder);
    await writeFile(join(folder, 'config.json'), files['config.json']!);
    const before = await readFile(join(folder, 'model.safetensors'));
    expect((await failure(quantizeCheckpoint(folder, join(folder, '.')))).code).toBe('invalid_argument');
    expect(await readFile(join(folder, 'model.safetensors'))).toEqual(before);
  });

  test('a folder that nobody can make', async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    for (const folder of ['/proc/peruse', '/dev/null/peruse']) {
      const failed = await failure(quantizeCheckpoint(files, folder));
      expect(failed).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(`can't be written to ${folder}`) });
    }
  });

  test('a call that is cancelled', async () => {
    const { files } = await readTiny('deberta-v2-sequence');
    const folder = newFolder();
    const stop = new AbortController();
    const options = { signal: stop.signal, progress_callback: () => stop.abort() };
    expect((await failure(quantizeCheckpoint(files, folder, options))).code).toBe('aborted');
    expect(existsSync(folder)).toBe(false);
  });
});
