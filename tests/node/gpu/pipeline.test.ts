import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type PipelineOptions, pipeline } from '../../../web/dist/index_node.js';
import { checkInspection } from '../support/inspection_cases.js';
import { readTensors, tinyText } from '../support/tiny.js';
import { readTiny } from '../support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function classifier(name: string, options: PipelineOptions = {}) {
  const tiny = await readTiny(name);
  const classify = await pipeline('text-classification', tiny.files, { device: 'webgpu', ...options });
  kOpen.push(classify);
  return { tiny, classify };
}

let shared: Awaited<ReturnType<typeof classifier>>;
beforeAll(async () => {
  shared = await classifier('deberta-v2-sequence');
  kOpen.pop();
});
afterAll(() => shared.classify.dispose());

// The second has position projections of its own, which are freed after they are folded.
test.each(['deberta-v2-sequence', 'deberta-v2-own-keys'])('%s: the reference logits', async (name) => {
  const { tiny, classify } = await classifier(name);
  expect(classify.info).toMatchObject({ device: 'webgpu', dtype: 'fp16', threads: 1, reason: 'the GPU was asked for.' });
  for (const text of ['a', 'b', 'c', 'd']) {
    const labels = await classify(tinyText(tiny.expected.get(`${text}.input_ids`)!), { top_k: null, function_to_apply: 'none' });
    const logits = tiny.expected.get(`${text}.logits`)!;
    expect(labels).toHaveLength(logits.length);
    for (const { label, score } of labels) expect(Math.abs(score - logits[Number(label.slice(6))]!)).toBeLessThan(1e-4);
  }
});

test.each(['convbert-sequence', 'deberta-v2-sequence'])('%s: maps, span kernels and hidden states of the reference', async (name) => {
  const { classify } = await classifier(name);
  const golden = readTensors(new Uint8Array(await readFile(new URL(`../../fixtures/attention/${name}.safetensors`, import.meta.url))));
  await checkInspection(classify.inspect, name, golden, 1e-4);
});

test('the trained ConvBERT says what it says on the CPU', async () => {
  const model = fileURLToPath(new URL('../../../models/peruse-sentiment-convbert-tiny', import.meta.url));
  const onGpu = await pipeline('text-classification', model, { device: 'webgpu' });
  const onCpu = await pipeline('text-classification', model, { device: 'cpu' });
  kOpen.push(onGpu, onCpu);
  for (const text of ['A lovely film.', 'Dull, and far too long; I left before the end.', '\u{1F600} ok']) {
    const expected = await onCpu(text);
    const [found] = await onGpu(text);
    expect(found!.label).toBe(expected[0]!.label);
    expect(found!.score).toBeCloseTo(expected[0]!.score, 4);
  }
});

test('q8 holds a quarter and says what q8 says on the CPU', async () => {
  const model = fileURLToPath(new URL('../../../models/peruse-sentiment-convbert-tiny', import.meta.url));
  const onGpu = await pipeline('text-classification', model, { device: 'webgpu', dtype: 'q8' });
  const onCpu = await pipeline('text-classification', model, { device: 'cpu', dtype: 'q8' });
  kOpen.push(onGpu, onCpu);
  expect(onGpu.info).toMatchObject({ device: 'webgpu', dtype: 'q8', gpu: { packedDot: true } });
  for (const text of ['A lovely film.', 'Dull, and far too long; I left before the end.']) {
    const expected = await onCpu(text);
    const [found] = await onGpu(text);
    expect(found!.label).toBe(expected[0]!.label);
    // Rounding may move an activation to the next of its 255 steps (tests/native/models/quantized_test.cc).
    expect(Math.abs(found!.score - expected[0]!.score)).toBeLessThan(0.005);
  }
});

test('many texts at once give what each gives alone', async () => {
  const { classify } = shared;
  const texts = Array.from({ length: 12 }, (_, i) => tinyText(Array.from({ length: 1 + (i % 5) * 7 }, (_, j) => (i * 7 + j * 5) % 48)));
  const together = await classify(texts, { top_k: null });
  for (const i of [0, 1, 4, 11]) {
    const alone = await classify(texts[i]!, { top_k: null });
    together[i]!.forEach(({ score }, k) => {
      expect(score).toBeCloseTo(alone[k]!.score, 5);
    });
  }
});

test('calls that overlap wait for each other', async () => {
  const { classify } = shared;
  const texts = ['t1 t2', 't3', 't4 t5 t6'];
  const alone = [];
  for (const text of texts) alone.push(await classify(text));
  expect(await Promise.all(texts.map((text) => classify(text)))).toEqual(alone);
});

test('float16 weights stay close to float32', async () => {
  const text = tinyText([3, 1, 4, 1, 5, 9, 2, 6]);
  const options = { top_k: null, function_to_apply: 'none' } as const;
  const { classify: half } = await classifier('deberta-v2-sequence-bf16'); // fp16 is the default
  const { classify: full } = await classifier('deberta-v2-sequence-bf16', { dtype: 'fp32' });
  const expected = new Map((await full(text, options)).map(({ label, score }) => [label, score]));
  // float16 holds the checkpoint's bfloat16 weights exactly, so only rounding differs.
  for (const { label, score } of await half(text, options)) expect(Math.abs(score - expected.get(label)!)).toBeLessThan(1e-5);
  expect((await half.memory()).weightBytes).toBeLessThan((await full.memory()).weightBytes);
});

// Limits for hidden states. With fp16, the float32 checkpoint is rounded to 11 bits.
test.each([
  ['fp32', 1e-4, 1e-10],
  ['fp16', 0.01, 1e-6],
] as const)('a float32 checkpoint with weights as %s', async (dtype, largest, meanSquare) => {
  const tiny = await readTiny('deberta-v2-question-f32');
  const answer = await pipeline('question-answering', tiny.files, { device: 'webgpu', dtype });
  kOpen.push(answer);
  const { hidden_states: states } = await answer.inspect(tinyText(tiny.expected.get('d.input_ids')!), { output_hidden_states: true });
  expect(states!.length).toBeGreaterThan(1);
  states!.forEach(({ data }, layer) => {
    const expected = tiny.expected.get(`d.hidden_states.${layer}`)!;
    let error = 0;
    let power = 0;
    expected.forEach((value, i) => {
      expect(Math.abs(data[i]! - value)).toBeLessThan(largest);
      error += (data[i]! - value) ** 2;
      power += value ** 2;
    });
    expect(error / power).toBeLessThan(meanSquare);
  });
});

test('a refused text leaves the pipeline usable', async () => {
  const { classify } = shared;
  const before = await classify('t1 t2');
  await expect(classify('t1', { top_k: 0 })).rejects.toMatchObject({ code: 'invalid_argument' });
  expect(await classify('t1 t2')).toEqual(before);
});

test('a disposed pipeline says so, also in the middle of a call', async () => {
  const { classify } = await classifier('deberta-v2-sequence');
  const running = classify('t1 t2');
  const ended = expect(running).rejects.toMatchObject({ name: 'AbortError', code: 'aborted' });
  await classify.dispose();
  await ended;
  await expect(classify('t1')).rejects.toMatchObject({ code: 'disposed' });
});

test.each([
  [{ variant: 'simd' }, 'invalid_argument'],
  [{ threads: 2 }, 'invalid_argument'],
] as const)('%o is refused by name', async (options, code) => {
  await expect(classifier('deberta-v2-sequence', options)).rejects.toMatchObject({ code });
});
