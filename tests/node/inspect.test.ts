import { readFile } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { type PipelineOptions, pipeline, type TaskOrAlias } from '../../web/dist/index_node.js';
import { nodeWasm } from '../../web/src/engine/wasm_node.js';
import type { WorkerMessage, WorkerRequest } from '../../web/src/worker/messages.js';
import { RemoteHost } from '../../web/src/worker/remote_host.js';
import { serve } from '../../web/src/worker/serve.js';
import { fakeEngine } from './support/fake_engine.js';
import { checkInspection, expectNear, kInspectionCases } from './support/inspection_cases.js';
import { readTensors, tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function load<T extends TaskOrAlias>(task: T, name: string, options: PipelineOptions = {}) {
  const made = await pipeline(task, (await readTiny(name)).files, options);
  kOpen.push(made);
  return made;
}

const golden = async (name: string) =>
  readTensors(new Uint8Array(await readFile(new URL(`../fixtures/attention/${name}.safetensors`, import.meta.url))));

test.each(kInspectionCases)('%s: maps, span kernels and hidden states of the reference', async (name) => {
  for (const worker of [false, true]) {
    const { inspect } = await load('text-classification', name, { worker });
    await checkInspection(inspect, name, await golden(name), 1e-5);
  }
});

test.each(kInspectionCases)('%s: a list of texts and ids gives the hidden states and maps of the reference', async (name) => {
  const reference = await golden(name);
  const ids = [...reference.get('input_ids')!];
  const inputs = ['t1', { ids }, { text: 't1', text_pair: 't2' }, tinyText(ids)];
  for (const options of [{ output_hidden_states: true }, { output_hidden_states: true, output_attentions: true }]) {
    const { inspect } = await load('text-classification', name, { worker: false, variant: 'simd' });
    const found = await inspect(inputs, options);
    expect(found.map(({ tokens }) => tokens.length)).toEqual([1, ids.length, 2, ids.length]);
    for (const one of [found[1]!, found[3]!]) {
      for (const [layer, { data }] of one.hidden_states!.entries()) {
        expectNear(data, reference.get(`hidden_states.${layer}`)!, 1e-5, `hidden states ${layer}`);
      }
      for (const [layer, { data }] of (one.attentions ?? []).entries()) {
        expectNear(data, reference.get(`attentions.${layer}`)!, 1e-5, `attention ${layer}`);
      }
    }
    expect(await inspect([])).toEqual([]);
  }
});

const kTerms = [
  ['content_to_content', 'c2c'],
  ['content_to_position', 'c2p'],
  ['position_to_content', 'p2c'],
] as const;

test.each(['deberta-v1-sequence', 'deberta-v1-c2p', 'deberta-v2-sequence', 'deberta-v2-own-keys-p2c', 'deberta-v2-conv'])(
  '%s: the terms of the scores are those of the reference, and make the attention together',
  async (name) => {
    const more = await golden(`${name}.more`);
    const { inspect } = await load('text-classification', name);
    const text = tinyText(more.get('input_ids')!);
    const found = await inspect(text, { output_attention_terms: true, output_attentions: true });
    const tokens = found.tokens.length;
    expect(found.attention_terms).toHaveLength(found.attentions!.length);
    for (const [layer, terms] of found.attention_terms!.entries()) {
      const { dims, data } = found.attentions![layer]!;
      const scores = new Float64Array(data.length);
      for (const [term, short] of kTerms) {
        expect(terms[term] !== undefined, `${term} ${layer}`).toBe(more.has(`${short}.${layer}`));
        if (terms[term] === undefined) continue;
        expect(terms[term].dims).toEqual(dims);
        expectNear(terms[term].data, more.get(`${short}.${layer}`)!, 1e-5, `${term} ${layer}`);
        for (const [i, value] of terms[term].data.entries()) scores[i]! += value;
      }
      for (let row = 0; row < scores.length; row += tokens) {
        const weights = scores.slice(row, row + tokens).map(Math.exp);
        const sum = weights.reduce((a, b) => a + b, 0);
        for (const [i, weight] of weights.entries()) expect(data[row + i]).toBeCloseTo(weight / sum, 5);
      }
    }
    const one = await inspect(text, { output_attention_terms: true, output_attentions: true, output_hidden_states: true, layers: [1] });
    expect(one.attention_terms).toEqual([found.attention_terms![1]]);
    expect(one.attentions).toEqual([found.attentions![1]]);
    expect(one.hidden_states).toHaveLength(1);
  },
);

test.each(kInspectionCases)('%s: head_mask is that of the reference', async (name) => {
  const more = await golden(`${name}.more`);
  const flat = more.get('head_mask')!;
  const text = tinyText(more.get('input_ids')!);
  for (const worker of [false, true]) {
    const classify = await load('text-classification', name, { worker });
    const { attentions } = await classify.inspect(text, { output_attentions: true });
    const heads = attentions![0]!.dims[0]!;
    const head_mask = attentions!.map((_, layer) => Array.from(flat.slice(layer * heads, (layer + 1) * heads)));
    const { hidden_states } = await classify.inspect(text, { output_hidden_states: true, head_mask });
    for (const [index, { data }] of hidden_states!.entries()) {
      expectNear(data, more.get(`masked.hidden_states.${index}`)!, 2e-5, `${name}: hidden state ${index}`);
    }
    const whole = await classify(text, { top_k: null });
    const muted = await classify(text, { top_k: null, head_mask });
    expect(muted).not.toEqual(whole);
    const all = head_mask.map((layer) => layer.map(() => 1));
    expect(await classify(text, { top_k: null, head_mask: all })).toEqual(whole);
    expect(await classify(text, { top_k: null })).toEqual(whole);
    for (const wrong of [[], [[1]], head_mask.slice(1), [...head_mask, []], head_mask.map(() => ['no'])]) {
      const call = classify(text, { head_mask: wrong as number[][] });
      await expect(call).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('head_mask') });
    }
    expect(await classify(text, { top_k: null })).toEqual(whole);
  }
});

