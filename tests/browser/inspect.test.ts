import { expect, test } from 'vitest';
import { pipeline } from '../../web/bundle/peruse.js';
import { checkInspection, kInspectionCases } from '../node/support/inspection_cases.js';
import { readTensors } from '../node/support/tiny.js';
import { fetchTiny } from './tiny_served.js';

test.each(kInspectionCases)('%s: maps, span kernels and hidden states of the reference', async (name) => {
  const response = await fetch(`/tests/fixtures/attention/${name}.safetensors`);
  const golden = readTensors(new Uint8Array(await response.arrayBuffer()));
  const classify = await pipeline('text-classification', (await fetchTiny(name)).files);
  expect(classify.info.worker).toBe(true);
  await checkInspection(classify.inspect, name, golden, 1e-5);
  await classify.dispose();
});
