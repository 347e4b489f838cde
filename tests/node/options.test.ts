import { afterEach, describe, expect, test } from 'vitest';
import { type PipelineOptions, pipeline, type Task, type TaskOrAlias } from '../../web/dist/index_node.js';
import { checkPipelineOptions } from '../../web/src/pipeline_options.js';
import { kTasks } from '../../web/src/tasks/tasks.js';
import { expectNear } from './support/inspection_cases.js';
import { tinyText } from './support/tiny.js';
import { readTiny } from './support/tiny_files.js';

const kOpen: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(kOpen.splice(0).map((one) => one.dispose()));
});

async function load<T extends TaskOrAlias>(task: T, name: string, options: PipelineOptions = {}) {
  const made = await pipeline(task, (await readTiny(name)).files, options as object);
  kOpen.push(made);
  return made;
}

const message = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_argument' });
    return (error as Error).message;
  }
  return '';
};

describe('options of a load', () => {
  test('names are in one letter case', () => {
    for (const task of Object.keys(kTasks) as Task[]) {
      const names = /It has (.*)\.$/.exec(message(() => checkPipelineOptions(task, { nonsense: 1 } as object)))![1]!.split(', ');
      expect(names).toContain('threads');
      for (const name of names) expect(name).toMatch(/^[a-z0-9]+(_[a-z0-9]+)*$/);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test.each([
    ['text-classification', 'enhanced_mask_decoder', 'fill-mask'],
    ['feature-extraction', 'id2label', 'text-classification, token-classification, zero-shot-classification, text-ranking, redact'],
    ['question-answering', 'labels_encoder', 'zero-shot-classification, zero-shot-token-classification, redact'],
    ['token-classification', 'patterns', 'redact'],
  ] as const)('%s has no %s, which is an option of %s', (task, name, owners) => {
    const said = message(() => checkPipelineOptions(task, { [name]: true } as object));
    expect(said).toContain(`Pipeline('${task}') has no option '${name}'; it is an option of ${owners}.`);
    const accepting = (Object.keys(kTasks) as Task[]).filter(
      (other) => message(() => checkPipelineOptions(other, { [name]: true } as object)) === '',
    );
    expect(accepting.sort()).toEqual(owners.split(', ').sort());
  });

  test("transformers.js's names mean the same", () => {
    expect(checkPipelineOptions('fill-mask', { quantized: true })).toEqual({ dtype: 'q8' });
    expect(checkPipelineOptions('fill-mask', { quantized: false })).toEqual({ dtype: 'fp32' });
    expect(checkPipelineOptions('fill-mask', { quantized: true, dtype: 'q4' })).toEqual({ dtype: 'q4' });
    expect(checkPipelineOptions('fill-mask', { local_files_only: true })).toEqual({ offline: true });
    expect(checkPipelineOptions('fill-mask', { device: 'wasm', dtype: null as never })).toEqual({ device: 'wasm' });
  });
});

test.each([
  ['text-classification', 'convbert-sequence', 'max_answer_len', 'question-answering'],
  ['question-answering', 'convbert-question', 'aggregation_strategy', 'token-classification, redact'],
  ['fill-mask', 'convbert-masked-lm', 'stride', 'text-classification, question-answering, token-classification, redact'],
] as const)("a call of %s names the tasks that have %s's option %s", async (task, name, option, owners) => {
  const run = (await load(task, name)) as unknown as (...given: unknown[]) => Promise<unknown>;
  const given = task === 'question-answering' ? ['t1', 't2 t3'] : ['t1'];
  const error = await run(...given, { [option]: 1 }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringContaining(`${task} has no option '${option}', `) });
  const named = /which is an option of ([\w, -]+);/.exec((error as Error).message)![1]!.split(', ');
  expect(named.sort()).toEqual(owners.split(', ').sort());
});

test("text-classification takes transformers.js 2's topk", async () => {
  const classify = await load('text-classification', 'convbert-sequence');
  expect(await classify('t1', { topk: 2 })).toEqual(await classify('t1', { top_k: 2 }));
  expect(await classify('t1', { topk: 3, top_k: 1 })).toHaveLength(1);
});

test('fill-mask returns one shape for each form of the call', async () => {
  const { files } = await readTiny('convbert-masked-lm');
  const tokenizer = JSON.parse(new TextDecoder().decode(files['tokenizer.json'])) as { added_tokens: object[] };
  tokenizer.added_tokens = [{ id: 7, content: 't7', special: true, single_word: true, lstrip: false, rstrip: false, normalized: false }];
  const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));
  const masked = { ...files, 'tokenizer.json': encode(tokenizer), 'tokenizer_config.json': encode({ mask_token: 't7' }) };
  const fill = await pipeline('fill-mask', masked);
  kOpen.push(fill);
  const proposal = { score: expect.any(Number), token: expect.any(Number), token_str: expect.any(String), sequence: expect.any(String) };
  const options = { top_k: 1 };
  expect(await fill('t1 t7', options)).toEqual([proposal]);
  expect(await fill(['t1 t7', 't7 t2'], options)).toEqual([[proposal], [proposal]]);
  expect(await fill('t1 t7', { ...options, all_masks: true })).toEqual([[proposal]]);
  expect(await fill('t7 t1 t7', { ...options, all_masks: true })).toEqual([[proposal], [proposal]]);
  expect(await fill(['t7 t1 t7', 't7'], { ...options, all_masks: true })).toEqual([[[proposal], [proposal]], [[proposal]]]);
  await expect(fill(['t7', 't7 t1 t7'], options)).rejects.toMatchObject({
    code: 'invalid_argument',
    message: 'Input 1 has 2 masks: pass all_masks: true, which returns a list for each.',
  });
});

test.each([
  ['text-classification', 'deberta-v2-sequence'],
  ['token-classification', 'deberta-v1-token'],
  ['question-answering', 'deberta-v2-question'],
  ['fill-mask', 'distilbert-masked-lm'],
  ['replaced-token-detection', 'deberta-v2-rtd'],
] as const)('raw logits and hidden states of %s are those of the reference', async (task, name) => {
  const { expected } = await readTiny(name);
  const ids = expected.get('c.input_ids')!;
  const run = await load(task, name);
  const { logits, hidden_states } = await run.inspect(tinyText(ids), { output_logits: true, output_hidden_states: true });
  const [starts, ends] = [expected.get('c.start_logits'), expected.get('c.end_logits')];
  const reference = starts && ends ? Float32Array.from([...starts].flatMap((start, i) => [start, ends[i]!])) : expected.get('c.logits')!;
  expectNear(logits!.data, reference, 2e-5, name);
  const count = ids.length;
  expect(logits!.dims).toEqual(task === 'text-classification' ? [reference.length] : [count, reference.length / count]);
  expectNear(hidden_states!.at(-1)!.data, expected.get(`c.hidden_states.${hidden_states!.length - 1}`)!, 2e-5, name);
});

test('feature-extraction has no logits', async () => {
  const { inspect } = await load('feature-extraction', 'bert-sequence');
  await expect(inspect('t1', { output_logits: true })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('output_logits'),
  });
});
