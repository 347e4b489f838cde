import { pipeline, dot } from '@huggingface/transformers';

const extractor = await pipeline('feature-extraction', 'user/embedder', { device: 'wasm' });
const docs = ['The train leaves at nine.', 'Fry the onions in butter.', 'The match ended in a draw.'];
const query = await extractor('The train leaves at nine.', { pooling: 'cls', normalize: true });
const embeddings = await extractor(docs, { pooling: 'cls', normalize: true });

const scores = embeddings.tolist().map((embedding) => dot(query.tolist()[0], embedding));
const ranking = scores.map((score, i) => ({ score, text: docs[i] })).sort((a, b) => b.score - a.score);
console.log(ranking[0].text);
// The train leaves at nine.
