// Rankers give the results of sentence-transformers' CrossEncoder for every configuration of activation and length. Guards give the best of
// transformers' windows (tests/fixtures/pipelines/rankers.json).
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, describe as group, test } from 'vitest';
import { describe, pipeline } from '../../web/dist/index_node.js';
import { quantizeCheckpoint } from '../../web/dist/quantize/quantize.js';
import { pipelineModel, readFixture } from './support/pipeline_models.js';

interface Case {
  task: 'text-ranking' | 'text-classification';
  family: string;
  head: string;
  config: object;
  files: Record<string, unknown>;
  model_max_length: number | null;
  inputs: unknown;
  options: Record<string, unknown>;
  expected: Record<string, unknown>[];
}

const kTolerance = 1e-4;

function unitsOf(text: string): number[] {
  const units = [0];
  for (const char of text) units.push(units.at(-1)! + char.length);
  return units;
}

function expectAlike(actual: unknown, expected: unknown, where: string): void {
  if (typeof expected === 'number' && !Number.isInteger(expected)) {
    expect(Math.abs((actual as number) - expected), `${where}: ${String(actual)} for ${expected}`).toBeLessThanOrEqual(kTolerance);
  } else if (typeof expected === 'object' && expected !== null) {
    expect(Object.keys(actual as object).sort(), where).toEqual(Object.keys(expected).sort());
    for (const [key, item] of Object.entries(expected)) expectAlike((actual as Record<string, unknown>)[key], item, `${where}.${key}`);
  } else {
    expect(actual, where).toBe(expected);
  }
}

async function answer({ task, family, head, config, files, model_max_length, inputs, options }: Case): Promise<unknown> {
  const toBytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const model = await pipelineModel(family, head, config);
  model['tokenizer_config.json'] = toBytes(model_max_length === null ? {} : { model_max_length });
  for (const [name, content] of Object.entries(files)) model[name] = toBytes(content);
  const made = await pipeline(task, model);
  try {
    const call = made as unknown as (...args: unknown[]) => Promise<unknown>;
    return await (task === 'text-ranking' ? call(...(inputs as unknown[]), options) : call(inputs, options));
  } finally {
    await made.dispose();
  }
}

const { cases } = await readFixture<{ cases: Case[] }>('pipelines/rankers.json');

test('the goldens have rankers of three places and of several labels, and guards', () => {
  expect(cases.length).toBeGreaterThan(30);
  expect(cases.filter(({ files }) => 'config_sentence_transformers.json' in files).length).toBeGreaterThan(3);
  expect(cases.filter(({ options }) => 'label' in options).length).toBeGreaterThan(8);
  expect(cases.filter(({ options }) => 'stride' in options).length).toBeGreaterThan(8);
});

test.each(cases.map((one, index) => [`${index} ${one.task} ${one.family} ${JSON.stringify(one.options)}`, one] as const))(
  '%s',
  async (_, one) => {
    const expected = one.expected.map(({ start, end, ...rest }) => {
      if (typeof start !== 'number' || typeof end !== 'number') return rest;
      const units = unitsOf(one.inputs as string);
      return { ...rest, start: units[start], end: units[end] };
    });
    expectAlike(await answer(one), expected, 'result');
  },
);

interface Pair {
  query: string;
  document: string;
  options: { prompt?: string; prompt_name?: string };
  logit: number;
  score: number;
}

const kFolders = fileURLToPath(new URL('../fixtures/ranking/', import.meta.url));
const kRankers = ['qwen3-reranker', 'qwen3-true-only', 'qwen3-bare', 'eurobert-dense'];

/** Returns the largest distance of a logit or score from those of pairs.json. */
async function distanceOf(folder: string, pairs: readonly Pair[]): Promise<number> {
  const rank = await pipeline('text-ranking', folder, { variant: 'simd', worker: false });
  let largest = 0;
  for (const { query, document, options, logit, score } of pairs) {
    const [found] = await rank(query, [document], { ...options, function_to_apply: 'none' });
    const [usual] = await rank(query, [document], options);
    largest = Math.max(largest, Math.abs(found!.score - logit), Math.abs(usual!.score - score));
  }
  await rank.dispose();
  return largest;
}

group('folders of sentence-transformers 6 (tests/fixtures/ranking)', () => {
  test.each(kRankers)('%s ranks as the library does', async (name) => {
    const pairs = await readFixture<Pair[]>(`ranking/${name}/pairs.json`);
    expect(await distanceOf(join(kFolders, name), pairs)).toBeLessThan(1e-5);
  });

  test.each(kRankers)('%s is described as a ranker, and not as an embedder', async (name) => {
    const { downloads, refused } = await describe(join(kFolders, name));
    expect(downloads.every(({ tasks }) => tasks.includes('text-ranking') && !tasks.includes('feature-extraction'))).toBe(true);
    const why = name === 'qwen3-bare' ? 'causal language model' : 'is a cross-encoder: use text-ranking';
    if (name !== 'eurobert-dense') expect(refused['feature-extraction']?.message).toContain(why);
    await expect(pipeline('feature-extraction', join(kFolders, name))).rejects.toMatchObject({ code: 'unsupported' });
  });

  test.each(['q8', 'q4'] as const)('a copy in %s ranks nearly alike', async (dtype) => {
    const folder = await mkdtemp(join(tmpdir(), 'peruse-ranker-'));
    try {
      await quantizeCheckpoint(join(kFolders, 'qwen3-reranker'), join(folder, dtype), { dtype });
      const pairs = await readFixture<Pair[]>('ranking/qwen3-reranker/pairs.json');
      expect(await distanceOf(join(folder, dtype), pairs)).toBeLessThan(0.2);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
