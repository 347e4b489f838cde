import { pipeline } from '@huggingface/transformers';

const unmasker = await pipeline('fill-mask', 'user/masked');
const output = await unmasker('The goal of life is [MASK].', { top_k: 2 });
console.log(output.length, Object.keys(output[0]).sort().join());
// 2 score,sequence,token,token_str
