import { pipeline } from '@huggingface/transformers';

// What an app does at each key: the field may be empty.
const classifier = await pipeline('text-classification', 'user/sentiment');
const tagger = await pipeline('token-classification', 'user/ner');
const extractor = await pipeline('feature-extraction', 'user/embedder');
const field = { value: '' };
const [{ label, score }] = await classifier(field.value);
console.log(typeof label, score > 0, (await tagger(field.value)).length);
const { dims, data } = await extractor([field.value, 'text'], { pooling: 'mean', normalize: true });
console.log(dims[0], data.every(Number.isFinite));
// string true 0
// 2 true
