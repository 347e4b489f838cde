import { pipeline } from '@huggingface/transformers';

const extractor = await pipeline('feature-extraction', 'user/embedder', { dtype: 'fp32' });
const plain = await extractor('This is a simple test.', { pooling: 'mean' });
const signed = await extractor('This is a simple test.', { pooling: 'mean', quantize: true, precision: 'binary' });
const unsigned = await extractor('This is a simple test.', { pooling: 'mean', quantize: true, precision: 'ubinary' });
console.log(signed.data instanceof Int8Array, unsigned.data instanceof Uint8Array, signed.dims[1] * 8 === plain.dims[1]);
console.log(signed.data[0] + 128 === unsigned.data[0], plain.data[0] > 0 === unsigned.data[0] >= 128);
// true true true
// true true
