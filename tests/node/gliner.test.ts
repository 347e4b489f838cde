// GLiNER and GLiClass give the results of the Python packages, with offsets in UTF-16.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';

const kFixtures = fileURLToPath(new URL('../fixtures/', import.meta.url));
const read = (path: string) => readFileSync(join(kFixtures, path));

interface Found {
  label: string;
  text: string;
  score: number;
  start: number;
  end: number;
}
interface GlinerRequest {
  text: string;
  options: { threshold: number; flat_ner: boolean; multi_label: boolean };
  entities: Found[];
}

function files(kind: string, name: string, config: string) {
  return {
    [config]: read(`${kind}/${name}/${config}`),
    'model.safetensors': read(`${kind}/${name}/model.safetensors`),
    'tokenizer.json': read(`${kind}/tokenizer/tokenizer.json`),
    'tokenizer_config.json': read(`${kind}/tokenizer/tokenizer_config.json`),
  };
}

test.for(['markerV0', 'token'])('zero-shot-token-classification finds what the package finds: %s', async (name) => {
  const { labels, requests } = JSON.parse(read(`gliner/${name}/expected.json`).toString()) as {
    labels: string[];
    requests: GlinerRequest[];
  };
  const extract = await pipeline('zero-shot-token-classification', files('gliner', name, 'gliner_config.json'));
  try {
    for (const { text, options, entities } of requests) {
      const found = await extract(text, labels, options);
      expect(found.map(({ label, start, end }) => ({ label, start, end }))).toEqual(
        entities.map(({ label, start, end }) => ({ label, start, end })),
      );
      for (const [index, entity] of found.entries()) {
        expect(entity.score).toBeCloseTo(entities[index]!.score, 4);
        expect(text.slice(entity.start, entity.end)).toBe(entity.text);
      }
    }
    expect(await extract([' ', ''], 'a, b')).toEqual([[], []]);
    expect(await extract('a', [])).toEqual([]);
  } finally {
    await extract.dispose();
  }
});

test('a model whose max_len is below its max_width reads that many words, as the package does', async () => {
  const { labels, threshold, requests } = JSON.parse(read('gliner/short.json').toString()) as {
    labels: string[];
    threshold: number;
    requests: { max_len: number; text: string; entities: Found[] }[];
  };
  for (const { max_len, text, entities } of requests) {
    const own = files('gliner', 'markerV0', 'gliner_config.json');
    const config = { ...(JSON.parse(own['gliner_config.json']!.toString()) as object), max_len };
    const source = { ...own, 'gliner_config.json': Buffer.from(JSON.stringify(config)) };
    const extract = await pipeline('zero-shot-token-classification', source);
    const found = await extract(text, labels, { threshold, flat_ner: false, multi_label: true });
    const where = (list: readonly { label: string; start: number; end: number; score: number }[]) =>
      list.map(({ label, start, end, score }) => `${start} ${end} ${label} ${score.toFixed(3)}`).sort();
    expect(where(found)).toEqual(where(entities));
    await extract.dispose();
  }
});

test('an old release names its encoder only: its configuration and tokenizer come from elsewhere', async () => {
  const { labels, requests } = JSON.parse(read('gliner/markerV0-old/expected.json').toString()) as {
    labels: string[];
    requests: GlinerRequest[];
  };
  const model = Object.fromEntries(['gliner_config.json', 'model.safetensors'].map((name) => [name, read(`gliner/markerV0-old/${name}`)]));
  const encoder = Object.fromEntries(
    ['config.json', 'tokenizer.json', 'tokenizer_config.json'].map((name) => [name, read(`gliner/old/${name}`)]),
  );
  for (const worker of [false, true]) {
    const extract = await pipeline('zero-shot-token-classification', { ...model }, { encoder: { ...encoder }, worker });
    const { text, options, entities } = requests.find((request) => request.entities.length > 1)!;
    const found = await extract(text, labels, options);
    expect(found.map(({ start, end }) => [start, end])).toEqual(entities.map(({ start, end }) => [start, end]));
    await extract.dispose();
  }
  await expect(pipeline('zero-shot-token-classification', model)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining(
      "the option encoder with the location of its configuration and tokenizer, for example 'microsoft/deberta-v3-small'",
    ) as string,
  });
});