test('tokens alone, and what was not asked for is not there', async () => {
  const { inspect } = await load('text-classification', 'convbert-sequence');
  expect(await inspect('t5 \u{1F600} t17')).toEqual({
    tokens: [
      { token: 't5', id: 5, start: 0, end: 2, special: false, sequence: 0 },
      { token: 't0', id: 0, start: 3, end: 5, special: false, sequence: 0 },
      { token: 't17', id: 17, start: 6, end: 9, special: false, sequence: 0 },
    ],
  });
  expect(Object.keys(await inspect('t5 t17', { output_hidden_states: true }))).toEqual(['tokens', 'hidden_states']);
  const pair = await inspect({ text: 't1', text_pair: 't2 t3' }, { output_attentions: true });
  expect(pair.tokens.map(({ sequence, start, end }) => [sequence, start, end])).toEqual([
    [0, 0, 2],
    [1, 0, 2],
    [1, 3, 5],
  ]);
  expect(pair.diagonal_concentration).toEqual([
    [Infinity, Infinity],
    [Infinity, Infinity],
  ]);
});

test('every task has it, and its own calls give what they gave', async () => {
  const kTasks: [TaskOrAlias, string][] = [
    ['question-answering', 'deberta-v2-question'],
    ['token-classification', 'bert-token'],
    ['multiple-choice', 'convbert-choice'],
    ['replaced-token-detection', 'electra-rtd'],
    ['feature-extraction', 'convbert-sequence'],
  ];
  for (const [task, name] of kTasks) {
    const { inspect } = await load(task, name);
    const { attentions, tokens } = await inspect({ text: 't1 t2', text_pair: 't3' }, { output_attentions: true });
    expect(attentions![0]!.dims.slice(1), task).toEqual([3, 3]);
    expect(tokens, task).toHaveLength(3);
  }
  const classify = await load('text-classification', 'convbert-sequence');
  const before = await classify('t1 t2 t3', { top_k: null });
  await classify.inspect('t4 t5', { output_attentions: true, output_span_kernels: true });
  expect(await classify('t1 t2 t3', { top_k: null })).toEqual(before);
  const both = await Promise.all([classify('t1 t2 t3', { top_k: null }), classify.inspect('t4 t5'), classify('t1 t2 t3', { top_k: null })]);
  expect(both[0]).toEqual(before);
  expect(both[2]).toEqual(before);
});

