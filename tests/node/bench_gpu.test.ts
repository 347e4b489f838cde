import { expect, test } from 'vitest';
import { measureShape } from '../bench/lib/gpu_subject.mjs';

test('a file that onnxruntime-web cannot load is in the measurements, with its failure', async () => {
  const pipeline = async () => Object.assign(async () => [], { info: {}, dispose: async () => {} });
  const ort = { InferenceSession: { create: () => Promise.reject(new Error('no adapter')) } };
  const config = new TextEncoder().encode('{"vocab_size":2}');
  const model = { config, weights: config, onnx: { fp32: new Uint8Array() } };
  const found = await measureShape({ pipeline, ort, ...model, dtypes: ['fp32'], batches: { 2: [0, 1] }, counts: { bufferBytes: 0 } });
  expect(found).toMatchObject([
    { library: 'peruse', dtype: 'fp32' },
    { library: 'ort', dtype: 'fp32', failure: 'no adapter', lengths: {} },
  ]);
});
