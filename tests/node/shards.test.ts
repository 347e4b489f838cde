import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { PeruseError, type PipelineOptions, type ProgressInfo, pipeline, type Source } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { checkLogits, kShards, readSharded } from './support/sharded.js';
import type { Files } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kFolder = fileURLToPath(new URL('../fixtures/sharded/', import.meta.url));
const kIndex = 'model.safetensors.index.json';

let files: Files;
let expected: Awaited<ReturnType<typeof readTiny>>['expected'];
beforeAll(async () => {
  files = await readSharded(async (name) => new Uint8Array(await readFile(kFolder + name)));
  expected = (await readTiny('deberta-v2-sequence')).expected;
});

async function check(source: Source, options: PipelineOptions = {}): Promise<ProgressInfo[]> {
  const progress: ProgressInfo[] = [];
  const classify = await pipeline('text-classification', source, { ...options, progress_callback: (info) => progress.push(info) });
  await checkLogits(classify, expected);
  expect(classify.info.bytes).toBe(Object.values(files).reduce((sum, file) => sum + file.length, 0));
  expect(classify.info.weights.extraTensors).toEqual([]);
  await classify.dispose();
  return progress;
}

test('bytes, Files, a folder and a URL are the same model', async () => {
  const server = await startModelServer(files);
  try {
    const list = Object.entries(files).map(([name, content]) => new File([content as BlobPart], name));
    for (const source of [files, list, kFolder, server.url]) {
      for (const worker of [false, true]) await check(source, { worker });
    }
    expect(server.requests).not.toContain('pytorch_model.bin');
  } finally {
    await server.close();
  }
});

test('progress is that of one file with the bytes of all', async () => {
  const progress = await check(files);
  const ofWeights = progress.filter((info) => 'file' in info && info.file === 'model.safetensors');
  const bytes = kShards.reduce((sum, shard) => sum + files[shard]!.length, 0);
  expect(ofWeights.map(({ status }) => status).filter((status) => status !== 'progress')).toEqual(['initiate', 'download', 'done']);
  const reports = ofWeights.filter((info) => info.status === 'progress');
  expect(reports[0]!.total).toBe(36678); // from the index, without the files' headers
  expect(reports.at(-1)).toMatchObject({ loaded: bytes, total: bytes, progress: 100 });
  expect(progress.some((info) => 'file' in info && kShards.includes(info.file))).toBe(false);
});

test('a single model.safetensors goes first', async () => {
  const { files: single } = await readTiny('deberta-v2-sequence');
  const classify = await pipeline('text-classification', { ...files, [kShards[1]!]: new Uint8Array(3), ...single });
  await checkLogits(classify, expected);
  await classify.dispose();
});

const text = (content: Uint8Array) => new TextDecoder().decode(content);
const bytes = (content: string) => new TextEncoder().encode(content);
test.each([-5, 0.5, 1e300, '36678'])('the total %j in an index is not used: the progress ends with the bytes that came', async (total) => {
  const index = JSON.parse(text(files[kIndex]!)) as { metadata: object };
  const changed = { ...files, [kIndex]: bytes(JSON.stringify({ ...index, metadata: { total_size: total } })) };
  const progress: ProgressInfo[] = [];
  const classify = await pipeline('text-classification', changed, { progress_callback: (info) => progress.push(info) });
  await classify.dispose();
  const reports = progress.filter((info) => info.status === 'progress' && info.file === 'model.safetensors');
  const totals = reports.map((info) => (info.status === 'progress' ? info.total : undefined));
  expect(
    totals.slice(0, -1).every((one) => one === 0 || one === totals.at(-1)),
    String(totals),
  ).toBe(true);
});

const kBad: [string, (good: Files) => Files, string, RegExp][] = [
  [
    'a shard that is not there',
    ({ [kShards[1]!]: _, ...rest }) => rest,
    'not_found',
    /model-00002-of-00003\.safetensors.*which model\.safetensors\.index\.json names/,
  ],
  [
    'a torn shard',
    (f) => ({ ...f, [kShards[0]!]: f[kShards[0]!]!.subarray(0, 9000) }),
    'truncated_file',
    /model-00001-of-00003\.safetensors/,
  ],
  [
    'a torn last shard',
    (f) => ({ ...f, [kShards[2]!]: f[kShards[2]!]!.subarray(0, 13000) }),
    'truncated_file',
    /model-00003-of-00003\.safetensors/,
  ],
  ['an empty shard', (f) => ({ ...f, [kShards[1]!]: new Uint8Array(0) }), 'truncated_file', /model-00002-of-00003\.safetensors/],
  [
    'a shard that is a page',
    (f) => ({ ...f, [kShards[1]!]: bytes('<!doctype html>'.repeat(10)) }),
    'malformed_file',
    /model-00002-of-00003\.safetensors.*HTML/,
  ],
  [
    'the same shard twice',
    (f) => ({ ...f, [kShards[1]!]: f[kShards[0]!]! }),
    'malformed_file',
    /model-00002-of-00003\.safetensors.*two files/,
  ],
  [
    'an index that names a tensor that no shard has',
    (f) => ({ ...f, [kShards[1]!]: renamed(f[kShards[1]!]!) }),
    'missing_tensor',
    /The index names tensors that no file has.*layer/,
  ],
  [
    'an index that lacks a tensor',
    (f) => ({ ...f, [kIndex]: bytes(text(f[kIndex]!).replace('"classifier.bias"', '"classifier.other"')) }),
    'missing_head',
    /classifier\.bias/,
  ],
  [
    'an index that is not JSON',
    (f) => ({ ...f, [kIndex]: bytes('{"weight_map":') }),
    'malformed_file',
    /The index of the weights ends within its JSON/,
  ],
  ['an index without a map', (f) => ({ ...f, [kIndex]: bytes('{}') }), 'malformed_file', /weight_map/],
  [
    'an index that leads elsewhere',
    (f) => ({ ...f, [kIndex]: bytes(text(f[kIndex]!).replaceAll(kShards[0]!, '../secret')) }),
    'malformed_file',
    /plain name/,
  ],
];

function renamed(shard: Uint8Array): Uint8Array {
  const copy = shard.slice();
  const name = bytes('layer');
  const at = copy.findIndex((_, i) => name.every((byte, j) => copy[i + j] === byte));
  copy.set(bytes('lay_r'), at);
  return copy;
}

test.each(kBad)('%s is one clear error', async (_, spoil, code, message) => {
  const error = await pipeline('text-classification', spoil(files)).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(PeruseError);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  await check(files);
});
