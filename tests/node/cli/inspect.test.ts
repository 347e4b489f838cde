import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { env, pipeline } from '../../../web/dist/index_node.js';
import { startModelServer } from '../support/model_server.js';
import { joinSafetensors, splitSafetensors } from '../support/tiny.js';
import { peruse } from './run_in_test.js';

const kRoot = fileURLToPath(new URL('../../../', import.meta.url));
const kSentiment = `${kRoot}models/peruse-sentiment-convbert-tiny`;
const kReader = `${kRoot}models/peruse-reader-deberta-tiny`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'peruse-inspect-'));
});
afterEach(() => rm(folder, { recursive: true }));

const inspect = async (model: string, ...more: string[]) => {
  const { code, err, lines } = await peruse(['inspect', model, '--json', ...more]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return lines[0];
};

test('says what a checkpoint is and what it can do', async () => {
  expect(await inspect(kReader)).toMatchObject({
    model_type: 'deberta-v2',
    architectures: ['DebertaV2ForQuestionAnswering'],
    files: ['model.safetensors'],
    dtypes: ['F16'],
    runs: true,
    tasks: { 'question-answering': true, 'feature-extraction': true, 'token-classification': { code: 'missing_head' } },
  });
  const { out, code } = await peruse(['inspect', kSentiment]);
  expect(code).toBe(0);
  for (const words of [
    /convbert, ConvBertForSequenceClassification/,
    /labels NEGATIVE, POSITIVE/,
    /1\.3 million parameters in 103 tensors \(F16\), 2\.7 MB/,
    /^runs: text-classification, feature-extraction, text-ranking \(with the option label\)$/m,
    /^ {2}dtype fp32, weights safetensors: model\.safetensors, 2\.\d MB \(no download\), memory 4\.\d MB$/m,
  ]) {
    expect(out).toMatch(words);
  }
});

test('says the labels and sizes of a model with ONNX files only', async () => {
  for (const file of ['config.json', 'tokenizer.json']) await cp(join(kSentiment, file), join(folder, file));
  await cp(`${kRoot}tests/fixtures/onnx/bert-sequence/model.onnx`, join(folder, 'onnx', 'model.onnx'));
  const { out, code } = await peruse(['inspect', folder]);
  expect(code).toBe(0);
  expect(out).toMatch(/hidden layers 4, hidden size 128/);
  expect(out).toMatch(/labels NEGATIVE, POSITIVE/);
  expect(out).toMatch(/dtype fp32, weights onnx: onnx\/model\.onnx/);
});

test('says what static embeddings take', async () => {
  const found = await inspect(`${kRoot}tests/fixtures/static/sentence`);
  expect(found).toMatchObject({ model_type: 'static', runs: true, tasks: { 'feature-extraction': true } });
  expect((found.downloads as { dtype: string }[]).map(({ dtype }) => dtype)).toEqual(['fp32', 'fp16', 'q8', 'q4']);
});

test('a checkpoint with 8-bit weights runs what the original runs', async () => {
  const small = join(folder, 'q8');
  expect((await peruse(['quantize', kSentiment, small])).code).toBe(0);
  const [original, quantized] = [await inspect(kSentiment), await inspect(small)];
  expect(quantized.dtypes).toContain('I8');
  expect(quantized.tasks).toEqual(original.tasks);
});

test('prints the program that a model is', async () => {
  const { out, code } = await peruse(['inspect', kSentiment, '--program']);
  expect(code).toBe(0);
  const program = out.slice(out.indexOf('program for text-classification:')).split('\n').slice(1);
  expect(program[0]).toMatch(/^ {2}%\d+ \[tokens, \d+\] = embed$/);
  expect(program.filter((line) => / = span_conv .* W\d+ \[\d+ -> \d+, float32\], \d+ heads, \d+ taps$/.test(line))).not.toEqual([]);
  expect(program.filter((line) => / = linear .*, norm$/.test(line))).not.toEqual([]);
  expect(program.filter((line) => / = concat /.test(line))).toEqual([]); // the optimised program, not the family's
  expect(program.filter(Boolean).at(-1)).toMatch(/^ {2}output logits = %\d+$/);
  expect((await inspect(kSentiment, '--program')).program).toEqual(program.filter(Boolean).map((line) => line.slice(2)));
  expect(await inspect(kSentiment)).not.toHaveProperty('program');
});

test('its tasks are those that load', async () => {
  for (const model of [kSentiment, kReader]) {
    const { tasks } = await inspect(model);
    for (const [task, verdict] of Object.entries(tasks)) {
      if (task === 'text-ranking') continue;
      const loaded = await pipeline(task as 'text-classification', model).then(
        (made) => made.dispose().then(() => true),
        ({ code }) => ({ code }),
      );
      expect(loaded, `${task} of ${model}`).toEqual(verdict === true ? true : { code: (verdict as { code: string }).code });
    }
  }
});

test('the memory is that of the weights when loaded, to a tenth', async () => {
  for (const [task, model] of [
    ['text-classification', kSentiment],
    ['question-answering', kReader],
  ] as const) {
    const { memory } = await inspect(model);
    for (const dtype of ['fp32', 'fp16'] as const) {
      const loaded = await pipeline(task, model, { dtype });
      const { weightBytes } = await loaded.memory();
      await loaded.dispose();
      expect(Math.abs(memory[dtype] / weightBytes - 1), `${model} ${dtype}`).toBeLessThan(0.1);
    }
    expect(memory.q8).toBeLessThan(memory.fp16);
  }
});

test('shards are inspected as one', async () => {
  const weights = new Uint8Array(await readFile(`${kReader}/model.safetensors`));
  const { header, body } = splitSafetensors(weights);
  const map: Record<string, string> = {};
  const shards = [{}, {}] as Record<string, object>[];
  const ends = [0, 0];
  const bodies: Uint8Array[][] = [[], []];
  Object.entries(header).forEach(([name, tensor], index) => {
    if (name === '__metadata__') return;
    const shard = index % 2;
    const [from, to] = tensor.data_offsets;
    shards[shard]![name] = { ...tensor, data_offsets: [ends[shard], ends[shard]! + to - from] };
    ends[shard]! += to - from;
    bodies[shard]!.push(body.subarray(from, to));
    map[name] = `model-0000${shard + 1}-of-00002.safetensors`;
  });
  for (const name of ['config.json', 'tokenizer.json']) await cp(`${kReader}/${name}`, join(folder, name));
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: map }));
  await Promise.all(
    shards.map((shard, i) =>
      writeFile(join(folder, `model-0000${i + 1}-of-00002.safetensors`), joinSafetensors(shard, Buffer.concat(bodies[i]!))),
    ),
  );
  const whole = await inspect(kReader);
  const { downloads } = await inspect(folder);
  for (const [i, { bytes, memory, ...rest }] of (downloads as { bytes: number; memory: number }[]).entries()) {
    const { bytes: ofWhole, memory: _, ...same } = whole.downloads[i];
    expect(rest).toEqual({ ...same, file: 'model.safetensors.index.json' });
    expect(bytes - ofWhole).toBeGreaterThan(0); // The index, and one more header.
  }
  expect(await inspect(folder)).toEqual({
    ...whole,
    downloads,
    memory: Object.fromEntries((downloads as { dtype: string; memory: number }[]).map(({ dtype, memory }) => [dtype, memory])),
    files: Object.values(map)
      .filter((name, i, all) => all.indexOf(name) === i)
      .sort(),
  });
});

