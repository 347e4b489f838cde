// Programs in the style of transformers.js' documentation run with only the import changed, on tiny models under their ids. The comment at the
// end of a program is its expected output.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { env, pipeline, type Task, Tensor } from '../../web/dist/index_node.js';
import { pipelineModel } from './support/pipeline_models.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const programs = join(root, 'tests/node/transformers_js');
const folder = mkdtempSync(join(root, 'build/transformers-js-')); // inside the repository, so that 'peruse' is found
afterAll(() => rmSync(folder, { recursive: true }));

const kLinked: Record<string, string> = {
  sentiment: 'models/peruse-sentiment-convbert-tiny',
  reader: 'models/peruse-reader-deberta-tiny',
  ner: 'models/peruse-tagger-convbert-tiny',
  embedder: 'tests/fixtures/sentence/mean',
};

beforeAll(async () => {
  mkdirSync(join(folder, 'local/user'), { recursive: true });
  for (const [name, path] of Object.entries(kLinked)) symlinkSync(join(root, path), join(folder, 'local/user', name));
  const made = {
    nli: await pipelineModel('convbert', 'sequence', { id2label: { 0: 'contradiction', 1: 'neutral', 2: 'entailment' } }),
    masked: await pipelineModel('convbert', 'masked-lm'),
    ranker: await pipelineModel('convbert', 'one-logit'),
  };
  for (const [name, files] of Object.entries(made)) {
    mkdirSync(join(folder, 'local/user', name));
    for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, 'local/user', name, file), content);
  }
  writeFileSync(join(folder, 'settings.mjs'), "import { env } from 'peruse';\nenv.localModelPath = './local';\nenv.offline = true;\n");
});

const kNames = readdirSync(programs);

test('they are sixteen', () => expect(kNames).toHaveLength(16));

/** Ten need the names of peruse only. */
const packageOf = (name: string) => (Number(name.slice(0, 2)) <= 10 ? 'peruse' : 'peruse/transformers');

test.each(kNames)('%s', (name) => {
  const code = readFileSync(join(programs, name), 'utf8').replace('@huggingface/transformers', packageOf(name));
  const lines = code.trimEnd().split('\n');
  const printed: string[] = [];
  while (lines.at(-1)!.startsWith('// ')) printed.unshift(lines.pop()!.slice(3));
  expect(printed.length).toBeGreaterThan(0);
  writeFileSync(join(folder, name.replace('.js', '.mjs')), code);
  const run = spawnSync(process.execPath, ['--import', './settings.mjs', name.replace('.js', '.mjs')], { cwd: folder, encoding: 'utf8' });
  expect({ err: run.stderr, out: run.stdout }).toEqual({ err: '', out: `${printed.join('\n')}\n` });
});

test('a pipeline without a model names one, and loads none', async () => {
  for (const task of ['sentiment-analysis', 'feature-extraction', 'redact'] as Task[]) {
    const refused = expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(/for example '[\w-]+\/[\w.-]+'/) });
    await expect(pipeline(task, undefined as never)).rejects.toThrow(refused);
  }
  await expect(pipeline('multiple-choice', undefined as never)).rejects.toThrow('needs a model');
});

test('what transformers.js calls settings, and Peruse ignores, is a notice of the next pipeline', async () => {
  env.logLevel = 30;
  const classify = await pipeline('text-classification', join(root, 'models/peruse-sentiment-convbert-tiny'), { worker: false });
  expect(classify.info.notices).toContainEqual(expect.stringContaining('env.logLevel is ignored'));
  await classify.dispose();
});

test('several texts: a tensor with pooling, and a list without', async () => {
  const embed = await pipeline('feature-extraction', join(root, 'tests/fixtures/sentence/mean'), { worker: false });
  const texts = ['A text.', 'Another text.'];
  const batch = await embed(texts, { pooling: 'last_token', normalize: true });
  expect(batch).toBeInstanceOf(Tensor);
  const [rows, width] = batch.dims;
  expect({ rows, size: batch.size, type: batch.type }).toEqual({ rows: 2, size: 2 * width!, type: 'float32' });
  expect(batch[1]!.dims).toEqual([width]);
  expect(batch[1]!.data.buffer).toBe(batch.data.buffer);
  expect(batch.tolist()).toEqual([...batch].map(({ data }) => [...data]));
  for (const [row, text] of texts.entries()) {
    const alone = await embed(text, { pooling: 'last_token', normalize: true });
    expect(alone.dims).toEqual([1, width]);
    expect(alone.tolist()[0]).toEqual(batch[row]!.tolist<number[]>());
  }
  const tokens = await embed(texts, { normalize: true });
  expect(tokens.tolist()).toEqual(tokens.map((one) => one.tolist()));
  expect(batch[1]!.tolist<number[]>()).toEqual(tokens[1]!.tolist().at(-1));
  const one = await embed(texts[1]!, { normalize: true });
  expect(one.dims).toEqual([1, ...tokens[1]!.dims]);
  expect(one[0]!.tolist()).toEqual(tokens[1]!.tolist());
  expect(() => tokens.dims).toThrow(expect.objectContaining({ code: 'unsupported' }));
  expect(structuredClone(batch)).toEqual({ type: 'float32', dims: batch.dims, data: batch.data });
  await expect(embed('A text.', { quantize: true })).rejects.toThrow('quantize needs a pooling');
  await expect(embed('A text.', { pooling: 'mean', quantize: 'yes' as never })).rejects.toThrow('quantize must be true or false');
  await expect(embed('A text.', { pooling: 'mean', precision: 'int8' as never })).rejects.toThrow("precision must be 'binary'");
  await embed.dispose();
});
