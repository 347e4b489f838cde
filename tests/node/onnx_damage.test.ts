// ONNX files that lack tensors, and files whose sizes would make a reader of quadratic time hang.
import { describe, expect, test } from 'vitest';
import { explainOnnx } from '../../web/dist/engine/models/feed_onnx.js';
import { PeruseError } from '../../web/dist/errors.js';
import { openOnnx } from '../../web/dist/onnx/onnx_weights.js';
import { fields } from '../../web/dist/onnx/protobuf.js';
import { onnxFiles } from './support/onnx_files.js';
import { field, message, modelOf, tensorOf } from './support/onnx_messages.js';
import type { Files } from './support/tiny.js';

async function opened(files: Files, modelType: string, signal = new AbortController().signal): Promise<string[]> {
  const folder = {
    open: async (name: string) => {
      const bytes = files[name]!;
      const chunks = async function* () {
        for (let at = 0; at < bytes.length; at += 1 << 16) yield bytes.subarray(at, at + (1 << 16));
      };
      return { found: true, where: name, size: bytes.length, chunks, close: async () => {} } as const;
    },
  };
  const [name] = Object.keys(files) as [string];
  const weights = await openOnnx({ folder, name, modelType, tied: true, signal, report: () => {} });
  let bytes = 0;
  for await (const chunk of weights.chunks()) bytes += chunk.length;
  expect(bytes).toBe(weights.size);
  return [...weights.conflicts];
}

const nameOf = (part: Uint8Array, number: number) =>
  [...fields(part)].filter((one) => one.number === number).map(({ bytes }) => Buffer.from(bytes).toString('utf8'));

/** The fields of the file's graph. */
function graphOf(model: Uint8Array) {
  return [...fields([...fields(model)].find(({ number }) => number === 7)!.bytes)];
}

function withoutTensor(model: Uint8Array, name: string): Uint8Array {
  const kept = graphOf(model).filter(({ number, bytes }) => number !== 5 || nameOf(bytes, 8)[0] !== name);
  return message(
    field(1, 8),
    field(7, message(...kept.map(({ number, type, value, bytes }) => field(number, type === 0 ? value : bytes)))),
  );
}

describe('a tensor that is lacking', () => {
  test.each([
    ['bert', 'bert-sequence/model.onnx'],
    ['bert', 'bert-sequence/model_quantized.onnx'],
    ['deberta-v2', 'deberta-v2-sequence/model.onnx'],
    ['convbert', 'convbert-token/model_uint8.onnx'],
    ['modernbert', 'modernbert-sequence/model.onnx'],
  ])('%s: %s is refused, whichever tensor it is', async (modelType, path) => {
    const [file, content] = Object.entries(await onnxFiles(path))[0]!;
    await opened({ [file]: content }, modelType);
    const graph = graphOf(content);
    const names = graph.filter(({ number }) => number === 5).map(({ bytes }) => nameOf(bytes, 8)[0]!);
    const inputs = new Set(graph.filter(({ number }) => number === 1).flatMap(({ bytes }) => nameOf(bytes, 1)));
    expect(names.length).toBeGreaterThan(20);
    const read: string[] = [];
    for (const name of names.filter((one) => inputs.has(one))) {
      await opened({ [file]: withoutTensor(content, name) }, modelType).then(
        () => read.push(name),
        (error: { code: string; message: string }) => {
          expect(error).toMatchObject({ code: 'malformed_file', message: expect.stringContaining(`"${name}", which the file lacks`) });
        },
      );
    }
    expect(read).toEqual([]);
  });
});

describe('time grows with the size of a file', () => {
  const kMany = 30_000;
  const each = (write: (i: number) => Uint8Array) => Buffer.concat(Array.from({ length: kMany }, (_, i) => write(i)));
  const node = (i: number, op: string, inputs: string[], name = `/m${i}/${op}`) =>
    field(1, message(...inputs.map((one) => field(1, one)), field(2, `out${i}`), field(3, name), field(4, op)));
  const external = (i: number) =>
    field(
      5,
      message(
        ...[1, 2].map((dim) => field(1, dim)),
        field(2, 1),
        field(8, `m.w${i}.weight`),
        ...[
          ['location', 'model.onnx_data'],
          ['offset', String(8 * i)],
        ].map(([key, value]) => field(13, message(field(1, key!), field(2, value!)))),
        field(14, 1),
      ),
    );
  const kFiles: [string, () => Files][] = [
    [
      'many Gathers of one decoder next to many tensors',
      () => ({
        'model.onnx': modelOf(
          each((i) => node(i, 'Gather', ['cls.predictions.decoder.weight', 'ids'], '')),
          tensorOf('cls.predictions.decoder.weight', [2, 2], 16),
          each((i) => tensorOf(`t${i}`, [1], 4)),
        ),
      }),
    ],
    ['many external tensors', () => ({ 'model.onnx': modelOf(each(external)), 'model.onnx_data': new Uint8Array(8 * kMany) })],
    [
      'many products of one module',
      () => ({
        'model.onnx': modelOf(
          each((i) => node(i, 'MatMul', ['x', i % 2 ? 'a' : 'b'], '/a/b/MatMul')),
          tensorOf('a', [128, 120], 4 * 128 * 120),
          tensorOf('b', [128, 120], 4 * 128 * 120),
        ),
      }),
    ],
    [
      'many tables that one wide node multiplies',
      () => ({
        'model.onnx': modelOf(
          field(1, message(...Array.from({ length: 4000 }, () => field(1, 't0')), field(2, 'wide'), field(4, 'Concat'))),
          each((i) => node(i, 'MatMul', ['wide', `t${i}`], '')),
          each((i) => tensorOf(`t${i}`, [1, 1, 1], 4)),
        ),
      }),
    ],
  ];
  test.each(kFiles)('%s', async (_, write) => {
    const files = write();
    const start = performance.now();
    await opened(files, 'deberta-v2').catch((error: { code: string }) => expect(error.code).toMatch(/malformed_file|unsupported/));
    expect(performance.now() - start).toBeLessThan(6000);
  });

  test('an abort is heard while meaningless fields are read', async () => {
    const controller = new AbortController();
    const file = modelOf(Buffer.alloc(2_000_000, field(9, 1)));
    const reading = opened({ 'model.onnx': file }, 'bert', controller.signal);
    setTimeout(() => controller.abort(), 20);
    await expect(reading).rejects.toMatchObject({ code: 'aborted' });
  });
});

test('an error of the engine that is not about parameters reaches the caller as it is', () => {
  const full = new PeruseError('out_of_memory', 'There is no memory for the weights.');
  expect(explainOnnx('model.onnx', full, [])).toBe(full);
  const missing = new PeruseError('missing_tensor', 'pooler.dense.weight is missing.');
  expect(explainOnnx('model.onnx', missing, ['two of them fit'])).toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/no name in this file: pooler\.dense\.weight is missing \(two of them fit\)/),
    cause: missing,
  });
});
