// Checkpoints of 8 and 4 bits become float32 where training or another precision needs them.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { pipeline, type Source } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { shrinkCheckpoint } from '../../web/dist/quantize/shrink.js';
import { FloatWeights } from '../../web/dist/sources/weights/float_weights.js';
import { pretrain, teach, widen } from '../../web/dist/teach/index_node.js';
import { peruse } from './cli/run_in_test.js';
import { kLines, kTexts } from './support/lessons.js';
import { splitSafetensors, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kSentiment = fileURLToPath(new URL('../../models/peruse-sentiment-convbert-tiny', import.meta.url));

const root = await mkdtemp(join(tmpdir(), 'peruse-widen-'));
afterAll(() => rm(root, { recursive: true }));
let folders = 0;
const newFolder = () => join(root, `${++folders}`);

/** The same model with weights of 8 bits, or with token embeddings of 4. */
async function rounded(dtype: 'q8' | 'q4', source: Source = kSentiment): Promise<string> {
  const folder = newFolder();
  await quantizeCheckpoint(source, folder, { dtype });
  return folder;
}

type Tensor = [name: string, dtype: string, shape: number[], bytes: Uint8Array];

function fileOf(tensors: readonly Tensor[]): Uint8Array {
  const header: Record<string, object> = {};
  let at = 0;
  for (const [name, dtype, shape, { length }] of tensors) {
    header[name] = { dtype, shape, data_offsets: [at, at + length] };
    at += length;
  }
  const json = new TextEncoder().encode(JSON.stringify({ __metadata__: { format: 'pt' }, ...header }));
  const start = new Uint8Array(8);
  new DataView(start.buffer).setBigUint64(0, BigInt(json.length), true);
  return Buffer.concat([start, json, ...tensors.map(([, , , bytes]) => bytes)]);
}

const bytesOf = (values: Float32Array | Uint16Array | Int8Array) => new Uint8Array(values.buffer.slice(0));

function converted(file: Uint8Array, chunk: number, config: Record<string, unknown> = {}): Uint8Array {
  const floats = new FloatWeights('the file', config);
  const parts: Uint8Array[] = [];
  for (let at = 0; at < file.length; at += chunk) parts.push(...floats.feed(file.subarray(at, at + chunk)));
  return Buffer.concat(parts);
}

function floatsIn(file: Uint8Array, name: string): { shape: number[]; dtype: string; values: number[] } {
  const { header, body } = splitSafetensors(file);
  const { data_offsets: offsets, shape, dtype } = header[name]!;
  const part = new Uint8Array(body.subarray(offsets[0], offsets[1]));
  return { shape, dtype, values: [...new Float32Array(part.buffer)] };
}

describe('a file', () => {
  const nibbles = new Uint8Array(32); // two rows of 20 values: each a group of 32
  nibbles.set([0x0f, 0x98], 0); // 15, 0, 8, 9
  nibbles.set([0x21], 16); // 1, 2
  const kRows: Tensor = ['rows', 'I8', [2, 3], bytesOf(new Int8Array([-127, 0, 5, 1, 2, -3]))];
  const kRowScales: Tensor = ['rows_scale', 'F32', [2], bytesOf(new Float32Array([0.5, 0.25]))];
  const kWords: Tensor = ['words', 'U8', [2, 16], nibbles];
  const kWordScales: Tensor = ['words_scale', 'F16', [2, 1], bytesOf(new Uint16Array([0x3800, 0xc000]))]; // 0.5, -2
  const kNorm: Tensor = ['norm', 'F32', [1], bytesOf(new Float32Array([7]))];
  const file = fileOf([kRowScales, kRows, kNorm, kWords, kWordScales]); // some scales come before, some after

  test.each([1, 7, 1 << 20])('of two forms has the values times their scales, in chunks of %i bytes', (chunk) => {
    const result = converted(file, chunk, { hidden_size: 20 });
    expect(Object.keys(splitSafetensors(result).header).sort()).toEqual(['__metadata__', 'norm', 'rows', 'words']);
    expect(floatsIn(result, 'rows')).toEqual({ dtype: 'F32', shape: [2, 3], values: [-63.5, 0, 2.5, 0.25, 0.5, -0.75] });
    expect(floatsIn(result, 'norm').values).toEqual([7]);
    const { shape, values } = floatsIn(result, 'words');
    expect(shape).toEqual([2, 20]);
    expect(values.slice(0, 5)).toEqual([3.5, -4, 0, 0.5, -4]);
    expect(values.slice(20, 23)).toEqual([14, 12, 16]);
  });

  test('of experts, whose matrices are stored by rows, has the matrices as in the original', () => {
    const eight: Tensor = ['eight', 'I8', [2, 2, 3], bytesOf(new Int8Array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))];
    const eightScales: Tensor = ['eight_scale', 'F32', [2, 2], bytesOf(new Float32Array([1, 2, 0.5, -1]))];
    const four: Tensor = ['four', 'U8', [1, 2, 16], nibbles];
    const fourScales: Tensor = ['four_scale', 'F16', [1, 2, 1], kWordScales[3]];
    const result = converted(fileOf([eightScales, fourScales, eight, four]), 9, { hidden_size: 20 });
    expect(floatsIn(result, 'eight')).toEqual({ dtype: 'F32', shape: [2, 3, 2], values: [1, 8, 2, 10, 3, 12, 3.5, -10, 4, -11, 4.5, -12] });
    const { shape, values } = floatsIn(result, 'four');
    expect(shape).toEqual([1, 20, 2]);
    expect(values.slice(0, 6)).toEqual([3.5, 14, -4, 12, 0, 16]);
    // The matrices of [matrices * in, columns]: scales alone say how many there are.
    const flat: Tensor = ['flat', 'I8', [4, 3], eight[3]];
    const flatScales: Tensor = ['flat_scale', 'F32', [2, 2], eightScales[3]];
    const few: Tensor = ['few', 'U8', [2, 16], nibbles];
    const fewScales: Tensor = ['few_scale', 'F16', [1, 2, 1], kWordScales[3]];
    const both = converted(fileOf([flatScales, few, flat, fewScales]), 9, { hidden_size: 20 });
    expect(floatsIn(both, 'flat')).toEqual({ ...floatsIn(result, 'eight'), shape: [6, 2] });
    expect(floatsIn(both, 'few')).toEqual({ ...floatsIn(result, 'four'), shape: [20, 2] });
  });

  test('keeps a whole group if config.json has no width in it', () => {
    expect(floatsIn(converted(file, 99, { hidden_size: 64 }), 'words').shape).toEqual([2, 32]);
  });

  test('whose scales have another shape is refused', () => {
    const wrong = fileOf([['rows_scale', 'F32', [1], bytesOf(new Float32Array([1]))], kRows]);
    expect(() => converted(wrong, 99)).toThrow(
      expect.objectContaining({ code: 'shape_mismatch', message: expect.stringContaining('rows') }),
    );
  });

  test('that is damaged passes unchanged, so that the engine reports it', () => {
    const gap = fileOf([kRowScales, kRows]);
    gap.set(new TextEncoder().encode('[9'), Buffer.from(gap).indexOf('[', 60));
    for (const bytes of [gap, new Uint8Array(100).fill(255), new TextEncoder().encode('<html>not a model</html>')]) {
      expect(converted(bytes, 10)).toEqual(Buffer.from(bytes));
    }
  });
});