test('from a URL only the first bytes of the weights are asked for', async () => {
  const files = await Promise.all(
    ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json'].map(
      async (name) => [name, await readFile(`${kReader}/${name}`)] as const,
    ),
  );
  const server = await startModelServer(
    Object.fromEntries(
      files.map(([name, content]) => [
        name,
        (request, response) => {
          const range = /bytes=0-(\d+)/.exec(request.headers.range ?? '');
          const part = range ? content.subarray(0, Number(range[1]) + 1) : content;
          response.writeHead(range ? 206 : 200, { 'content-type': 'application/octet-stream', 'content-length': part.length });
          response.end(request.method === 'HEAD' ? undefined : part);
        },
      ]),
    ),
  );
  const before = env.cache;
  try {
    const local = await inspect(kReader);
    const downloads = (local.downloads as object[]).map((one) => ({ ...one, cached: false }));
    expect(await inspect(server.url)).toEqual({ ...local, downloads });
    const bodies = server.calls.filter(({ method, path }) => method === 'GET' && server.files.has(path));
    expect([...new Set(bodies.map(({ path, headers }) => `${path} ${headers.range}`))].sort()).toEqual([
      'config.json undefined',
      'model.safetensors bytes=0-0',
      'model.safetensors bytes=0-65535',
    ]);
  } finally {
    env.cache = before;
    await server.close();
  }
});