test.each([
  ['span kernels of BERT', 'bert-sequence', 't1', { output_span_kernels: true }, 'unsupported', /type bert/],
  ['terms of BERT', 'bert-sequence', 't1', { output_attention_terms: true }, 'unsupported', /type bert.*deberta/],
  ['a layer that is none', 'bert-sequence', 't1', { output_attentions: true, layers: [9] }, 'invalid_argument', /layers holds 9/],
  ['layers that are no list', 'bert-sequence', 't1', { output_attentions: true, layers: 1 }, 'invalid_argument', /a list of integers/],
  ['a long text', 'bert-sequence', 't1 '.repeat(70), { output_attentions: true }, 'text_too_long', /70 tokens.*64/],
  ['a list in a list', 'bert-sequence', ['t1', ['t2']], {}, 'invalid_argument', /or a list of these/],
  ['labels with several texts', 'bert-sequence', ['t1', 't2'], { labels: ['a'] }, 'unsupported', /labels/],
  ['ids that are no numbers', 'bert-sequence', [{ ids: [1] }, { ids: ['t1'] }], {}, 'invalid_argument', /ids must be a list of integers/],
  ['a long text in a list', 'bert-sequence', ['t1', 't1 '.repeat(70)], { output_logits: true }, 'text_too_long', /Input 1/],
  ['half a pair', 'bert-sequence', { text: 't1' }, {}, 'invalid_argument', /text_pair/],
  ['an unknown option', 'bert-sequence', 't1', { output_everything: true }, 'invalid_argument', /output_everything/],
  ['an option of another type', 'bert-sequence', 't1', { output_attentions: 'yes' }, 'invalid_argument', /output_attentions/],
  ['a signal that has fired', 'bert-sequence', 't1', { signal: AbortSignal.abort() }, 'aborted', /./],
] as const)('%s is refused, and the next call succeeds', async (_, name, input, options, code, message) => {
  for (const worker of [false, true]) {
    const { inspect } = await load('text-classification', name, { worker });
    const call = inspect as (...args: unknown[]) => Promise<unknown>;
    const errorName = code === 'aborted' ? 'AbortError' : 'PeruseError';
    await expect(call(input, options)).rejects.toMatchObject({ name: errorName, code, message: expect.stringMatching(message) });
    expect((await inspect('t1')).tokens).toHaveLength(1);
  }
});

test('after dispose it says so', async () => {
  const classify = await load('text-classification', 'bert-sequence');
  await classify.dispose();
  await expect(classify.inspect('t1')).rejects.toMatchObject({ code: 'disposed' });
});

test('a worker hands the arrays over without copying them', async () => {
  const { engine } = fakeEngine({
    inspection: { tokens: [], attentions: [{ array: 0, dims: [1, 2, 2] }], hidden_states: [{ array: 1, dims: [2, 3] }] },
  });
  const transfers: number[][] = [];
  let toHost: (message: WorkerMessage) => void = () => {};
  let toWorker: (request: WorkerRequest) => void = () => {};
  serve(
    (message, transfer = []) => {
      transfers.push(transfer.map(({ byteLength }) => byteLength));
      const moved = structuredClone(message, { transfer });
      expect(transfer.every(({ byteLength }) => byteLength === 0)).toBe(true);
      toHost(moved);
    },
    (listener) => {
      toWorker = listener;
    },
    { ...nodeWasm, startEngine: async () => engine },
  );
  const host = new RemoteHost(
    {
      post: (message) => toWorker(message),
      onMessage: (listener) => {
        toHost = listener;
      },
      onDeath: () => {},
      terminate: vi.fn(),
    },
    () => {},
  );
  const files = new Map(['config.json', 'tokenizer.json', 'model.safetensors'].map((name) => [name, new TextEncoder().encode('{}')]));
  await host.call('load', {
    task: { name: 't' },
    dtype: 'f32',
    choice: { variant: 'simd', threads: 1, reason: '' },
    source: { kind: 'bytes', name: 'x', files },
  });
  transfers.length = 0;
  expect(await host.call('inspect', { inputs: [{ text: 'x' }], options: {} })).toEqual([
    {
      tokens: [],
      attentions: [{ dims: [1, 2, 2], data: new Float32Array(4) }],
      hidden_states: [{ dims: [2, 3], data: new Float32Array(6) }],
    },
  ]);
  expect(transfers).toEqual([[16, 24]]);
  await host.call('run', { inputs: [{ text: 'x' }], options: {} });
  expect(transfers.at(-1)).toEqual([]);
});
