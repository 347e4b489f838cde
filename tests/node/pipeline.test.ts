import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { env, PeruseError, type PipelineOptions, type ProgressInfo, pipeline } from '../../web/dist/index_node.js';
import { startModelServer } from './support/model_server.js';
import { type Files, joinSafetensors, splitSafetensors, type TensorEntry, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function classifier(files: Files | string, options: PipelineOptions = {}) {
  const made = await pipeline('text-classification', files, options);
  kOpen.push(made);
  return made;
}

let tiny: Awaited<ReturnType<typeof readTiny>>;
let reader: Awaited<ReturnType<typeof readTiny>>;
beforeAll(async () => {
  tiny = await readTiny('deberta-v2-sequence');
  reader = await readTiny('deberta-v2-question');
});

describe.each([false, true])('with worker: %s', (worker) => {
  test.each(['simd', 'simd-threads'] as const)('the variant %s reproduces the reference logits', async (variant) => {
    const classify = await classifier(tiny.files, { worker, variant });
    for (const text of ['a', 'b', 'c', 'd']) {
      const ids = tiny.expected.get(`${text}.input_ids`)!;
      const labels = await classify(tinyText(ids), { top_k: null, function_to_apply: 'none' });
      const logits = tiny.expected.get(`${text}.logits`)!;
      expect(labels).toHaveLength(logits.length);
      for (const { label, score } of labels) expect(Math.abs(score - logits[Number(label.slice(6))]!)).toBeLessThan(1e-5);
      expect(labels.map(({ score }) => score)).toEqual(labels.map(({ score }) => score).sort((a, b) => b - a));
    }
  });

  test('many texts at once give what each gives alone', async () => {
    const classify = await classifier(tiny.files, { worker });
    const texts = Array.from({ length: 200 }, (_, i) => tinyText(Array.from({ length: 1 + (i % 30) }, (_, j) => (i * 7 + j * 5) % 48)));
    const together = await classify(texts, { top_k: null });
    for (const i of [0, 1, 29, 30, 99, 199]) {
      const alone = await classify(texts[i]!, { top_k: null });
      expect(together[i]!.map(({ label }) => label)).toEqual(alone.map(({ label }) => label));
      together[i]!.forEach(({ score }, k) => {
        expect(score).toBeCloseTo(alone[k]!.score, 5);
      });
    }
  });

  test('usage counts calls and every token that was read, windows and all', async () => {
    const answer = await pipeline('question-answering', reader.files, { worker });
    kOpen.push(answer);
    expect(await answer.usage()).toEqual({ calls: 0, tokens: 0, milliseconds: 0 });
    await answer('t1 t2', 't3 t4 t5'); // this tokenizer does not add special tokens
    const once = await answer.usage();
    expect(once).toMatchObject({ calls: 1, tokens: 5 });
    expect(once.milliseconds).toBeGreaterThan(0);
    // Windows of ten tokens leave eight to the context and share two, so they begin at its tokens 0 and 6.
    await answer('t1 t2', Array.from({ length: 14 }, (_, i) => `t${i + 5}`).join(' '), { max_length: 10, stride: 2 });
    expect(await answer.usage()).toMatchObject({ calls: 2, tokens: 5 + 2 * 10 });
    await expect(answer('t1', 't2', { stride: 999 })).rejects.toMatchObject({ code: 'invalid_argument' });
    await answer('', '');
    expect(await answer.usage()).toMatchObject({ calls: 3, tokens: 25 });
  });

  test('the shape of results is that of transformers.js', async () => {
    const classify = await classifier(tiny.files, { worker });
    expect(await classify('t1 t2')).toEqual([{ label: expect.stringMatching(/^LABEL_\d$/), score: expect.any(Number) }]);
    expect(await classify('t1', { top_k: 2 })).toHaveLength(2);
    expect(await classify(['t1', 't2'])).toEqual([
      expect.objectContaining({ label: expect.any(String) }),
      expect.objectContaining({ label: expect.any(String) }),
    ]);
    expect(await classify(['t1', 't2'], { top_k: 2 })).toEqual([
      [expect.anything(), expect.anything()],
      [expect.anything(), expect.anything()],
    ]);
    expect(await classify({ text: 't1', text_pair: 't2 t3' })).toHaveLength(1);
    expect(await classify([])).toEqual([]);
  });

  test("answers are cut from the caller's text by UTF-16 indices", async () => {
    const answer = await pipeline('question-answering', reader.files, { worker });
    kOpen.push(answer);
    const context = 't5 t17 \u{1F600} t3 t40 t22 \uD83D t8';
    const best = await answer('t1 t2', context);
    expect(context.slice(best.start, best.end)).toBe(best.answer);
    expect(best.score).toBeGreaterThan(0);
    const several = await answer('t1 t2', context, { top_k: 3 });
    expect(several).toHaveLength(3);
    expect(several[0]).toEqual(best);
    expect(await answer(['t1', 't2'], [context, 't9 t10 t11'])).toHaveLength(2);
    const long = Array.from({ length: 500 }, (_, i) => `t${i % 48}`).join(' ');
    const far = await answer('t1', long, { max_length: 24, stride: 8 });
    expect(long.slice(far.start, far.end)).toBe(far.answer);
  });

  test('info says what was loaded, where it runs and why', async () => {
    const progress: ProgressInfo[] = [];
    const classify = await classifier(tiny.files, { worker, threads: 1, progress_callback: (info) => progress.push(info) });
    const relaxed = Number(process.versions.node.split('.')[0]) >= 22;
    expect(classify.info).toEqual({
      task: 'text-classification',
      model: 'the given files',
      device: 'cpu',
      dtype: 'fp32',
      worker,
      shared: false,
      variant: relaxed ? 'relaxed' : 'simd',
      threads: 1,
      reason: expect.stringContaining('1 thread, as asked for'),
      bytes: Object.values(tiny.files).reduce((sum, file) => sum + file.length, 0),
      milliseconds: expect.any(Number),
      weights: {
        file: 'model.safetensors',
        architecture: 'DebertaV2ForSequenceClassification',
        tensors: expect.any(Number),
        weightBytes: expect.any(Number),
        headTensors: expect.arrayContaining([expect.stringContaining('classifier')]),
        extraTensors: [],
      },
      notices: [],
    });
    expect(progress.at(-1)).toEqual({ status: 'ready', task: 'text-classification', model: 'the given files' });
    const { heapBytes, weightBytes } = await classify.memory();
    expect(weightBytes).toBeGreaterThan(0);
    expect(heapBytes).toBeGreaterThan(weightBytes);
  });

  test('after dispose every call says so', async () => {
    const classify = await classifier(tiny.files, { worker });
    await classify.dispose();
    await classify.dispose();
    await expect(classify('t1')).rejects.toMatchObject({ code: 'disposed' });
    await expect(classify.memory()).rejects.toMatchObject({ code: 'disposed' });
    await expect(classify.usage()).rejects.toMatchObject({ code: 'disposed' });
  });

  test.runIf(process.platform === 'linux')('dispose ends every thread that loading started', async () => {
    const threads = async () => Number(/Threads:\s*(\d+)/.exec(await readFile('/proc/self/status', 'utf8'))![1]);
    await (await classifier(tiny.files, { worker, variant: 'simd-threads', threads: 3 })).dispose();
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    }); // ending takes a moment
    const before = await threads();
    for (let i = 0; i < 3; ++i) {
      const classify = await classifier(tiny.files, { worker, variant: 'simd-threads', threads: 3 });
      await classify('t1');
      expect(await threads()).toBeGreaterThan(before);
      await classify.dispose();
    }
    await expect.poll(threads, { timeout: 20_000 }).toBeLessThanOrEqual(before);
  });

  const kBadCalls: [string, unknown, unknown, string][] = [
    ['an empty text and no special tokens', '', {}, 'empty_text'],
    ['white space', ' \t\n ', {}, 'empty_text'],
    ['an empty text among others', ['t1', ''], {}, 'empty_text'],
    ['no text', undefined, {}, 'invalid_argument'],
    ['a number', 7, {}, 'invalid_argument'],
    ['half a pair', { text: 't1' }, {}, 'invalid_argument'],
    ['top_k: 0', 't1', { top_k: 0 }, 'invalid_argument'],
    ['top_k: NaN', 't1', { top_k: Number.NaN }, 'invalid_argument'],
    ['top_k: "2"', 't1', { top_k: '2' }, 'invalid_argument'],
    ['an unknown function', 't1', { function_to_apply: 'max' }, 'invalid_argument'],
    ['an unknown option', 't1', { top_n: 2 }, 'invalid_argument'],
    ['an option that is a function', 't1', { top_k: () => 1 }, 'invalid_argument'],
    ['options that are no object', 't1', null, 'invalid_argument'],
  ];
  test('bad calls are one clear error each, and the next call succeeds', async () => {
    const classify = await classifier(tiny.files, { worker });
    for (const [what, input, options, code] of kBadCalls) {
      const error = await (classify as (...args: unknown[]) => Promise<unknown>)(input, options).catch((thrown: unknown) => thrown);
      expect(error, what).toBeInstanceOf(PeruseError);
      expect(error, what).toMatchObject({ code });
      expect(await classify('t1'), what).toHaveLength(1);
    }
  });

  test('odd and huge texts are read', async () => {
    const classify = await classifier(tiny.files, { worker });
    for (const text of ['\uD83D', 'a\0b', '\u200B\u0301x', '\u{1F468}\u200D\u{1F469}', 'x'.repeat(10_000)]) {
      expect(await classify(text), JSON.stringify(text.slice(0, 20))).toHaveLength(1);
    }
    const huge = 't1 '.repeat(2000);
    expect(await classify(huge, { truncation: true, max_length: 30 })).toEqual(await classify('t1 '.repeat(30)));
  });

  test('a signal cancels a call, and the next call succeeds', async () => {
    const classify = await classifier(tiny.files, { worker });
    const controller = new AbortController();
    const texts = Array.from({ length: 3000 }, () => 't1 t2 t3 t4 t5 t6 t7 t8 t9 t10'.repeat(2));
    const call = classify(texts, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await expect(call).rejects.toMatchObject({ code: 'aborted' });
    await expect(classify('t1', { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    expect(await classify('t1')).toHaveLength(1);
  });

  test('a signal cancels loading', async () => {
    const server = await startModelServer({
      ...tiny.files,
      'model.safetensors': (_, response) => {
        response.writeHead(200).write('x');
      },
    });
    try {
      const controller = new AbortController();
      const loading = classifier(server.url, { worker, signal: controller.signal });
      setTimeout(() => controller.abort(), 100);
      await expect(loading).rejects.toMatchObject({ code: 'aborted' });
      await expect(classifier(server.url, { worker, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
    } finally {
      await server.close();
    }
  });
});

describe('bad checkpoints are one clear error each, and a good one loads afterwards', () => {
  const kEdit = (files: Files, edit: (header: Record<string, TensorEntry>, body: Uint8Array) => Uint8Array) => {
    const { header, body } = splitSafetensors(files['model.safetensors']!);
    return { ...files, 'model.safetensors': edit(header, body) };
  };
  const kConfig = (files: Files, change: (config: Record<string, unknown>) => void) => {
    const config = JSON.parse(new TextDecoder().decode(files['config.json']!)) as Record<string, unknown>;
    change(config);
    return { ...files, 'config.json': new TextEncoder().encode(JSON.stringify(config)) };
  };
  const firstOf = (header: Record<string, TensorEntry>, part: string) => Object.keys(header).find((name) => name.includes(part))!;

  const kCases: [string, (files: Files) => Files, string, RegExp][] = [
    [
      'a truncated file',
      (f) => ({ ...f, 'model.safetensors': f['model.safetensors']!.subarray(0, 20_000) }),
      'truncated_file',
      /safetensors/,
    ],
    [
      'a file that ends in its header',
      (f) => ({ ...f, 'model.safetensors': f['model.safetensors']!.subarray(0, 100) }),
      'truncated_file',
      /safetensors|header/,
    ],
    ['an empty file', (f) => ({ ...f, 'model.safetensors': new Uint8Array(0) }), 'truncated_file', /The weights end after 0 bytes/],
    ['a header that is not JSON', (f) => kEdit(f, (_, body) => joinSafetensors('{"a":', body)), 'malformed_file', /header|JSON/],
    [
      'a header of absurd length',
      (f) => ({ ...f, 'model.safetensors': new Uint8Array(100).fill(255) }),
      'malformed_file',
      /neither safetensors/,
    ],
    [
      'overlapping tensors',
      (f) =>
        kEdit(f, (h, body) => {
          h[Object.keys(h).filter((name) => name !== '__metadata__')[1]!]!.data_offsets = [0, 64];
          return joinSafetensors(h, body);
        }),
      'malformed_file',
      /./,
    ],
    [
      'a missing tensor',
      (f) =>
        kEdit(f, (h, body) => {
          const name = firstOf(h, 'layer.1.intermediate.dense.weight');
          h['another.name'] = h[name]!;
          delete h[name];
          return joinSafetensors(h, body);
        }),
      'missing_tensor',
      /layer\.1\.intermediate\.dense\.weight/,
    ],
    [
      'a wrong shape',
      (f) =>
        kConfig(f, (c) => {
          c.intermediate_size = 50;
        }),
      'shape_mismatch',
      /intermediate.*48.*50|intermediate.*50.*48/s,
    ],
    ['a head of another task', () => reader.files, 'missing_head', /./],
    [
      'another architecture',
      (f) =>
        kConfig(f, (c) => {
          c.model_type = 'gpt2';
          c.architectures = ['GPT2LMHeadModel'];
        }),
      'unsupported',
      /gpt2/i,
    ],
    [
      'a configuration that is not JSON',
      (f) => ({ ...f, 'config.json': new TextEncoder().encode('{"model_type":') }),
      'malformed_file',
      /config\.json/,
    ],
    [
      'a tokenizer that is not JSON',
      (f) => ({ ...f, 'tokenizer.json': new TextEncoder().encode('{]') }),
      'malformed_file',
      /tokenizer\.json/,
    ],
    [
      'a missing file',
      (f) => {
        const { 'model.safetensors': _, ...rest } = f;
        return rest;
      },
      'not_found',
      /model\.safetensors/,
    ],
  ];

  test.each(kCases)('%s', async (_, spoil, code, message) => {
    const error = await classifier(spoil(tiny.files)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PeruseError);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await (await classifier(tiny.files))('t1')).toHaveLength(1);
  });

  test.each([
    ['an unknown task', () => pipeline('translation' as 'text-classification', tiny.files), 'invalid_argument'],
    ['an unknown device', () => classifier(tiny.files, { device: 'tpu' as 'cpu' }), 'invalid_argument'],
    ['an unknown dtype', () => classifier(tiny.files, { dtype: 'q3' as 'q8' }), 'invalid_argument'],
    ['a folder that is not there', () => classifier('./no/such/folder'), 'not_found'],
    ['a source of no sense', () => classifier('what is this?'), 'invalid_argument'],
  ] as [string, () => Promise<unknown>, string][])('%s', async (_, load, code) => {
    await expect(load()).rejects.toMatchObject({ name: 'PeruseError', code });
  });

  test.each([true, false])('builds that are elsewhere (worker: %s)', async (worker) => {
    env.filesPath = 'file:///nowhere/';
    try {
      await expect(classifier(tiny.files, { worker })).rejects.toMatchObject({ name: 'PeruseError', code: 'no_wasm' });
    } finally {
      env.filesPath = undefined;
    }
  });
});

test('a text that is too long for the model is cut, or refused if the caller says so', async () => {
  const { files } = await readTiny('convbert-sequence'); // at most 64 tokens
  const classify = await classifier(files);
  const long = 't1 t2 '.repeat(40);
  await expect(classify(long, { truncation: false })).rejects.toMatchObject({
    code: 'text_too_long',
    message: expect.stringMatching(/80 tokens.*64/),
  });
  expect(await classify(long, { truncation: true })).toEqual(await classify('t1 t2 '.repeat(32)));
});

test('a folder, a URL and bytes are the same model', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'peruse-test-'));
  const server = await startModelServer(tiny.files);
  try {
    for (const [name, content] of Object.entries(tiny.files)) await writeFile(join(folder, name), content);
    const results = [];
    for (const source of [folder, `file://${folder}`, server.url, tiny.files]) {
      results.push(await (await classifier(source as string))('t4 t8 t15 t16 t23 t42', { top_k: null }));
    }
    for (const result of results) expect(result).toEqual(results[0]);
  } finally {
    await server.close();
    await rm(folder, { recursive: true });
  }
});
