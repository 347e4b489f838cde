import { pipeline } from '@huggingface/transformers';

// Allocate a pipeline for sentiment-analysis
const pipe = await pipeline('sentiment-analysis', 'user/sentiment', { dtype: 'fp32' });

const out = await pipe('I love transformers!');
console.log(out.length, Object.keys(out[0]), ['POSITIVE', 'NEGATIVE'].includes(out[0].label));
// 1 [ 'label', 'score' ] true
