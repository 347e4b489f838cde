// A program for transformers.js. The bundler's alias puts peruse/transformers in the place of its name.
import { env, pipeline } from '@huggingface/transformers';

env.allowRemoteModels = false;
env.allowLocalModels = true; // models are in /models/

globalThis.work = async () => {
  const classify = await pipeline('sentiment-analysis', 'classifier');
  const labels = await classify('t1 t2');
  const { dims } = classify.tokenizer(['t1 t2', 't3'], { padding: true }).input_ids;
  return { labels, dims };
};