test.each(['q8', 'q4'] as const)('%s of NomicBERT stores all of its experts in it, with the numbers of a load', async (form) => {
  const { files } = await readTiny('nomic-bert-experts');
  const folder = await rounded(form, files);
  const { header } = splitSafetensors(await readFile(join(folder, 'model.safetensors')));
  const experts = Object.entries(header).filter(([name]) => /experts\.mlp\.w[12]$/.test(name));
  expect(experts.map(([, { dtype }]) => dtype)).toEqual(experts.map(() => 'I8')); // too narrow for 4 bits
  expect(experts.length).toBeGreaterThan(1);
  const vectors = async (source: Source, dtype: 'auto' | 'q8' | 'q4') => {
    const embed = await pipeline('feature-extraction', source, { dtype, variant: 'simd' });
    const { data } = await embed(tinyText([1, 2, 3, 5, 8]));
    await embed.dispose();
    return data;
  };
  expect(await vectors(folder, 'auto')).toEqual(await vectors(files, form));
  const shapesOf = (file: Uint8Array) => Object.entries(splitSafetensors(file).header).map(([name, { shape }]) => [name, shape]);
  const wide = new Map(shapesOf(await readFile(join(await rounded(form, folder), 'model.safetensors'))) as [string, number[]][]);
  for (const [name, { shape }] of experts) expect(wide.get(name)).toEqual(shape);
});

