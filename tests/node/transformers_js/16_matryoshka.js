import { dot, layer_norm, pipeline, softmax } from '@huggingface/transformers';

const extractor = await pipeline('feature-extraction', 'user/embedder');
const texts = ['The train leaves at nine.', 'Fry the onions in butter.'];

// Shorter vectors of a model that was trained for it.
let embeddings = await extractor(texts, { pooling: 'mean' });
const shorter = 8;
embeddings = layer_norm(embeddings, [embeddings.dims[1]]).slice(null, [0, shorter]).normalize(2, -1);
console.log(embeddings.dims.join());

const vectors = embeddings.tolist();
const row = vectors.map((vector) => dot(vectors[0], vector));
console.log(Math.abs(row[0] - 1) < 1e-5, Math.abs(softmax(row).reduce((a, b) => a + b) - 1) < 1e-6);
// 2,8
// true true
