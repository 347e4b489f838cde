// Options that programs for version 2 of transformers.js pass.
import { env, pipeline } from 'peruse';

env.allowLocalModels = true;
const seen = [];
const classifier = await pipeline('sentiment-analysis', './models/sentiment', {
  quantized: true,
  progress_callback: ({ status }) => seen.push(status),
});
const [{ label, score }] = await classifier('A gem of a film.');
console.log(label, score > 0.5, classifier.info.dtype, seen.at(-1));
await classifier.dispose();
