import { expect, test } from 'vitest';
import { outputErrors } from '../bench/lib/compare.mjs';

test('errors are parts of the spread of the outputs', () => {
  const { largest, rms } = outputErrors([1, 2, 3.5, 4], [1, 2, 3, 4]);
  const spread = Math.sqrt(1.25);
  expect(largest).toBeCloseTo(0.5 / spread, 12);
  expect(rms).toBeCloseTo(0.25 / spread, 12);
});

test('outputs that are no numbers, or too few, are no small error', () => {
  const { largest, rms } = outputErrors([1, NaN], [1, 2]);
  expect([largest, rms]).toEqual([NaN, NaN]);
  expect(() => outputErrors([1], [1, 2])).toThrow('1 outputs where the reference has 2');
});
