// A text field that was cleared, in a program that imports transformers.js by its name.
import { pipeline } from '@huggingface/transformers';

const classifier = await pipeline('sentiment-analysis', './models/sentiment');
const [{ label, score }] = await classifier('');
const both = await classifier(['', 'A gem of a film.']);
console.log(typeof label, score > 0 && score < 1, both.length, both[1].label);
await classifier.dispose();
