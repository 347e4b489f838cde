import { expect, test } from 'vitest';
import { pipeline } from '../../web/bundle/peruse.js';
import { tinyText } from '../node/support/tiny.js';
import { fetchTiny } from './tiny_served.js';

// Must be first, because a module is loaded only once.
test('a page that computes on the CPU loads nothing of the GPU', async () => {
  const before = performance.getEntriesByType('resource').length;
  const tiny = await fetchTiny('deberta-v2-sequence');
  const classify = await pipeline('text-classification', tiny.files, { worker: false, threads: 1 });
  await classify('t1');
  await classify.dispose();
  const loaded = performance
    .getEntriesByType('resource')
    .slice(before)
    .map(({ name }) => name);
  expect(loaded.length).toBeGreaterThan(0);
  expect(loaded.filter((name) => /\/gpu\/|-webgpu/.test(name))).toEqual([]);
});

test.each([true, false])(
  'reproduces the reference logits (worker: %s)',
  async (worker) => {
    const tiny = await fetchTiny('deberta-v2-sequence');
    const classify = await pipeline('text-classification', tiny.files, { device: 'webgpu', worker });
    try {
      expect(classify.info).toMatchObject({ device: 'webgpu', dtype: 'fp16', worker });
      for (const text of ['a', 'b', 'c', 'd']) {
        const labels = await classify(tinyText(tiny.expected.get(`${text}.input_ids`)!), { top_k: null, function_to_apply: 'none' });
        const logits = tiny.expected.get(`${text}.logits`)!;
        expect(labels).toHaveLength(logits.length);
        for (const { label, score } of labels) expect(Math.abs(score - logits[Number(label.slice(6))]!)).toBeLessThan(1e-4);
      }
    } finally {
      await classify.dispose();
    }
  },
  120_000,
);
