import { pipeline, mean_pooling } from '@huggingface/transformers';

const extractor = await pipeline('feature-extraction', 'user/embedder');
const text = 'Represent this sentence.';
const tokens = await extractor(text);
const pooled = await extractor(text, { pooling: 'mean' });
const last = await extractor(text, { pooling: 'last_token', normalize: true });
const eos = await extractor(text, { pooling: 'eos', normalize: true });
const first = await extractor(text, { pooling: 'first_token' });
const cls = await extractor(text, { pooling: 'cls' });

const mask = { dims: [1, tokens.dims.at(-2)], data: Array(tokens.dims.at(-2)).fill(1) };
const mean = mean_pooling(tokens, mask);
console.log(mean.data.every((value, i) => Math.abs(value - pooled.data[i]) < 1e-5));
console.log(last.data.every((value, i) => value === eos.data[i]), first.data.every((value, i) => value === cls.data[i]));
// true
// true true
