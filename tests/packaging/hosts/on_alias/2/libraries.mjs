// LangChain's embeddings from npm import @huggingface/transformers, which is peruse-transformers here.
import { HuggingFaceTransformersEmbeddings } from '@langchain/community/embeddings/huggingface_transformers';
import { pipeline } from 'peruse';

const text = 'The train to the coast leaves at nine.';
const extract = await pipeline('feature-extraction', './models/sentences');
const vector = (await extract(text, { pooling: 'mean', normalize: true })).tolist()[0];
await extract.dispose();

const embeddings = new HuggingFaceTransformersEmbeddings({ model: './models/sentences' });
const [, found] = await embeddings.embedDocuments(['', text]);
console.log(
  'LangChain',
  found.length === vector.length,
  found.every((value, index) => Math.abs(value - vector[index]) < 1e-5),
);
process.exit();
