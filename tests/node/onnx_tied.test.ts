// Masked LMs in ONNX files that store the token embeddings and the decoder they are tied to as two matrices.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type PeruseError, pipeline } from '../../web/dist/index_node.js';
import { openOnnx } from '../../web/dist/onnx/onnx_weights.js';
import { convertCheckpoint } from '../../web/dist/quantize/quantize.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { onnxRepository, readExpected } from './support/onnx_files.js';
import { field, floatsOf, message, modelOf, nodeOfModule, tensorOf } from './support/onnx_messages.js';
import { type Files, readTensors, splitSafetensors, tinyText } from './support/tiny.js';

const kWords = 'bert.embeddings.word_embeddings.weight';
const kDecoder = 'cls.predictions.decoder.weight';

async function written(bytes: Uint8Array, { modelType = 'bert', tied = true } = {}) {
  const chunks = async function* () {
    for (let at = 0; at < bytes.length; at += 999) yield bytes.subarray(at, at + 999);
  };
  const file = { found: true, where: 'model.onnx', size: bytes.length, chunks, close: async () => {} } as const;
  const request = {
    folder: { open: async () => file },
    name: 'model.onnx',
    modelType,
    tied,
    signal: new AbortController().signal,
    report: () => {},
  };
  const weights = await openOnnx(request);
  const parts: Uint8Array[] = [];
  for await (const chunk of weights.chunks()) parts.push(chunk.slice());
  return { file: new Uint8Array(Buffer.concat(parts)), changes: weights.changes, conflicts: weights.conflicts };
}

async function opened(bytes: Uint8Array, how = {}) {
  const { file, ...found } = await written(bytes, how);
  const { __metadata__: _, ...header } = splitSafetensors(file).header;
  return { names: Object.keys(header).sort(), ...found };
}

/** Token embeddings, and a decoder with their transpose, in which `change` adds to one value. */
function maskedLm(rows: number, width: number, { change = 0, decoder = 'cls.predictions.decoder' } = {}): Uint8Array {
  const table = Float32Array.from({ length: rows * width }, (_, i) => Math.sin(i));
  const turned = Float32Array.from({ length: rows * width }, (_, i) => table[(i % rows) * width + Math.floor(i / rows)]!);
  turned[rows + 1]! += change;
  return modelOf(
    nodeOfModule('Gather', 'bert.embeddings.word_embeddings', [kWords, 'ids'], 'x'),
    nodeOfModule('MatMul', decoder, ['x', 'onnx::MatMul_9'], 'y'),
    floatsOf(kWords, [rows, width], table),
    floatsOf('onnx::MatMul_9', [width, rows], turned),
  );
}

const refusal = (bytes: Uint8Array, how = {}) =>
  opened(bytes, how).then(
    () => 'is read',
    (error: PeruseError) => [error.code, error.message],
  );

describe('two float matrices', () => {
  // Those of 120 KB stay in the file, and only hashes of them are compared.
  test.each([
    [5, 3],
    [300, 100],
  ])('[%i, %i]: equal ones are one parameter, others are refused', async (rows, width) => {
    expect(await opened(maskedLm(rows, width))).toEqual({ names: [kWords], changes: {}, conflicts: [] });
    expect(await refusal(maskedLm(rows, width, { change: 1e-6 }))).toEqual([
      'unsupported',
      `model.onnx: two tensors claim ${kWords}: ${kWords} and onnx::MatMul_9.`,
    ]);
  });

  test('are two parameters if config.json does not tie them', async () => {
    const both = { names: [kWords, kDecoder], changes: {}, conflicts: [] };
    expect(await opened(maskedLm(5, 3, { change: 1 }), { tied: false })).toEqual(both);
  });
});

