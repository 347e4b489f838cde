import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { pipeline } from '../../web/dist/index_node.js';

const kGuards = fileURLToPath(new URL('../fixtures/guards/', import.meta.url));
const kFiles = ['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json', 'special_tokens_map.json'];

function guard(name: string) {
  const read = (file: string) => readFileSync(`${kGuards}${name}/${file}`);
  return { files: Object.fromEntries(kFiles.map((file) => [file, read(file)])), expected: read('expected.json').toString() };
}

interface Windowed {
  max_length: number;
  stride: number;
  texts: { text: string; windows: number; scores: Record<string, number> }[];
}

test.for(['prompt-guard', 'pi-guard'])('%s: the largest score of each label over windows', async (name) => {
  const { files, expected } = guard(name);
  const { max_length, stride, texts } = JSON.parse(expected) as Windowed;
  expect(texts.at(-1)!.windows).toBeGreaterThan(2);
  const classify = await pipeline('text-classification', files);
  try {
    for (const { text, scores } of texts) {
      const labels = await classify(text, { top_k: null, stride, max_length });
      expect(Object.keys(scores).sort()).toEqual(labels.map(({ label }) => label).sort());
      for (const { label, score } of labels) expect(Math.abs(score - scores[label]!), `${label}: ${text}`).toBeLessThan(2e-5);
    }
  } finally {
    await classify.dispose();
  }
});

interface Answers {
  source: string;
  pairs: { answer: string; tokens: { start: number; end: number; score: number }[] }[];
}

test('LettuceDetect: tokens of an answer after its source', async () => {
  const { files, expected } = guard('lettuce');
  const { source, pairs } = JSON.parse(expected) as Answers;
  const tag = await pipeline('token-classification', files);
  const before = `${source}[SEP]`;
  try {
    for (const { answer, tokens } of pairs) {
      const found = (await tag(before + answer, { ignore_labels: [] }))
        .filter(({ start }) => start >= before.length)
        .map(({ entity, score, start, end }) => ({
          start: start - before.length,
          end: end - before.length,
          score: entity === 'LABEL_1' ? score : 1 - score,
        }));
      expect(found.map(({ start, end }) => [start, end])).toEqual(tokens.map(({ start, end }) => [start, end]));
      found.forEach(({ score }, i) => {
        expect(Math.abs(score - tokens[i]!.score), `${answer} ${i}`).toBeLessThan(2e-5);
      });
    }
  } finally {
    await tag.dispose();
  }
});
