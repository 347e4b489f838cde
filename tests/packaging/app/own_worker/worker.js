// The program's worker: loads a model once, and uses each part of the package that loads on use.
import { createRedactor, env, modelCache, pipeline, SemanticIndex } from 'peruse';

let started = 0; // workers of this worker
globalThis.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    started += 1;
  }
};

class Classifier {
  static instance = null;
  static get(...given) {
    Classifier.instance ??= pipeline('text-classification', ...given);
    return Classifier.instance;
  }
}

async function work({ page, way }) {
  if (way === 'files') env.filesPath = '/peruse/';
  const model = new URL('./models/classifier/', page).href;
  const classify = await Classifier.get(model);
  const labels = await classify('t1 t2 t3');
  const { worker, variant, threads } = classify.info;
  const workers = started;
  const streamed = await Array.fromAsync(classify.stream(['t1 t2', 't3']));
  const { text } = await createRedactor({ patterns: true })('Mail mary@example.org');
  const index = new SemanticIndex(await pipeline('feature-extraction', model));
  await index.add(['t1 t2', 't3']);
  const [hit] = await index.search('t3');
  const stored = (await modelCache.list()).length;
  const asked = way === 'here' || (await pipeline('text-classification', model, { worker: true })).info.worker;
  return { labels, worker, variant, threads, workers, streamed: streamed.length, text, hit: hit.text, stored, asked };
}

self.onmessage = async ({ data }) => {
  self.postMessage(await work(data).catch(({ code, message }) => ({ code, message })));
};