describe('what can not be inspected is one line', () => {
  const write = async (files: Record<string, string | Uint8Array>) => {
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    return peruse(['inspect', folder]);
  };
  const kConfig = '{"model_type":"bert"}';

  test.each([
    ['nothing', {}, /not_found/],
    ['no weights', { 'config.json': kConfig }, /neither .*model\.safetensors .*nor .*pytorch_model\.bin .*not_found/],
    [
      'a broken pytorch_model.bin',
      { 'config.json': kConfig, 'pytorch_model.bin': 'x' },
      /pytorch_model\.bin: .*end after 1 bytes.*truncated_file/,
    ],
    ['no JSON', { 'config.json': '{', 'model.safetensors': 'x' }, /config\.json ends within its JSON.*fetch it again.*malformed_file/],
    ['a file that is cut', { 'config.json': kConfig, 'model.safetensors': new Uint8Array(4) }, /end after 4 bytes.*truncated_file/],
    [
      'a header that is cut',
      { 'config.json': kConfig, 'model.safetensors': new Uint8Array([9, 0, 0, 0, 0, 0, 0, 0, 0x7b]) },
      /within its header.*truncated_file/,
    ],
    [
      'no safetensors',
      { 'config.json': kConfig, 'model.safetensors': new Uint8Array(9).fill(255) },
      /neither safetensors nor a PyTorch file.*malformed_file/,
    ],
    [
      'a header that lies',
      { 'config.json': kConfig, 'model.safetensors': joinSafetensors({ a: { dtype: 'F32', shape: 'x' } }, new Uint8Array()) },
      /tensor "a" has no shape/,
    ],
    ['a GLiNER without weights', { 'gliner_config.json': '{}' }, /neither .*model\.safetensors .*nor .*pytorch_model\.bin .*not_found/],
    [
      'weights of another kind',
      { 'config.json': kConfig, 'tf_model.h5': 'x' },
      /neither .*pytorch_model\.bin .*; there is tf_model\.h5 \(TensorFlow\).*not_found/,
    ],
    [
      'an index that lies',
      { 'config.json': kConfig, 'model.safetensors.index.json': '{"weight_map":{"a":"../../x.safetensors"}}' },
      /is not in a file with a plain name/,
    ],
  ])('%s', async (_, files, words) => {
    const { code, out, err } = await write(files as Record<string, string>);
    expect(err).toMatch(words);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect({ code, out }).toEqual({ code: 1, out: '' });
  });

  test('a model that Peruse does not run is not a failure: it is the answer', async () => {
    const { code, out } = await write({
      'config.json': '{"model_type":"gpt2","architectures":["GPT2"]}',
      'model.safetensors': joinSafetensors({}, new Uint8Array()),
    });
    expect(code).toBe(0);
    expect(out).toMatch(/^does not run\nnot: .*gpt2/m);
  });

  test('nor is one with code of its own, or without a tokenizer', async () => {
    const weights = { 'model.safetensors': joinSafetensors({}, new Uint8Array()) };
    const own = { model_type: 'mine', auto_map: { AutoModel: 'mine.Mine' } };
    expect((await write({ 'config.json': JSON.stringify(own), ...weights })).out).toMatch(/^not: .*mine.*code of its own .*never run$/m);
    await cp(kReader, folder, { recursive: true });
    for (const name of ['tokenizer.json', 'vocab.txt']) await rm(join(folder, name));
    const { runs, tasks, tokenizer } = await inspect(folder);
    expect({ runs, tokenizer }).toEqual({ runs: false, tokenizer: [] });
    expect(tasks['question-answering']).toMatchObject({ code: 'not_found', message: expect.stringMatching(/the tokenizer is missing/) });
  });
});

describe('GLiNER and GLiClass', () => {
  const kFixtures = `${kRoot}tests/fixtures/`;
  async function assemble(kind: string, name: string, tokenizer: string | undefined): Promise<string> {
    const made = join(folder, name);
    await cp(`${kFixtures}${kind}/${name}`, made, { recursive: true });
    if (tokenizer !== undefined) await cp(`${kFixtures}${kind}/${tokenizer}`, made, { recursive: true });
    return made;
  }

  test('a GLiNER has gliner_config.json, and says what it runs', async () => {
    const made = await inspect(await assemble('gliner', 'markerV0', 'tokenizer'));
    expect(made).toMatchObject({
      runs: true,
      tokenizer: ['tokenizer.json'],
      tasks: { 'zero-shot-token-classification': true, 'text-classification': { code: 'unsupported' } },
    });
  });

  test('an old one says where its encoder has to come from, and runs with it', async () => {
    const made = await assemble('gliner', 'markerV0-old', undefined);
    const { runs, tasks } = await inspect(made);
    expect(runs).toBe(false);
    expect(tasks['zero-shot-token-classification']).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(
        "the option encoder with the location of its configuration and tokenizer, for example 'microsoft/deberta-v3-small'",
      ) as string,
    });
    const full = await inspect(made, '--encoder', `${kFixtures}gliner/old`, '--program');
    expect(full.runs).toBe(true);
    expect(full.program.at(-1)).toMatch(/^output /);
  });

  test('a bi-encoder says where the tokenizer of its labels has to come from', async () => {
    for (const [kind, name, task] of [
      ['gliner', 'bi', 'zero-shot-token-classification'],
      ['gliclass', 'bi', 'zero-shot-classification'],
    ] as const) {
      const made = await assemble(kind, name, 'tokenizer');
      const { tasks } = await inspect(made);
      expect(tasks[task]).toMatchObject({
        code: 'not_found',
        message: expect.stringContaining(
          "the option labels_encoder with the location of its files, for example 'BAAI/bge-small-en-v1.5'",
        ) as string,
      });
      const full = await inspect(made, '--labels-encoder', `${kFixtures}gliner/labels`);
      expect(full.tasks[task]).toBe(true);
      await rm(made, { recursive: true });
    }
  });

  test('an encoder in a folder within', async () => {
    const made = join(folder, 'sentence');
    await cp(kReader, join(made, '0_Transformer'), { recursive: true });
    const modules = [{ idx: 0, name: '0', path: '0_Transformer', type: 'sentence_transformers.models.Transformer' }];
    await writeFile(join(made, 'modules.json'), JSON.stringify(modules));
    expect(await inspect(made)).toMatchObject({ runs: true, tasks: { 'feature-extraction': true } });
  });
});
