// Dense Routers of sentence-transformers: the modules of queries and documents, with the library's vectors.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cos_sim, describe as describeModel, type FeatureExtractionOptions, pipeline, SemanticIndex } from '../../web/dist/index_node.js';

const kFixtures = fileURLToPath(new URL('../fixtures/router/', import.meta.url));
const kTolerance = 1e-5;
const kSettings = { variant: 'simd', worker: false } as const;

interface Wanted {
  text: string;
  task: string | null;
  vector: number[];
}

const wantedOf = async (name: string) => JSON.parse(await readFile(join(kFixtures, name, 'texts.json'), 'utf8')) as Wanted[];
const load = (name: string, route?: string) =>
  pipeline('feature-extraction', join(kFixtures, name), { ...kSettings, ...(route && { route }) });

async function expectVectors(embed: Awaited<ReturnType<typeof load>>, wanted: readonly Wanted[]): Promise<void> {
  expect(wanted.length).toBeGreaterThan(3);
  for (const { text, task, vector } of wanted) {
    const named = task === 'query' || task === 'document' ? { task } : {};
    const { data, dims } = await embed(text, { pooling: 'sentence', ...named } as FeatureExtractionOptions & { pooling: 'sentence' });
    expect(dims).toEqual([1, vector.length]);
    for (const [i, value] of vector.entries()) expect(Math.abs(data[i]! - value), `${task} ${text}`).toBeLessThan(kTolerance);
  }
  await embed.dispose();
}

describe('routes that share an encoder: the task of a call chooses', () => {
  test.each(['shared-encoder', 'after-encoder', 'explicit', 'static-alike'])('%s', async (name) => {
    await expectVectors(await load(name), await wantedOf(name));
  });
});

describe('the load option route chooses one', () => {
  test.each(['shared-encoder', 'after-encoder', 'explicit', 'two-encoders', 'static-queries', 'static-documents'])('%s', async (name) => {
    const wanted = await wantedOf(name);
    for (const route of ['query', 'document']) {
      await expectVectors(
        await load(name, route),
        wanted.filter(({ task }) => task === route),
      );
    }
  });

  test('of other names than query and document', async () => {
    const wanted = await wantedOf('other-routes');
    for (const route of ['code', 'prose']) {
      await expectVectors(
        await load('other-routes', route),
        wanted.filter(({ task }) => task === route),
      );
    }
  });
});

test('several texts are rows of one tensor', async () => {
  const embed = await load('shared-encoder');
  const wanted = (await wantedOf('shared-encoder')).filter(({ task }) => task === 'query');
  const found = await embed(
    wanted.map(({ text }) => text),
    { task: 'query' },
  );
  expect(found.dims).toEqual([wanted.length, 5]);
  for (const [i, value] of wanted.flatMap(({ vector }) => vector).entries())
    expect(Math.abs(found.data[i]! - value)).toBeLessThan(kTolerance);
  await embed.dispose();
});

test('the dimensions of a route bound those of a call', async () => {
  const embed = await load('two-encoders', 'document');
  await expect(embed('a', { pooling: 'sentence', dimensions: 9 })).rejects.toThrow(/a vector has 8 numbers/);
  expect((await embed('a', { pooling: 'sentence', dimensions: 3 })).dims).toEqual([1, 3]);
  await embed.dispose();
});

test('a semantic index searches documents of one route by queries of another', async () => {
  const embed = await load('shared-encoder');
  const wanted = await wantedOf('shared-encoder');
  const documents = wanted.filter(({ task }) => task === 'document');
  const { text: query, vector } = wanted.find(({ task }) => task === 'query')!;
  const index = new SemanticIndex(embed);
  await index.add(
    documents.map(({ text }) => text),
    { task: 'document' },
  );
  const found = await index.search(query, { top_k: documents.length });
  expect(found).toHaveLength(documents.length);
  for (const { text, score } of found) {
    expect(score).toBeCloseTo(cos_sim(vector, documents.find((one) => one.text === text)!.vector), 4);
  }
  await embed.dispose();
});

test('describe() needs a route where pipeline() does', async () => {
  const folder = join(kFixtures, 'two-encoders');
  expect((await describeModel(folder, { route: 'query' })).model_type).toBe('distilbert');
  expect((await describeModel(folder, { route: 'document' })).model_type).toBe('bert');
  await expect(describeModel(folder)).rejects.toThrow(/option route: 'query' or 'document'/);
});

describe('what does not go together is named', () => {
  test.each(['two-encoders', 'static-queries', 'static-documents', 'other-routes'])('%s needs a route', async (name) => {
    const names = name === 'other-routes' ? "'code' or 'prose'" : "'query' or 'document'";
    await expect(load(name)).rejects.toMatchObject({ code: 'unsupported', message: expect.stringContaining(`option route: ${names}`) });
  });

  test('unknown routes, and folders without a Router', async () => {
    await expect(load('two-encoders', 'x')).rejects.toThrow("Option route is 'x', and the model's routes are query, document.");
    await expect(load('../sentence/mean', 'query')).rejects.toThrow("Option route is 'query', and the model has no Router.");
  });

  test.each([
    ['', 'malformed_file', 'ends within its JSON'],
    ['{"types": {}}', 'malformed_file', 'must list the modules of each route'],
    ['{"types": {}, "structure": {"query": [], "document": []}}', 'malformed_file', 'must list the modules of each route'],
    ['{"types": {"../a": "X"}, "structure": {"query": ["../a"]}}', 'malformed_file', 'must list the modules of each route'],
    [undefined, 'not_found', 'A Router needs router_config.json'],
  ])('router_config.json with the content %j', async (content, code, words) => {
    const modules = await readFile(join(kFixtures, 'two-encoders', 'modules.json'));
    const files = { 'modules.json': modules, ...(content !== undefined && { 'router_config.json': new TextEncoder().encode(content) }) };
    for (const how of [{}, { route: 'query' }]) {
      const loading = pipeline('feature-extraction', files, { ...kSettings, ...how });
      await expect(loading).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    }
  });

  test('a text of another route, and one without a task', async () => {
    const queries = await load('two-encoders', 'query');
    await expect(queries('a', { task: 'document' })).rejects.toThrow("task is 'document', and the pipeline was loaded with route 'query'.");
    expect((await queries('a', { task: 'query' })).dims).toEqual([1, 8]);
    await queries.dispose();
    const explicit = await load('explicit');
    await expect(explicit('a', { pooling: 'sentence' })).rejects.toMatchObject({ code: 'invalid_argument' });
    await expect(explicit('a', { pooling: 'sentence' })).rejects.toThrow(/no default route: pass task/);
    expect((await explicit('a', { pooling: 'mean' })).dims).toEqual([1, 8]);
    await explicit.dispose();
  });
});

test('Asym, an older Router, is refused by name, and no file is said to be missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'peruse-asym-'));
  try {
    await cp(join(kFixtures, 'two-encoders'), folder, { recursive: true });
    for (const path of ['', '0_Asym']) {
      await writeFile(
        join(folder, 'modules.json'),
        JSON.stringify([{ idx: 0, name: '0', path, type: 'sentence_transformers.models.Asym' }]),
      );
      const refusal = { code: 'unsupported', message: 'modules.json: the module Asym is not supported.' };
      await expect(pipeline('feature-extraction', folder, kSettings)).rejects.toMatchObject(refusal);
      await expect(describeModel(folder)).rejects.toMatchObject(refusal);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
