import { expect, test } from 'vitest';
import { type ChosenWeights, precisionFor } from '../../web/dist/engine/models/weights_choice.js';

type Request = Parameters<typeof precisionFor>[0];
const chosen = (dtype: string) => ({ onnx: { dtype } }) as ChosenWeights;
const precision = (dtype: Request['dtype'], weights: ChosenWeights) => precisionFor({ dtype } as Request, weights);

test.each(['auto', 'q4'] as const)(
  'integers of an ONNX file stay as they are with %s, and other weights get the precision that was asked for',
  (dtype) => {
    for (const integers of ['q8', 'int8', 'uint8', 'q4', 'bnb4']) expect(precision(dtype, chosen(integers)), integers).toBe('q8');
    for (const floats of ['fp32', 'fp16']) expect(precision(dtype, chosen(floats)), floats).toBe(dtype);
    expect(precision(dtype, {})).toBe(dtype);
  },
);

test('another precision than these is kept, also for integers', () => {
  expect(precision('f32', chosen('q8'))).toBe('f32');
  expect(precision('q8', chosen('q8'))).toBe('q8');
});
