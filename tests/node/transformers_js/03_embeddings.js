import { pipeline, cos_sim } from '@huggingface/transformers';

const extractor = await pipeline('feature-extraction', 'user/embedder');
const sentences = ['This is an example sentence', 'Each sentence is converted'];
const output = await extractor(sentences, { pooling: 'mean', normalize: true });

const [first, second] = output.tolist();
const similarity = cos_sim(first, second);
console.log(output.dims.length, output.dims[0] === sentences.length, first.length === output.dims[1]);
console.log(similarity <= 1, Math.abs(cos_sim(output[0].data, output[0].data) - 1) < 1e-6);
// 2 true true
// true true