const kTiny = ['deberta-v2-sequence', 'electra-sequence'];
test.each(kTiny.flatMap((name) => (['q8', 'q4'] as const).map((form) => [name, form] as const)))(
  '%s of %s is widened to the floats that it stands for',
  async (name, form) => {
    const { files } = await readTiny(name);
    const folder = await rounded(form, files);
    const scores = async (source: Source, dtype: 'fp32' | 'q8' | 'q4') => {
      const classify = await pipeline('text-classification', source, { dtype });
      try {
        return (await classify(tinyText([1, 2, 3, 5, 8]), { top_k: null, function_to_apply: 'none' })).map(({ score }) => score);
      } finally {
        await classify.dispose();
      }
    };
    const wide = await widen(folder);
    const [exact, widened, again, own] = [
      await scores(files, 'fp32'),
      await scores(wide, 'fp32'),
      await scores(wide, form),
      await scores(folder, form),
    ];
    expect(again.map((value, i) => Math.abs(value - own[i]!) < 1e-5)).not.toContain(false); // the same integers
    expect(widened).not.toEqual(exact);
    expect(widened.map((value, i) => Math.abs(value - own[i]!) < 2e-3)).not.toContain(false); // activations are not rounded
    expect(await widen(folder, { dtype: form })).toBe(folder);
    expect(await widen(files)).toBe(files);
  },
);

test('widen() names a wrong option', async () => {
  await expect(widen(kSentiment, { precision: 'fp32' } as object)).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(widen(kSentiment, { dtype: 'q9' } as object)).rejects.toMatchObject({ code: 'invalid_argument' });
});

describe('training', () => {
  test.each(['q8', 'q4'] as const)('begins with the floats of a %s checkpoint, and says so', async (form) => {
    const source = await rounded(form);
    const taught = await teach('text-classification', source, kTexts, { method: 'full', epochs: 2 });
    expect(taught.report.notices).toContainEqual(expect.stringContaining(`The weights were rounded (${form})`));
    expect(taught.report.fresh).toEqual(['classifier.out_proj.weight', 'classifier.out_proj.bias']);
    expect(new TextDecoder().decode(taught.files.get('config.json'))).not.toContain('quantization_config');
    const classify = await taught.pipeline();
    expect(await classify(kTexts[0]!.text)).toHaveLength(1);
    await classify.dispose();
  });

  test('of an adapter can be used with the floats', async () => {
    const taught = await teach('text-classification', await rounded('q8'), kTexts, { method: 'lora', epochs: 1 });
    const classify = await taught.pipeline();
    expect(classify.info.dtype).toBe('fp32');
    await classify.dispose();
  });

  test('on plain text widens the model and its generator', async () => {
    const first = await pretrain('rtd', kSentiment, kLines.slice(0, 8), { epochs: 1 });
    const folder = newFolder();
    await first.save(folder);
    const [model, generator] = [await rounded('q8', folder), await rounded('q4', join(folder, 'generator'))].map(String);
    const { report } = await pretrain('rtd', model!, kLines.slice(0, 8), { epochs: 1, generator: generator! });
    expect(report.fresh).toEqual([]);
    expect(report.notices.filter((notice) => notice.includes('rounded'))).toHaveLength(2);
  });
});

test('gradients explain a q8 checkpoint', async () => {
  const classify = await pipeline('text-classification', await rounded('q8'));
  const { words } = await classify.explain('What a wonderful day!', { method: 'gradient' });
  expect(words.length).toBeGreaterThan(3);
  await classify.dispose();
});

describe('a copy', () => {
  test('of a q8 checkpoint as q8 has the same integers, and a notice', async () => {
    const first = await rounded('q8');
    const second = newFolder();
    const report = await quantizeCheckpoint(first, second);
    expect(report.notices).toEqual([expect.stringContaining('The weights were rounded (q8); q8 starts from them as float32')]);
    const integers = async (folder: string) => {
      const { header, body } = splitSafetensors(new Uint8Array(await readFile(join(folder, 'model.safetensors'))));
      const rows = Object.entries(header).filter(([, { dtype }]) => dtype === 'I8');
      return rows
        .map(
          ([
            name,
            {
              data_offsets: [from, to],
            },
          ]) => [name, Buffer.from(body.slice(from, to)).toString('base64')],
        )
        .sort();
    };
    expect(await integers(second)).toEqual(await integers(first));
    expect(report.bytesBefore).toBe(report.bytesAfter);
  });

  test('of a q8 checkpoint may be smaller: q4, and a part of the vocabulary', async () => {
    const source = await rounded('q8');
    const run = await peruse(['quantize', source, newFolder(), '--dtype', 'q4']);
    expect({ code: run.code, err: run.err }).toEqual({ code: 0, err: expect.stringContaining('rounded (q8)') });
    expect(run.lines[0]).not.toHaveProperty('notices');
    const folder = newFolder();
    const texts = ['What a wonderful day it was.', 'It is a dull film about a good dog.'];
    const { trimmed, notices } = await shrinkCheckpoint(source, folder, { texts, force: true, compare: texts });
    expect(trimmed!.piecesAfter).toBeLessThan(trimmed!.piecesBefore);
    expect(notices).toHaveLength(1);
    const classify = await pipeline('text-classification', folder);
    expect(classify.info.dtype).toBe('q8');
    await classify.dispose();
  });
});