test('a bias that a tool has joined with an equal one of another layer, and fused with an activation, is that of both', async () => {
  const [first, second] = ['output', 'intermediate'].map((part) => `bert.encoder.layer.0.${part}.dense`) as [string, string];
  const bias = Float32Array.from([1, 2]);
  const { file, conflicts } = await written(
    modelOf(
      nodeOfModule('MatMul', first, ['x', 'onnx::MatMul_1'], 'a'),
      nodeOfModule('Add', first, ['a', `${second}.bias`], 'b'),
      nodeOfModule('MatMul', second, ['b', 'onnx::MatMul_2'], 'c'),
      field(1, message(field(1, 'c'), field(1, `${second}.bias`), field(2, 'y'), field(3, 'BiasGelu_0'), field(4, 'BiasGelu'))),
      floatsOf('onnx::MatMul_1', [2, 2], Float32Array.from([1, 2, 3, 4])),
      floatsOf('onnx::MatMul_2', [2, 2], Float32Array.from([5, 6, 7, 8])),
      floatsOf(`${second}.bias`, [2], bias),
    ),
  );
  expect(conflicts).toEqual([]);
  const found = readTensors(file);
  for (const name of [first, second]) expect(found.get(`${name}.bias`), name).toEqual(bias);
});

function withIntegerDecoder(decoder: string): Uint8Array {
  return message(
    modelOf(
      nodeOfModule('Gather', 'bert.embeddings.word_embeddings', [kWords, 'ids'], 'x'),
      nodeOfModule('MatMulInteger', decoder, ['x', 'd_quantized'], 'y'),
      floatsOf(kWords, [5, 3], new Float32Array(15)),
      tensorOf('d_scale', [5], 20),
      tensorOf('d_quantized', [3, 5], 15, 3),
    ),
  );
}

describe('a float table and a decoder of integers', () => {
  test('are two parameters, and config.json no longer ties them', async () => {
    const found = await opened(withIntegerDecoder('cls.predictions.decoder'));
    expect(found).toEqual({ names: [kWords, kDecoder], changes: { tie_word_embeddings: false }, conflicts: [] });
  });

  test("are refused in DeBERTa's original head, which has no decoder of its own", async () => {
    const found = await opened(withIntegerDecoder('lm_predictions.lm_head'), { modelType: 'deberta-v2' });
    expect(found.conflicts).toEqual([`two tensors claim ${kWords}: ${kWords} and d_quantized`]);
    expect(found.names).not.toContain(kWords);
  });
});

/** Logits of every token. Their results with float activations are those of onnxruntime (onnx_files.test.ts). */
async function logitsOf(source: Files | string, dtype: 'auto' | 'fp32' | 'q8'): Promise<number[]> {
  const { ids } = await readExpected();
  const fill = await pipeline('fill-mask', source, { worker: false, dtype });
  try {
    return [...(await fill.inspect(tinyText(ids), { output_logits: true })).logits!.data];
  } finally {
    await fill.dispose();
  }
}

describe('an 8-bit file', () => {
  test('is converted with both matrices, and shrunk', async () => {
    const model = await onnxRepository('bert-masked-lm/model_quantized.onnx', 'model_quantized.onnx');
    const direct = await logitsOf(model, 'q8');
    const root = await mkdtemp(join(tmpdir(), 'peruse-tied-'));
    try {
      const source = join(root, 'source');
      await mkdir(join(source, 'onnx'), { recursive: true });
      for (const [name, content] of Object.entries(model)) await writeFile(join(source, name), content);
      const converted = join(root, 'converted');
      await convertCheckpoint(source, converted, { dtype: 'q8' });
      expect(JSON.parse(await readFile(join(converted, 'config.json'), 'utf8'))).toMatchObject({ tie_word_embeddings: false });
      const { header } = splitSafetensors(new Uint8Array(await readFile(join(converted, 'model.safetensors'))));
      expect([header[kWords]?.dtype, header[kDecoder]?.dtype]).toEqual(['I8', 'I8']);
      expect(await logitsOf(converted, 'auto')).toEqual(direct);
      const text = tinyText([5, 6, 7, 8, 9, 10, 11]);
      for (const dtype of ['q8', 'q4', 'keep'] as const) {
        const small = join(root, dtype);
        const { difference } = await shrinkCheckpoint(source, small, { dtype, compare: [text] });
        expect(difference!.leastCosine).toBeGreaterThan(dtype === 'q4' ? 0.95 : 0.999);
        const logits = await logitsOf(small, 'auto');
        if (dtype !== 'q4') expect(logits).toEqual(direct);
      }
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
