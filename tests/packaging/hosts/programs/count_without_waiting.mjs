// Counts tokens by the callable tokenizer of a pipeline, in a program that imports transformers.js by its name.
import { pipeline } from '@huggingface/transformers';

const classifier = await pipeline('text-classification', './models/sentiment');
const { input_ids, attention_mask } = classifier.tokenizer('A gem of a film.', { padding: true, truncation: true });
console.log(input_ids.size, attention_mask.dims.join(), classifier.tokenizer.encode('A gem of a film.').length);
await classifier.dispose();
