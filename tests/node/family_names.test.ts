// Families are named in their folder. Elsewhere only comments, messages to users, and the files of kRooms name one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const kFamily =
  /gliner|gliclass|deberta|convbert|electra|modernbert|roberta|distilbert|mpnet|albert|camembert|nomic_?bert|jina_?bert|lightconv|dynamicconv/i;
const kSources = { core: /\.(cc|h|inc|wgsl)$/, bindings: /\.(cc|h)$/, 'web/src': /\.ts$/ };
const kRooms = [
  /^core\/families\//,
  /^core\/text\//, // tokenizers have the names of transformers' classes
  /^core\/api\/sentence_modules_reader\.cc$/, // sentence_roberta_config.json and so on are names of files
  /^web\/src\/sources\/(label_models|onnx_families|model_files)\.ts$/,
];

/** Returns lines that name a family. Texts with a space are messages; the value of `example` is a model's address. */
function naming(text: string): string[] {
  const code = text
    .replace(/\/\*[\s\S]*?\*\/|(?<!:)\/\/.*$/gm, '')
    .replace(/^\s*#include.*$/gm, '')
    .replace(/^\s*example: .*$/gm, '')
    .replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`]*`/g, (literal) => (literal.includes(' ') ? '""' : literal));
  return code.split('\n').filter((line) => kFamily.test(line));
}

test('no file elsewhere names a family', () => {
  const files = Object.entries(kSources).flatMap(([folder, ends]) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((file) => ends.test(file) && !kRooms.some((room) => room.test(file))),
  );
  expect(files.length).toBeGreaterThan(400);
  expect(files.flatMap((file) => naming(readFileSync(join(root, file), 'utf8')).map((line) => `${file}: ${line.trim()}`))).toEqual([]);
});

test('a name would be found', () => {
  const text = '  if (type == "deberta-v2") return; // roberta\nFail("a GLiNER cannot be taught yet");\nauto x = kElectra;';
  expect(naming(text)).toEqual(['  if (type == "deberta-v2") return; ', 'auto x = kElectra;']);
});