test('zero-shot-classification takes a GLiClass checkpoint', async () => {
  const { labels, texts } = JSON.parse(read('gliclass/mlp/expected.json').toString()) as {
    labels: string[];
    texts: { text: string; each: number[]; together: number[] }[];
  };
  const classify = await pipeline('zero-shot-classification', files('gliclass', 'mlp', 'config.json'));
  try {
    for (const { text, each, together } of texts) {
      for (const [multi_label, expected] of [
        [true, each],
        [false, together],
      ] as const) {
        const result = await classify(text, labels, { multi_label });
        for (const [index, label] of labels.entries()) {
          expect(result.scores[result.labels.indexOf(label)]).toBeCloseTo(expected[index]!, 4);
        }
      }
    }
  } finally {
    await classify.dispose();
  }
});

test('a GLiNER for another task, and a folder that is no GLiNER, are told apart by name', async () => {
  await expect(pipeline('token-classification', files('gliner', 'markerV0', 'gliner_config.json'))).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(pipeline('zero-shot-token-classification', files('gliclass', 'mlp', 'config.json'))).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('no head for zero-shot token classification') as string,
  });
});

test('a bi-encoder finds the tokenizer of its labels in its folder, or where the option says', async () => {
  const { labels, requests } = JSON.parse(read('gliner/bi/expected.json').toString()) as { labels: string[]; requests: GlinerRequest[] };
  const { text, options, entities } = requests.find((request) => request.entities.length > 1)!;
  const own = files('gliner', 'bi', 'gliner_config.json');
  const tokenizer = ['tokenizer.json', 'tokenizer_config.json'] as const;
  const within = Object.fromEntries(tokenizer.map((name) => [`labels_tokenizer/${name}`, read(`gliner/labels/${name}`)]));
  const elsewhere = Object.fromEntries([...tokenizer, 'config.json'].map((name) => [name, read(`gliner/labels/${name}`)]));
  const plain = files('gliner', 'bi-plain', 'gliner_config.json'); // also without the label encoder's configuration
  for (const [source, extra, worker] of [
    [{ ...own, ...within }, {}, false],
    [{ ...own }, { labels_encoder: { ...elsewhere } }, true],
  ] as const) {
    const extract = await pipeline('zero-shot-token-classification', source, { ...extra, worker });
    const found = await extract(text, labels, options);
    expect(found.map(({ start, end, label }) => [start, end, label])).toEqual(entities.map(({ start, end, label }) => [start, end, label]));
    await extract.dispose();
  }
  const extract = await pipeline('zero-shot-token-classification', plain, { labels_encoder: elsewhere });
  await extract.dispose();
  for (const source of [own, plain]) {
    await expect(pipeline('zero-shot-token-classification', source)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(
        "the option labels_encoder with the location of its files, for example 'BAAI/bge-small-en-v1.5'",
      ) as string,
    });
  }
});

test("a GLiClass bi-encoder takes its labels' tokenizer from where the option says", async () => {
  const { labels, texts } = JSON.parse(read('gliclass/bi/expected.json').toString()) as {
    labels: string[];
    texts: { text: string; each: number[] }[];
  };
  const labels_encoder = Object.fromEntries(
    ['tokenizer.json', 'tokenizer_config.json'].map((name) => [name, read(`gliner/labels/${name}`)]),
  );
  const classify = await pipeline('zero-shot-classification', files('gliclass', 'bi', 'config.json'), { labels_encoder });
  for (const { text, each } of texts) {
    const result = await classify(text, labels, { multi_label: true });
    for (const [index, label] of labels.entries()) expect(result.scores[result.labels.indexOf(label)]).toBeCloseTo(each[index]!, 4);
  }
  await classify.dispose();
  await expect(pipeline('zero-shot-classification', files('gliclass', 'bi', 'config.json'))).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('labels_encoder') as string,
  });
});
