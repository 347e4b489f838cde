// Libraries from npm that import @huggingface/transformers, which is peruse-transformers here.

import { transformersJS } from '@browser-ai/transformers-js';
import { HuggingFaceEmbedding } from '@llamaindex/huggingface';
import { embed } from 'ai';
import { RerankerFactory } from 'mem0ai/oss';
import { pipeline } from 'peruse';

const close = (one, other) => one.length === other.length && one.every((value, index) => Math.abs(value - other[index]) < 1e-4);
const text = 'The train to the coast leaves at nine.';

const extract = await pipeline('feature-extraction', './models/sentences');
const vector = (await extract(text, { pooling: 'mean', normalize: true })).tolist()[0];
await extract.dispose();

const llama = new HuggingFaceEmbedding({ modelType: './models/sentences' });
console.log('LlamaIndex', close(await llama.getTextEmbedding(text), vector));

const model = transformersJS.embedding('./models/sentences', { device: 'cpu', dtype: 'fp32' });
console.log('@browser-ai', close((await embed({ model, value: text })).embedding, vector));

const rank = await pipeline('text-ranking', './models/ranker');
const documents = ['Fry the onions in butter.', text, 'Soup.'];
const wanted = await rank('When does the train leave?', documents);
await rank.dispose();
const reranker = RerankerFactory.create('huggingface', { model: './models/ranker' });
const found = await reranker.rerank('When does the train leave?', documents);
console.log('mem0', found.map(({ index }) => index).join() === wanted.map(({ corpus_id }) => corpus_id).join(), found[0].rerankScore > 0);
process.exit();
