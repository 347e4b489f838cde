// A classifier on static embeddings: its features are the vectors of model2vec and sentence-transformers (fixtures/static), and its weights the
// minimum of a convex loss, whose gradient is computed here in double precision.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../../web/dist/index_node.js';
import { teach } from '../../../web/dist/teach/index_node.js';
import { readTensors } from '../support/tiny.js';

const kFixtures = fileURLToPath(new URL('../../fixtures/static/', import.meta.url));
const kLabels = ['a', 'b', 'c'];

async function lesson(name: string) {
  const golden = JSON.parse(await readFile(`${kFixtures}${name}/vectors.json`, 'utf8')) as { texts: string[]; vectors: number[][] };
  return { ...golden, examples: golden.texts.map((text, i) => ({ text, label: kLabels[i % kLabels.length]! })) };
}

function softmax(logits: readonly number[]): number[] {
  const powers = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

const dot = (a: readonly number[], b: readonly number[]) => a.reduce((sum, value, i) => sum + value * b[i]!, 0);

test.each(['int8', 'mapped', 'sentence-normalized'])('%s is taught on its vectors', async (name) => {
  const { texts, vectors, examples } = await lesson(name);
  const taught = await teach('text-classification', `${kFixtures}${name}`, examples, { method: 'head' });
  expect(taught.report).toMatchObject({ method: 'head', labels: kLabels });
  const dense = [...taught.files.keys()].find((file) => /^\d_Dense\/model\.safetensors$/.test(file))!;
  const saved = readTensors(taught.files.get(dense)!);
  const width = vectors[0]!.length;
  const weight = kLabels.map((_, k) => [...saved.get('linear.weight')!.subarray(k * width, (k + 1) * width)].map(Number));
  const bias = [...saved.get('linear.bias')!].map(Number);
  const chances = vectors.map((vector) => softmax(weight.map((row, k) => dot(row, vector) + bias[k]!)));

  // The gradient of the mean cross-entropy plus l2 / 2 |weight|^2, by rows of the weight, and by the bias, at the minimum before its division by the
  // temperature.
  const { l2, temperature } = taught.report as { l2: number; temperature: number };
  const least = vectors.map((vector) => softmax(weight.map((row, k) => temperature * (dot(row, vector) + bias[k]!))));
  for (const [k, row] of weight.entries()) {
    const off = least.map((chance, i) => (chance[k]! - (i % kLabels.length === k ? 1 : 0)) / vectors.length);
    const slopes = row.map(
      (value, c) =>
        dot(
          off,
          vectors.map((vector) => vector[c]!),
        ) +
        l2 * temperature * value,
    );
    for (const slope of [...slopes, off.reduce((a, b) => a + b, 0)]) expect(Math.abs(slope)).toBeLessThan(2e-5);
  }

  const again = await pipeline('text-classification', new Map(taught.files));
  const results = await again(texts, { top_k: null });
  for (const [i, scores] of results.entries()) {
    for (const { label, score } of scores) expect(Math.abs(score - chances[i]![kLabels.indexOf(label)]!), texts[i]).toBeLessThan(2e-6);
  }
  await again.dispose();
});

test('a table of vectors has no layers to teach', async () => {
  const { examples } = await lesson('float32');
  const refused = teach('text-classification', `${kFixtures}float32`, examples, { method: { layers: 1 } });
  await expect(refused).rejects.toMatchObject({ code: 'invalid_argument', message: expect.stringContaining('layers') });
});
