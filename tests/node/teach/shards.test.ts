import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { type TeachMethod, teach } from '../../../web/dist/teach/index_node.js';
import { kShards, readSharded } from '../support/sharded.js';
import type { Files } from '../support/tiny.js';
import { readTiny } from '../support/tiny_files.js';

const kFolder = fileURLToPath(new URL('../../fixtures/sharded/', import.meta.url));
const kIndex = 'model.safetensors.index.json';
const kExamples = [
  { text: 'c d', label: 'one' },
  { text: 'd e c', label: 'two' },
  { text: 'e e d', label: 'one' },
  { text: 'f c', label: 'two' },
];
const kOptions = { epochs: 3, batch_size: 2, learning_rate: 1e-3, labels: ['one', 'two'] };

let sharded: Files;
let single: Files;
beforeAll(async () => {
  sharded = await readSharded(async (name) => new Uint8Array(await readFile(kFolder + name)));
  single = (await readTiny('deberta-v2-sequence')).files;
});

test.each<[string, TeachMethod]>([
  ['full', 'full'],
  ['lora', 'lora'],
])('is the same lesson: %s', async (_, method) => {
  const [one, several] = await Promise.all(
    [single, sharded].map((files) => teach('text-classification', files, kExamples, { ...kOptions, method })),
  );
  expect(several!.report.losses).toEqual(one!.report.losses);
  expect(several!.report.fresh).toEqual(one!.report.fresh);
  const weights = method === 'lora' ? 'adapter_model.safetensors' : 'model.safetensors';
  expect(several!.files.get(weights)).toEqual(one!.files.get(weights));
  expect(one!.files.get(weights)).toBeDefined();
  const results = [];
  for (const taught of [one!, several!]) {
    const classify = await taught.pipeline();
    results.push(await classify('c e'));
    await classify.dispose();
    await taught.dispose();
  }
  expect(results[1]).toEqual(results[0]);
});

const text = (content: Uint8Array) => new TextDecoder().decode(content);
const bytes = (content: string) => new TextEncoder().encode(content);
test.each<[string, (files: Files) => Files, string, RegExp]>([
  ['a shard that is not there', ({ [kShards[1]!]: _, ...rest }) => rest, 'not_found', /model-00002-of-00003\.safetensors/],
  [
    'a torn shard',
    (files) => ({ ...files, [kShards[0]!]: files[kShards[0]!]!.subarray(0, 9000) }),
    'truncated_file',
    /model-00001-of-00003\.safetensors/,
  ],
  [
    'an index that names too little',
    (files) => ({
      ...files,
      [kIndex]: bytes(text(files[kIndex]!).replace('embeddings.word_embeddings.weight', 'embeddings.other.weight')),
    }),
    'missing_tensor',
    /embeddings\.word_embeddings\.weight/,
  ],
  [
    'an index that names what no file has',
    (files) => ({ ...files, [kShards[1]!]: files[kShards[0]!]! }),
    'malformed_file',
    /model-00002-of-00003\.safetensors/,
  ],
])('%s is told', async (_, damage, code, words) => {
  const lesson = teach('text-classification', damage(sharded), kExamples, { ...kOptions, method: 'full' });
  await expect(lesson).rejects.toMatchObject({ code, message: expect.stringMatching(words) });
});
