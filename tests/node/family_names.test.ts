// Families and precisions are named in their folders. Elsewhere only comments, messages to users, and the files of kRooms name one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const kFamily =
  /gliner|gliclass|deberta|convbert|electra|modernbert|roberta|distilbert|mpnet|albert|camembert|nomic_?bert|jina_?bert|lightconv|dynamicconv/i;
const kSources = { core: /\.(cc|h|inc|wgsl)$/, bindings: /\.(cc|h)$/, 'web/src': /\.ts$/ };
const kFamilyRooms = [
  /^core\/families\//,
  /^core\/text\//, // tokenizers have the names of transformers' classes
  /^core\/api\/transformer_module_reader\.cc$/, // sentence_roberta_config.json and so on are names of files
  /^web\/src\/transformers\/(known|other|text)_names\.ts$/, // default models, and transformers.js's names of classes
  /^web\/src\/sources\/(label_models|onnx_families|model_files)\.ts$/,
];

/** Weights that are not of float32, and the names of all precisions. */
const kPrecision = /Precision::k(?!F32\b)\w|(["'`])(?:f32|f16|fp32|fp16|q8|q4|u?int8|q4f16|bnb4|peruse-q\d)\1/;
const kPrecisionRooms = [
  /^core\/formats\//,
  /^core\/families\/quantization\.cc$/, // quantization_config
  /^core\/(cpu\/packed_linear|backend\/webgpu\/gpu_format)\.cc$/, // kernels of each format
  /^core\/backend\/webgpu\/webgpu_backend\.h$/, // the usual precision on a GPU
  /^web\/src\/onnx\//, // codes of ONNX's operators
  /^web\/src\/(search\/|cli\/index_files)/, // the rows of an index, not weights
  /^web\/src\/precisions\.ts$/,
];

/** Returns lines that name a family or a precision. Texts with a space are messages; the value of `example` is a model's address. */
function naming(text: string, what: RegExp): string[] {
  const code = text
    .replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '')
    .replace(/^\s*#include.*$/gm, '')
    .replace(/^\s*example: .*$/gm, '')
    .replace(/\bnew Tensor\('u?int8'/g, '') // types of numbers in memory, not of weights
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, (literal) => (literal.includes(' ') ? '""' : literal));
  return code.split('\n').filter((line) => what.test(line));
}

test.each([
  ['a family', kFamily, kFamilyRooms],
  ['a precision', kPrecision, kPrecisionRooms],
] as const)('no file elsewhere names %s', (_, what, rooms) => {
  const files = Object.entries(kSources).flatMap(([folder, ends]) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((file) => ends.test(file) && !rooms.some((room) => room.test(file))),
  );
  expect(files.length).toBeGreaterThan(400);
  expect(files.flatMap((file) => naming(readFileSync(join(root, file), 'utf8'), what).map((line) => `${file}: ${line.trim()}`))).toEqual(
    [],
  );
});

test('a name would be found', () => {
  const text = '  if (type == "deberta-v2") return; // roberta\nFail("a GLiNER cannot be taught yet");\nauto x = kElectra;';
  expect(naming(text, kFamily)).toEqual(['  if (type == "deberta-v2") return; ', 'auto x = kElectra;']);
  const more = "if (dtype === 'q8') return; // 'q4'\nthrow Error('not q4');\nuse(Precision::kQ8, Precision::kF32);";
  expect(naming(more, kPrecision)).toEqual(["if (dtype === 'q8') return; ", 'use(Precision::kQ8, Precision::kF32);']);
  expect(naming('Stack(in, Precision::kF32)', kPrecision)).toEqual([]);
});
