// inspect() on the real engine, in this thread and in a worker.
import { readFile } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { pipeline, type PipelineOptions, type TaskOrAlias } from '../../web/dist/index_node.js';
import { RemoteHost, serve, type WorkerMessage, type WorkerRequest } from '../../web/src/worker/worker_host.js';
import { fakeEngine } from './support/fake_engine.js';
import { checkInspection, kInspectionCases } from './support/inspection_cases.js';
import { readTensors } from './support/tiny.js';
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
  ['an empty text', 'bert-sequence', '', { output_attentions: true }, 'empty_text', /./],
  ['a long text', 'bert-sequence', 't1 '.repeat(70), { output_attentions: true }, 'text_too_long', /70 tokens.*64/],
  ['several texts', 'bert-sequence', ['t1', 't2'], {}, 'invalid_argument', /one at a time/],
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
    { startEngine: async () => engine },
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
  const files = new Map(['config.json', 'tokenizer.json', 'model.safetensors'].map((name) => [name, new Uint8Array(2)]));
  await host.call('load', {
    task: 't',
    dtype: 'f32',
    choice: { variant: 'simd', threads: 1, reason: '' },
    source: { kind: 'bytes', name: 'x', files },
  });
  transfers.length = 0;
  expect(await host.call('inspect', { input: { text: 'x' }, options: {} })).toEqual({
    tokens: [],
    attentions: [{ dims: [1, 2, 2], data: new Float32Array(4) }],
    hidden_states: [{ dims: [2, 3], data: new Float32Array(6) }],
  });
  expect(transfers).toEqual([[16, 24]]);
  await host.call('run', { inputs: [{ text: 'x' }], options: {} });
  expect(transfers.at(-1)).toEqual([]);
});
