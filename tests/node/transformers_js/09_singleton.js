import { pipeline, env } from '@huggingface/transformers';

env.useBrowserCache = true;

class PipelineSingleton {
  static task = 'text-classification';
  static model = 'user/sentiment';
  static instance = null;

  static async getInstance(progress_callback = null) {
    this.instance ??= pipeline(this.task, this.model, { progress_callback });
    return this.instance;
  }
}

const statuses = new Set();
const classifier = await PipelineSingleton.getInstance((x) => statuses.add(x.status));
const again = await PipelineSingleton.getInstance();
const output = await classifier(['I am happy.', 'I am sad.'], { top_k: null });
console.log(classifier === again, statuses.has('progress'), statuses.has('ready'), output.length, output[0].length);
// true true true 2 2
