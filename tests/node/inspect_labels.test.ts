// inspect() with labels: raw logits of GLiNER and GLiClass.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';
import { readTiny } from './support/tiny_files.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const read = (path: string) => readFileSync(join(kFixtures, path));

function files(kind: string, name: string, config: string) {
  return {
    [config]: read(`${kind}/${name}/${config}`),
    'model.safetensors': read(`${kind}/${name}/model.safetensors`),
    'tokenizer.json': read(`${kind}/tokenizer/tokenizer.json`),
    'tokenizer_config.json': read(`${kind}/tokenizer/tokenizer_config.json`),
  };
}

const goldens = JSON.parse(read('gliner/logits.json').toString()) as { text: string; labels: string[]; logits: Record<string, unknown[]> };

test.for(['markerV0', 'token'])('GLiNER: logits by span or word, %s', async (name) => {
  const { text, labels } = goldens;
  const expected = goldens.logits[name]!;
  const extract = await pipeline('zero-shot-token-classification', files('gliner', name, 'gliner_config.json'));
  const { tokens, logits, spans, hidden_states } = await extract.inspect(text, { labels, output_logits: true, output_hidden_states: true });
  await extract.dispose();
  expect(logits!.dims).toEqual(name === 'token' ? [expected.length, labels.length, 3] : [expected.length, labels.length]);
  const wanted = (expected as number[][][]).flat(2);
  expect(logits!.data).toHaveLength(wanted.length);
  for (const [i, logit] of wanted.entries()) expect(logits!.data[i]).toBeCloseTo(logit, 4);
  expect(spans!.slice(0, 2).map(({ start, end }) => text.slice(start, end))).toEqual([
    'Anna',
    name === 'token' ? 'Schmidt' : 'Anna Schmidt',
  ]);
  expect(hidden_states![0]!.dims[0]).toBe(tokens.length);
});

test('GLiClass: a logit for each label; other models and calls without labels are refused', async () => {
  const { labels, texts } = JSON.parse(read('gliclass/mlp/expected.json').toString()) as {
    labels: string[];
    texts: { text: string; each: number[] }[];
  };
  const classify = await pipeline('zero-shot-classification', files('gliclass', 'mlp', 'config.json'));
  for (const { text, each } of texts) {
    const { logits, spans } = await classify.inspect(text, { labels, output_logits: true });
    expect(logits!.dims).toEqual([labels.length]);
    expect(spans).toBeUndefined();
    for (const [i, probability] of each.entries()) expect(1 / (1 + Math.exp(-logits!.data[i]!))).toBeCloseTo(probability, 4);
  }
  await expect(classify.inspect('a', { output_logits: true })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining('pass the option labels') as string,
  });
  await classify.dispose();

  const plain = await pipeline('text-classification', (await readTiny('bert-sequence')).files);
  await expect(plain.inspect('t1', { labels })).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('labels') as string,
  });
  await plain.dispose();
});
