// Published embedders with real weights, and intents to sort by them.
import { copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { publishedModels } from '../../../tools/setup/published_models.mjs';
import { convertCheckpoint } from '../../../web/dist/quantize/quantize.js';
import { unpack } from './labelled_sets.mjs';

const kExamples = 10; // for each intent

/** paraphrase-MiniLM-L3-v2 is published as one ONNX file. This is its configuration; its tokenizer is that of all-MiniLM-L6-v2. */
const kParaphraseConfig = new URL('../../fixtures/published/paraphrase_config.json', import.meta.url);

/** Returns folders with float32 weights by name; empty unless tools/setup/published_models.mjs has installed them. */
export async function publishedEmbedders(temporary) {
  const published = publishedModels();
  if (!published) return {};
  const source = join(temporary, 'source');
  mkdirSync(join(source, 'onnx'), { recursive: true });
  copyFileSync(published.paraphrase, join(source, 'onnx/model.onnx'));
  copyFileSync(kParaphraseConfig, join(source, 'config.json'));
  cpSync(join(published.minilm, 'tokenizer.json'), join(source, 'tokenizer.json'));
  const target = join(temporary, 'paraphrase-MiniLM-L3-v2');
  await convertCheckpoint(source, target);
  return { 'all-MiniLM-L6-v2': published.minilm, 'paraphrase-MiniLM-L3-v2': target };
}

/** Returns a few examples of each intent, and texts to sort: { examples, texts }, each [text, label][]. */
export function intents(folder, set) {
  const rows =
    set === 'clinc150'
      ? (part) => JSON.parse(unpack(folder, 'classification', `clinc150-${part}.json.gz`))
      : (part) =>
          unpack(folder, 'classification', `banking77-${part}.tsv.gz`)
            .trim()
            .split('\n')
            .map((line) => line.split('\t').reverse());
  const [train, texts] = set === 'clinc150' ? [rows('train-val').train, rows('test-halfA').test] : [rows('train'), rows('test-halfA')];
  const seen = new Map();
  const examples = train.filter(([, label]) => {
    seen.set(label, (seen.get(label) ?? 0) + 1);
    return seen.get(label) <= kExamples;
  });
  return { examples, texts };
}

/** Sorts texts by the nearest mean of an intent's examples. `embed` returns unit vectors. */
export async function sortByMeans(embed, { examples, texts }) {
  const means = new Map();
  const vectors = await embed(examples.map(([text]) => text));
  examples.forEach(([, label], i) => {
    const mean = means.get(label) ?? new Float64Array(vectors[i].length);
    vectors[i].forEach((value, k) => {
      mean[k] += value;
    });
    means.set(label, mean);
  });
  for (const mean of means.values()) {
    const length = Math.hypot(...mean);
    mean.forEach((value, k) => {
      mean[k] = value / length;
    });
  }
  const found = await embed(texts.map(([text]) => text));
  const similarities = found.map((vector) => [...means.values()].map((mean) => vector.reduce((sum, value, k) => sum + value * mean[k], 0)));
  const labels = similarities.map((of) => [...means.keys()][of.indexOf(Math.max(...of))]);
  return { vectors: found, similarities, labels, right: labels.filter((label, i) => label === texts[i][1]).length };
}
