// ONNX files: their parameters equal the exported checkpoint's, and answers equal onnxruntime's (tests/reference/make_onnx_fixtures.py).
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describe as describeModel, PeruseError, type PipelineOptions, pipeline } from '../../web/dist/index_node.js';
import { openOnnx } from '../../web/dist/onnx/onnx_weights.js';
import { convertCheckpoint, quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { peruse } from './cli/run_in_test.js';
import { startModelServer } from './support/model_server.js';
import { onnxFiles, onnxRepository, readExpected } from './support/onnx_files.js';
import { field, hostileFiles, message, modelOf, nodeOf, tensorOf } from './support/onnx_messages.js';
import { type Files, splitSafetensors, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const { ids, files: expected } = await readExpected();
const kNames = Object.keys(expected).filter((name) => /-sequence\//.test(name));

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'peruse-onnx-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));
const newFolder = () => mkdtemp(join(root, 'm-'));

async function opened(content: Uint8Array | Files, modelType = 'bert', name = 'model.onnx') {
  const files = content instanceof Uint8Array ? { [name]: content } : content;
  const folder = {
    open: async (file: string) => {
      const bytes = files[file];
      if (!bytes) return { found: false, where: file, why: 'there is no such file' } as const;
      const chunks = async function* () {
        for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
      };
      return { found: true, where: file, size: bytes.length, chunks, close: async () => {} } as const;
    },
  };
  const weights = await openOnnx({ folder, name, modelType, tied: true, signal: new AbortController().signal, report: () => {} });
  const parts: Uint8Array[] = [];
  for await (const chunk of weights.chunks()) parts.push(chunk.slice());
  const bytes = new Uint8Array(Buffer.concat(parts));
  expect(bytes.length).toBe(weights.size);
  return { bytes, conflicts: weights.conflicts, changes: weights.changes };
}

function tensorsOf(file: Uint8Array): Map<string, { shape: number[]; values: Float32Array }> {
  const { header, body } = splitSafetensors(file);
  const tensors = new Map<string, { shape: number[]; values: Float32Array }>();
  for (const [name, { dtype, shape, data_offsets: offsets }] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const bytes = body.slice(...offsets);
    tensors.set(name, { shape, values: dtype === 'F32' ? new Float32Array(bytes.buffer) : halves(new Uint16Array(bytes.buffer)) });
  }
  return tensors;
}

function halves(bits: Uint16Array): Float32Array {
  const value = (half: number) => {
    const [sign, exponent, fraction] = [half & 0x8000 ? -1 : 1, (half >> 10) & 31, half & 1023];
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25));
  };
  return Float32Array.from(bits, value);
}

describe('parameters', () => {
  const floats = ['model', 'opset14', 'dynamo', 'external', 'model_fp16'];
  test.each(kNames.filter((name) => floats.some((one) => name.endsWith(`/${one}.onnx`))))(
    '%s has those of the checkpoint',
    async (name) => {
      const [folder, file] = name.split('/') as [string, string];
      const { files } = await readTiny(folder);
      const { model_type: modelType } = JSON.parse(new TextDecoder().decode(files['config.json'])) as { model_type: string };
      const { bytes, conflicts } = await opened(await onnxFiles(name), modelType, file);
      const found = tensorsOf(bytes);
      expect(conflicts).toEqual([]);
      for (const [tensor, { shape, values }] of tensorsOf(files['model.safetensors']!)) {
        const own = found.get(tensor);
        expect(own?.shape, tensor).toEqual(shape);
        expect(
          own!.values.every((value, index) => value === values[index]),
          tensor,
        ).toBe(true);
      }
    },
  );

  test.each(['nomic_bert', 'gte'])(
    'those of %s have no names that the checkpoint lacks: no constants of positions, no biases',
    async (type) => {
      const folder = `${type.replace('_', '-')}-sequence`;
      const { files } = await readTiny(folder);
      const { bytes } = await opened(await onnxFiles(`${folder}/dynamo.onnx`), type, 'dynamo.onnx');
      expect([...tensorsOf(bytes).keys()].sort()).toEqual([...tensorsOf(files['model.safetensors']!).keys()].sort());
    },
  );

  const fours = kNames.filter((name) => expected[name]!.weights);
  test.each(fours)("%s has onnxruntime's weights of 4 bits", async (name) => {
    const { bytes } = await opened(await onnxFiles(name), 'bert', name.split('/')[1]!);
    const found = tensorsOf(bytes);
    const weights = Object.entries(expected[name]!.weights!);
    expect(weights.length).toBe(6);
    for (const [tensor, values] of weights) {
      const own = found.get(tensor)!.values;
      values.forEach((value, index) => {
        expect(Math.abs(own[index]! - value), `${tensor} ${index}`).toBeLessThan(2e-6);
      });
    }
  });

  test('the script that pages load reads them too', async () => {
    await import('../../web/bundle/peruse-onnx.js' as string);
    const part = (globalThis as unknown as Record<symbol, { openOnnx: typeof openOnnx }>)[Symbol.for('peruse.onnx')]!;
    const content = (await onnxFiles('bert-sequence/model.onnx'))['model.onnx']!;
    const file = {
      found: true,
      where: 'm',
      size: 0,
      chunks: async function* () {
        yield content;
      },
      close: async () => {},
    } as const;
    const request = {
      folder: { open: async () => file },
      name: 'm',
      modelType: 'bert',
      tied: true,
      signal: new AbortController().signal,
      report: () => {},
    };
    expect(await part.openOnnx(request)).toMatchObject({ size: (await openOnnx(request)).size, quantized: false, conflicts: [] });
  });

  test('a product of one layer, byte by byte', async () => {
    const hex =
      '08081201703a740a1e0a01780a01771201791a0b2f612f622f4d61744d756c22064d61744d756c1201672a230802080310014201774a180000803f0000004000004040000080400000a0400000c0405a140a0178120f0a0d080112090a0312016e0a02080262140a0179120f0a0d080112090a0312016e0a02080342040a001012';
    const { bytes } = await opened(new Uint8Array(Buffer.from(hex, 'hex')));
    const found = tensorsOf(bytes).get('a.b.weight')!;
    expect(found.shape).toEqual([3, 2]);
    expect([...found.values]).toEqual([1, 4, 2, 5, 3, 6]);
  });
});

async function logits(source: Files, options: PipelineOptions = {}): Promise<{ scores: number[]; file: string; dtype: string }> {
  const classify = await pipeline('text-classification', source, { worker: false, ...options });
  try {
    const labels = (await classify(tinyText(ids), { top_k: null, function_to_apply: 'none' })) as { label: string; score: number }[];
    labels.sort((a, b) => a.label.localeCompare(b.label));
    return { scores: labels.map(({ score }) => score), file: classify.info.weights.file, dtype: classify.info.dtype };
  } finally {
    await classify.dispose();
  }
}

describe('answers', () => {
  // Peruse also quantises activations, by row, so q8 answers differ slightly.
  test.each(kNames.filter((name) => !/dynamo|external/.test(name) || name.endsWith('quantized_unslimmed.onnx')))('%s', async (name) => {
    const dtype = /quant|int8/.test(name) ? 'q8' : 'fp32';
    const as = dtype === 'q8' ? 'model_quantized.onnx' : 'model.onnx';
    const { scores, file } = await logits(await onnxRepository(name, as), { weights: 'onnx', dtype });
    expect(file).toBe(`onnx/${as}`);
    const tolerance = dtype === 'q8' ? 0.05 : name.includes('fp16') ? 5e-3 : 2e-4;
    scores.forEach((score, index) => {
      expect(Math.abs(score - expected[name]!.logits[index]!), `${scores} ${expected[name]!.logits}`).toBeLessThan(tolerance);
    });
  });

  test('without safetensors the quantised file is loaded, in its own integers', async () => {
    const files = await onnxRepository('bert-sequence/model_quantized.onnx', 'model_quantized.onnx');
    const both = { ...files, ...(await onnxRepository('bert-sequence/model.onnx')) };
    const auto = await logits(both);
    expect(auto).toMatchObject({ file: 'onnx/model_quantized.onnx', dtype: 'q8' });
    expect((await logits(both, { dtype: 'fp32' })).file).toBe('onnx/model.onnx');
    expect((await logits(both, { dtype: 'q8' })).scores).toEqual(auto.scores);
  });

  test('auto prefers safetensors, unless the requested ONNX file is smaller', async () => {
    const { files } = await readTiny('bert-sequence');
    const tail = new Uint8Array(400_000); // makes the safetensors file larger than the ONNX file
    const both = { ...files, ...(await onnxRepository('bert-sequence/model_quantized.onnx', 'model_quantized.onnx')) };
    expect((await logits(both)).file).toBe('model.safetensors');
    expect((await logits({ ...both, 'model.safetensors': tail }, { dtype: 'q8' })).file).toBe('onnx/model_quantized.onnx');
    expect((await logits(both, { dtype: 'q8', weights: 'safetensors' })).file).toBe('model.safetensors');
  });

  test('auto prefers safetensors of families whose ONNX files are not read, and describe() lists no ONNX file', async () => {
    const { files } = await readTiny('eurobert-sequence');
    const both: Files = { ...files, 'onnx/model_quantized.onnx': new Uint8Array(1000) };
    expect(await logits(both, { dtype: 'q8' })).toMatchObject({ file: 'model.safetensors', dtype: 'q8' });
    const found = await describeModel(both);
    expect(found.downloads.map(({ dtype, weights }) => `${weights} ${dtype}`)).toEqual(
      ['fp32', 'fp16', 'q8', 'q4'].map((dtype) => `safetensors ${dtype}`),
    );
    const { 'model.safetensors': _, ...only } = both;
    const { downloads, refused } = await describeModel(only);
    expect(downloads).toEqual([]);
    const message = 'ONNX files of models of type "eurobert" are not read; use model.safetensors';
    expect(refused['text-classification']).toEqual({ code: 'unsupported', message });
  });

  test.each(['fp16', 'q8', 'q4'] as const)('%s is made from the only file, model.onnx', async (dtype) => {
    const only = await onnxRepository('bert-sequence/model.onnx');
    const found = await logits(only, { dtype });
    expect(found).toMatchObject({ file: 'onnx/model.onnx', dtype });
    const { files } = await readTiny('bert-sequence');
    expect(found.scores).toEqual((await logits(files, { dtype, weights: 'safetensors' })).scores);
    expect(await logits(only, { dtype, weights: 'onnx' })).toEqual(found);
    const { downloads } = await describeModel(only);
    expect(downloads.map((one) => `${one.weights} ${one.dtype} ${one.file}`).sort()).toEqual(
      ['fp16', 'fp32', 'q4', 'q8'].map((one) => `onnx ${one} onnx/model.onnx`),
    );
    const half = await onnxRepository('bert-sequence/model_fp16.onnx', 'model_fp16.onnx');
    expect(await logits(half, { dtype })).toMatchObject({ file: 'onnx/model_fp16.onnx', dtype });
    await expect(logits(half, { dtype: 'fp32' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(convertCheckpoint(only, join(root, 'not-exact'), { weights: 'onnx', dtype: 'q8' })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('subfolder and model_file_name', async () => {
    const files = await onnxRepository('bert-sequence/model.onnx', 'encoder_int8.onnx');
    const moved = Object.fromEntries(Object.entries(files).map(([name, content]) => [name.replace(/^onnx\//, ''), content]));
    const options = { subfolder: '', model_file_name: 'encoder', dtype: 'int8' } as const;
    expect((await logits(moved, options)).file).toBe('encoder_int8.onnx');
  });

  test('external data are read, and named where they are missing', async () => {
    const files = await onnxRepository('bert-sequence/external.onnx');
    const [data] = Object.keys(files).filter((name) => name.endsWith('.onnx_data'));
    const named = { ...files, 'onnx/external.onnx': files['onnx/model.onnx']!, 'onnx/external.onnx_data': files[data!]! };
    const options = { weights: 'onnx', dtype: 'fp32', model_file_name: 'external' } as const;
    const { scores } = await logits(named, options);
    expect(scores[0]!).toBeCloseTo(expected['bert-sequence/external.onnx']!.logits[0]!, 4);
    const { 'onnx/external.onnx_data': _, ...without } = named;
    await expect(logits(without, options)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('its weights are in external.onnx_data, which is not in the same folder'),
    });
  });

  test('a file whose transfer is not stored is opened once', async () => {
    const values = new Uint8Array(Float32Array.from({ length: 90_000 }, (_, i) => i).buffer);
    const table = field(5, message(field(1, 300), field(1, 300), field(2, 1), field(8, 'w'), field(9, values)));
    const bytes = modelOf(nodeOf('MatMul', ['x', 'w']), table);
    const read = async (transfers: boolean) => {
      let opens = 0;
      const chunks = async function* () {
        const reused = new Uint8Array(1000); // A chunk is valid until the next one.
        for (let at = 0; at < bytes.length; at += 1000) {
          const part = bytes.subarray(at, at + 1000);
          reused.set(part);
          yield reused.subarray(0, part.length);
        }
      };
      const folder = {
        open: async (where: string) => {
          opens += 1;
          return { found: true, where, size: bytes.length, transfers, chunks, close: async () => {} } as const;
        },
      };
      const request = { folder, name: 'model.onnx', modelType: 'bert', tied: true, signal: new AbortController().signal, report: () => {} };
      const parts: Uint8Array[] = [];
      for await (const chunk of (await openOnnx(request)).chunks()) parts.push(chunk.slice());
      return { opens, weights: Buffer.concat(parts) };
    };
    const [once, twice] = [await read(true), await read(false)];
    expect([once.opens, twice.opens]).toEqual([1, 2]);
    expect(once.weights.equals(twice.weights)).toBe(true);
  });

  test('from a server', async () => {
    const files = await onnxRepository('bert-sequence/model_quantized.onnx', 'model_quantized.onnx');
    const server = await startModelServer(files);
    try {
      const steps: string[] = [];
      const classify = await pipeline('text-classification', server.url, {
        progress_callback: (progress) => {
          if (progress.status === 'done') steps.push(progress.file);
        },
      });
      expect(classify.info.weights.file).toBe('onnx/model_quantized.onnx');
      expect(classify.info.worker).toBe(true);
      expect(steps).toContain('onnx/model_quantized.onnx');
      expect(steps).toEqual([...new Set(steps)]); // no file is read twice
      await classify.dispose();
    } finally {
      await server.close();
    }
  });
});

/** Folded tables whose product is not recognised, because an operator on the way to it is unknown. */
async function withoutTables(): Promise<Files> {
  const files = await onnxRepository('deberta-v2-sequence/slim.onnx');
  const text = Buffer.from(files['onnx/model.onnx']!).toString('latin1').replaceAll('\x04Tile', '\x04Tale');
  return { ...files, 'onnx/model.onnx': new Uint8Array(Buffer.from(text, 'latin1')) };
}

describe('refusals', () => {
  test('a file whose parameters have no names', async () => {
    const files = await withoutTables();
    await expect(logits(files, { weights: 'onnx', dtype: 'fp32' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(
        /^onnx\/model\.onnx: parameters .* have no name in this file: .*rel_embeddings.* folded .* into tables; use model/,
      ),
    });
  });

  test.each([
    ['version https://git-lfs', /is a pointer of Git LFS/],
    ['<!DOCTYPE html>', /is an HTML page/],
    ['{}', /is JSON/],
    ['PK', /is no ONNX file/],
  ])('%s', async (text, message) => {
    await expect(opened(new TextEncoder().encode(text))).rejects.toMatchObject({
      code: 'malformed_file',
      message: expect.stringMatching(message),
    });
  });

  test('a family whose files were never compared', async () => {
    const content = (await onnxFiles('bert-sequence/model.onnx'))['model.onnx']!;
    await expect(opened(content, 'eurobert')).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('"eurobert"'),
    });
  });

  test('options that make no sense', async () => {
    const files = await onnxRepository('bert-sequence/model.onnx');
    for (const [options, message] of [
      [{ weights: 'tf' }, /weights must be/],
      [{ subfolder: '../secret' }, /subfolder must be/],
      [{ model_file_name: '' }, /model_file_name must be/],
      [{ weights: 'safetensors', dtype: 'q4f16' }, /exists only as an ONNX file/],
      [{ dtype: 'q4f16' }, /model_q4f16\.onnx/],
    ] as [PipelineOptions, RegExp][]) {
      await expect(logits(files, options)).rejects.toThrow(message);
    }
  });

  test.each(hostileFiles())('a hostile file: %s', async (_, content, message) => {
    const error = await opened(content).then(
      () => undefined,
      (reason: unknown) => reason as PeruseError,
    );
    expect(error).toBeInstanceOf(PeruseError);
    expect(error!.message).toMatch(message);
    expect(error!.message.length).toBeLessThan(400);
    expect(['malformed_file', 'truncated_file', 'unsupported']).toContain(error!.code);
  });

  test('a list of a million numbers is not read', async () => {
    const list = field(5, message(field(1, 'axes'), field(8, new Uint8Array(1_000_000))));
    const { bytes } = await opened(modelOf(nodeOf('MatMul', ['x', 'w'], list), tensorOf('w', [2, 2], 16)));
    expect(tensorsOf(bytes).get('a.b.weight')?.shape).toEqual([2, 2]);
  });

  test('damaged files give one typed error, or the parameters', async () => {
    const whole = (await onnxFiles('bert-sequence/model_quantized.onnx'))['model_quantized.onnx']!;
    let seed = 1;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed % below;
    };
    const codes = new Map<string, number>();
    for (let round = 0; round < 150; ++round) {
      const damaged = round % 3 === 0 ? whole.slice(0, random(whole.length)) : whole.slice();
      for (let flips = round % 5; flips > 0; --flips) damaged[random(round % 2 ? 20_000 : damaged.length)] = random(256);
      const code = await opened(damaged).then(
        () => 'read',
        (error: unknown) => (error instanceof PeruseError ? error.code : String((error as Error).stack)),
      );
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect([...codes.keys()].filter((code) => !['read', 'malformed_file', 'truncated_file', 'unsupported'].includes(code))).toEqual([]);
    expect(codes.get('truncated_file')).toBeGreaterThan(10);
  });
});

describe('convert', () => {
  async function onDisk(files: Files): Promise<string> {
    const folder = await newFolder();
    await mkdir(join(folder, 'onnx'));
    for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content);
    return folder;
  }
  async function converted(folder: string): Promise<Files> {
    const names = await readdir(folder);
    return Object.fromEntries(await Promise.all(names.map(async (name) => [name, new Uint8Array(await readFile(join(folder, name)))])));
  }

  test('floats are those of the checkpoint, and so are the answers', async () => {
    const source = await onDisk(await onnxRepository('bert-sequence/model.onnx'));
    const target = join(await newFolder(), 'out');
    const report = await convertCheckpoint(source, target);
    expect(report.file).toBe('onnx/model.onnx');
    const files = await converted(target);
    expect(Object.keys(files).sort()).toEqual(['config.json', 'model.safetensors', 'tokenizer.json']);
    expect(report.tensors).toBe(tensorsOf(files['model.safetensors']!).size);
    const original = (await readTiny('bert-sequence')).files;
    expect((await logits(files)).scores).toEqual((await logits(original)).scores);
  });

  test('rows of 8-bit integers stay; the command names the file', async () => {
    const model = await onnxRepository('bert-sequence/model_quantized.onnx', 'model_quantized.onnx');
    const source = await onDisk({ ...model, ...(await onnxRepository('bert-sequence/model.onnx')) });
    const target = join(await newFolder(), 'out');
    const { out, err } = await peruse(['convert', source, target, '--weights', 'onnx', '--dtype', 'q8']);
    expect(err).toBe('');
    expect(JSON.parse(out)).toMatchObject({ folder: target, file: 'onnx/model_quantized.onnx' });
    const files = await converted(target);
    const config = JSON.parse(new TextDecoder().decode(files['config.json'])) as { quantization_config?: object };
    expect(config.quantization_config).toMatchObject({ quant_method: 'peruse-q8' });
    const { header } = splitSafetensors(files['model.safetensors']!);
    expect(header['bert.encoder.layer.0.attention.self.query.weight']).toMatchObject({ dtype: 'I8' });
    expect(await logits(files)).toMatchObject({ scores: (await logits(model)).scores, dtype: 'q8' });
  });

  test('groups of 4 bits stay, with the bits of loading them directly', async () => {
    const model = await onnxRepository('bert-sequence/model_q4.onnx', 'model_q4.onnx');
    const target = join(await newFolder(), 'out');
    expect(await convertCheckpoint(await onDisk(model), target)).toMatchObject({ file: 'onnx/model_q4.onnx' });
    const files = await converted(target);
    const { header } = splitSafetensors(files['model.safetensors']!);
    const name = 'bert.encoder.layer.0.attention.self.query.weight';
    expect([header[name]?.dtype, header[`${name}_scale`]?.dtype]).toEqual(['U8', 'F32']);
    expect(header['bert.embeddings.word_embeddings.weight']?.dtype).toMatch(/^F/);
    const direct = await logits(model, { dtype: 'q4' });
    expect(direct.dtype).toBe('q8');
    expect(await logits(files)).toMatchObject({ scores: direct.scores, dtype: 'q8' });
  });

  test.each(['deberta-v2-sequence/slim.onnx', 'deberta-v2-conv/model_quantized.onnx'])('tables of positions of %s', async (name) => {
    const model = await onnxRepository(name);
    const target = join(await newFolder(), 'out');
    await convertCheckpoint(await onDisk(model), target, { dtype: 'fp32' });
    const files = await converted(target);
    expect(JSON.parse(new TextDecoder().decode(files['config.json']))).toMatchObject({ peruse_position_tables: true });
    const { header } = splitSafetensors(files['model.safetensors']!);
    for (const table of ['position_keys', 'position_queries']) {
      expect(header[`deberta.encoder.layer.1.attention.self.${table}`]).toMatchObject({ dtype: 'F32', shape: [16, 32] });
    }
    expect((await logits(files)).scores).toEqual((await logits(model, { dtype: 'fp32' })).scores);
  });

  test('a file without the head that config.json names is refused', async () => {
    const model = await onnxRepository('bert-sequence/model.onnx');
    const config = { ...JSON.parse(new TextDecoder().decode(model['config.json'])), architectures: ['BertForQuestionAnswering'] };
    const source = await onDisk({ ...model, 'config.json': new TextEncoder().encode(JSON.stringify(config)) });
    await expect(convertCheckpoint(source, join(await newFolder(), 'out'))).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/no name in this file: .*qa_outputs\.weight/),
    });
  });

  test('safetensors are read where they exist, unless ONNX is requested', async () => {
    const { files } = await readTiny('bert-sequence');
    const source = await onDisk({ ...files, ...(await onnxRepository('bert-sequence/model.onnx')) });
    expect(await convertCheckpoint(source, join(await newFolder(), 'out'))).toMatchObject({ file: 'model.safetensors' });
    const options = { weights: 'onnx', dtype: 'fp32' } as const;
    expect(await convertCheckpoint(source, join(await newFolder(), 'out'), options)).toMatchObject({ file: 'onnx/model.onnx' });
  });

  test('a file that does not name every parameter is refused, and nothing is written', async () => {
    const source = await onDisk(await withoutTables());
    const target = join(await newFolder(), 'out');
    await expect(convertCheckpoint(source, target)).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(
        /^onnx\/model\.onnx: parameters .* have no name in this file: .*rel_embeddings.* folded .* into tables; use model/,
      ),
    });
    expect(existsSync(target)).toBe(false);
    await expect(convertCheckpoint(source, target, { subfolder: '..' })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(quantizeCheckpoint(source, target)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining("there is onnx/model.onnx (ONNX, which weights: 'onnx' and peruse convert read)"),
    });
  });
});
