// Compares inspect() with transformers (tests/fixtures/attention), in Node and in browsers.
import { expect } from 'vitest';
import type { InspectCall } from '../../../web/dist/face.js';
import { type readTensors, tinyText } from './tiny.js';

type Tensors = ReturnType<typeof readTensors>;

export const kInspectionCases = ['convbert-sequence', 'convbert-heads6', 'deberta-v1-sequence', 'deberta-v2-sequence', 'bert-sequence'];

export function expectNear(actual: Float32Array, expected: ArrayLike<number>, tolerance: number, what: string): void {
  expect(actual, what).toBeInstanceOf(Float32Array);
  expect(actual.length, what).toBe(expected.length);
  let worst = 0;
  for (let i = 0; i < actual.length; ++i) {
    const error = Math.abs(actual[i]! - expected[i]!) / Math.max(1, Math.abs(expected[i]!));
    if (!(error <= worst)) worst = error;
  }
  expect(worst, what).toBeLessThan(tolerance);
}

function concentrationOf(map: ArrayLike<number>, tokens: number): number {
  let [inside, outside] = [0, 0];
  for (let i = 0; i < tokens; ++i) {
    for (let j = 0; j < tokens; ++j) {
      if (Math.abs(i - j) <= 4) inside += map[i * tokens + j]!;
      else outside += map[i * tokens + j]!;
    }
  }
  return inside / outside;
}

export async function checkInspection(inspect: InspectCall, name: string, golden: Tensors, tolerance: number): Promise<void> {
  const ids = golden.get('input_ids')!;
  const tokens = ids.length;
  const options = { output_attentions: true, output_hidden_states: true, output_span_kernels: golden.has('span_kernels.0') };
  const result = await inspect(tinyText(ids), options);
  expect(result.tokens.map(({ id }) => id)).toEqual([...ids]);
  const layers = result.attentions!.length;
  expect(golden.has(`attentions.${layers - 1}`) && !golden.has(`attentions.${layers}`)).toBe(true);
  expect(result.hidden_states).toHaveLength(layers + 1);
  for (let layer = 0; layer < layers; ++layer) {
    const { dims, data } = result.attentions![layer]!;
    const [heads] = dims;
    expect(dims).toEqual([heads, tokens, tokens]);
    expectNear(data, golden.get(`attentions.${layer}`)!, tolerance, `${name}: attention map ${layer}`);
    for (let head = 0; head < heads!; ++head) {
      const map = data.subarray(head * tokens * tokens, (head + 1) * tokens * tokens);
      expect(result.diagonal_concentration![layer]![head]).toBeCloseTo(concentrationOf(map, tokens), 4);
    }
    if (!options.output_span_kernels) continue;
    const kernels = result.span_kernels![layer]!;
    expect(kernels.dims.slice(0, 2)).toEqual([tokens, heads]);
    expectNear(kernels.data, golden.get(`span_kernels.${layer}`)!, tolerance, `${name}: span kernels ${layer}`);
  }
  result.hidden_states!.forEach(({ data }, index) => {
    expectNear(data, golden.get(`hidden_states.${index}`)!, tolerance, `${name}: hidden state ${index}`);
  });
  if (!options.output_span_kernels) expect(result).not.toHaveProperty('span_kernels');
}
