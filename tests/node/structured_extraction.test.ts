// structured-extraction and the zero-shot tasks with a GLiNER2 give the results of the Python package, with offsets in UTF-16.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { ExtractionSchema } from '../../web/dist/index_node.js';
import { describe, pipeline } from '../../web/dist/index_node.js';

const kFixtures = fileURLToPath(new URL('../fixtures/gliner2/', import.meta.url));
const kEncoder = 'encoder_config/config.json';
const read = (path: string) => readFileSync(join(kFixtures, path));

interface Golden {
  schemas: Record<string, ExtractionSchema>;
  requests: { schema: string; text: string; threshold: number; result: unknown }[];
}

const golden = (name: string) => JSON.parse(read(`${name}/expected.json`).toString()) as Golden;

function files(name: string): Record<string, Uint8Array> {
  const own = ['config.json', kEncoder, 'model.safetensors'].map((file) => [file, read(`${name}/${file}`)]);
  const tokenizer = ['tokenizer.json', 'tokenizer_config.json'].map((file) => [file, read(`tokenizer/${file}`)]);
  return Object.fromEntries([...own, ...tokenizer]) as Record<string, Uint8Array>;
}

/** Replaces confidences by matchers. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === 'confidence' ? expect.closeTo(item as number, 4) : close(item)]),
  );
}

test.for(['lstm', 'lstm-v2', 'mean'])('structured-extraction finds what the package finds: %s', async (name) => {
  const { schemas, requests } = golden(name);
  const extract = await pipeline('structured-extraction', files(name), { worker: name === 'lstm-v2' });
  for (const { schema, text, threshold, result } of requests) {
    expect(await extract(text, schemas[schema]!, { threshold })).toEqual(close(result));
  }
  await extract.dispose();
});

test('lists and streams give a result for each text, and values are where they say', async () => {
  const { schemas, requests } = golden('lstm');
  const extract = await pipeline('structured-extraction', files('lstm'));
  const chosen = requests.filter(({ schema, threshold }) => schema === 'entities' && threshold === 0.2);
  const texts = chosen.map(({ text }) => text);
  const results = await extract(texts, schemas.entities!, { threshold: 0.2 });
  expect(results).toEqual(close(chosen.map(({ result }) => result)));
  const streamed = [];
  for await (const result of extract.stream(texts, schemas.entities!, { threshold: 0.2 })) streamed.push(result);
  expect(streamed).toEqual(results);
  const values = results.flatMap(({ entities }, index) =>
    Object.values(entities!).flatMap((spans) => [spans ?? []].flat().map((span) => ({ span, index }))),
  );
  expect(values.length).toBeGreaterThan(0);
  for (const { span, index } of values) expect(texts[index]!.slice(span.start, span.end)).toBe(span.text);
  await extract.dispose();
});

test('the zero-shot tasks take a GLiNER2', async () => {
  const { schemas, requests } = golden('lstm');
  const { text, result } = requests.find(({ schema }) => schema === 'classification')!;
  const { mood } = result as { mood: { label: string; confidence: number } };
  const classify = await pipeline('zero-shot-classification', files('lstm'));
  const { task, labels } = schemas.classification!.classifications![0]!;
  expect(task).toBe('mood');
  const scores = await classify(text, labels as string[]);
  expect(scores.labels).toHaveLength(labels.length as number);
  expect(scores.scores.reduce((sum, score) => sum + score)).toBeCloseTo(1, 5);
  expect(labels).toContain(mood.label);
  await classify.dispose();

  const entities = requests.filter(({ schema, threshold }) => schema === 'entities' && threshold === 0.5);
  const extract = await pipeline('zero-shot-token-classification', files('lstm'));
  let found = 0;
  for (const request of entities) {
    const expected = (request.result as { entities: Record<string, { start: number; end: number; confidence: number }[]> }).entities;
    const all = Object.entries(expected).flatMap(([label, spans]) => spans.map(({ start, end }) => ({ label, start, end })));
    const spans = await extract(request.text, schemas.entities!.entities as string[]);
    for (const { label, start, end } of spans) expect(all).toContainEqual({ label, start, end });
    found += spans.length;
  }
  expect(found).toBeGreaterThan(0);
  await extract.dispose();
});

test('a folder says which tasks it runs, and needs the configuration of its encoder', async () => {
  const { downloads } = await describe(files('lstm'));
  for (const task of ['structured-extraction', 'zero-shot-token-classification', 'zero-shot-classification']) {
    expect(downloads[0]!.tasks).toContain(task);
  }
  const { [kEncoder]: _, ...lacking } = files('lstm');
  await expect(pipeline('structured-extraction', lacking)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(kEncoder) as string,
  });
});

test('schemas that are not understood throw', async () => {
  const extract = await pipeline('structured-extraction', files('lstm'));
  const bad = (schema: unknown) => extract('A text.', schema as ExtractionSchema);
  await expect(bad(undefined)).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('schema') as string });
  await expect(bad({})).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(bad({ entities: ['a'], kinds: [] })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('kinds') as string,
  });
  await expect(bad({ structures: { a: { fields: [{ name: 'b' }], cardinality: 1 } } })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('cardinality') as string,
  });
  expect(await extract(' ', { entities: ['a'] })).toEqual(await extract('.', { entities: ['a'] }));
  await extract.dispose();
});
