import { env, pipeline } from '@huggingface/transformers';

env.allowRemoteModels = false;
env.allowLocalModels = true; // models are in /models/

class Classifier {
  static instance = null;
  static load(progress_callback) {
    Classifier.instance ??= pipeline('sentiment-analysis', 'sentiment', { progress_callback });
    return Classifier.instance;
  }
}

self.addEventListener('message', async ({ data }) => {
  const classify = await Classifier.load((progress) => self.postMessage(progress));
  self.postMessage({ status: 'complete', text: data.text, output: await classify(data.text) });
});
