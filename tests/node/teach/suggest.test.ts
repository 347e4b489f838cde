// Which texts suggest() chooses, by answers and vectors of no model. few.test.ts has a model's.
import { expect, test } from 'vitest';
import { suggest } from '../../../web/dist/teach/suggest.js';

/** For each text, the probability of its best label, and its vector. */
const kTexts: Record<string, [score: number, vector: number[]]> = {
  'The tap drips.': [0.52, [1, 0]],
  'The tap drips!': [0.55, [1, 0]],
  'What do I owe?': [0.75, [0, 1]],
  'Pay by when?': [0.99, [0.6, 0.8]],
};

const models = {
  classify: async (texts: string[]) =>
    texts.map((text) => {
      const [score] = kTexts[text]!;
      return [
        { label: 'yes', score },
        { label: 'no', score: 1 - score },
      ];
    }),
  embed: async (texts: string[]) => texts.map((text) => Float32Array.from(kTexts[text]![1])),
};

test('an unsure text comes first, then one that differs from it, although another that says the same is less sure', async () => {
  const texts = ['Pay by when?', 'What do I owe?', 'The tap drips!', 'The tap drips.'];
  const found = await suggest(models, texts, 3, false);
  expect(found.map(({ index, text, label }) => [index, text, label])).toEqual([
    [3, 'The tap drips.', 'yes'],
    [1, 'What do I owe?', 'yes'],
    [0, 'Pay by when?', 'yes'],
  ]);
  expect(found[0]!.uncertainty).toBeCloseTo(0.96);
});
