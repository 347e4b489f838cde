// The page for the tests of other browsers.
import { modelCache, pipeline } from './web/bundle/peruse.js';
import { teach } from './web/bundle/peruse-teach.js';
import { work } from './work.js';

globalThis.uncaught = [];
addEventListener('error', (event) => uncaught.push(event.message));
addEventListener('unhandledrejection', (event) => uncaught.push(String(event.reason)));

const kSentiment = './models/peruse-sentiment-convbert-tiny/';

async function classified(options) {
  const classify = await pipeline('text-classification', kSentiment, options);
  const [label] = await classify('A gem.');
  await classify.dispose();
  return label;
}

globalThis.work = () => work(pipeline);

globalThis.sentiment = async () => ({
  fp32: await classified({}),
  q8: await classified({ dtype: 'q8' }),
  here: await classified({ worker: false }),
});

/** Waits until the weights are stored, because a disposed pipeline's worker may still be writing. */
globalThis.kept = async () => {
  const classify = await pipeline('text-classification', kSentiment);
  const isKept = async () => (await modelCache.list()).some(({ url }) => url.endsWith('peruse-sentiment-convbert-tiny/model.safetensors'));
  for (let attempt = 0; attempt < 100 && !(await isKept()); ++attempt) await new Promise((resolve) => setTimeout(resolve, 50));
  await classify.dispose();
  return { kept: await isKept(), notices: classify.info.notices };
};

const kLines = [
  ['A rose has thorns.', 'plant'],
  ['The oak grows slowly.', 'plant'],
  ['Moss covers the stone.', 'plant'],
  ['Water the fern every day.', 'plant'],
  ['A hammer drives nails.', 'tool'],
  ['The saw cuts wood.', 'tool'],
  ['Turn the screw with this.', 'tool'],
  ['Pliers bend the wire.', 'tool'],
];

globalThis.lesson = async () => {
  const examples = kLines.map(([text, label]) => ({ text, label }));
  const taught = await teach('text-classification', kSentiment, examples, { method: 'full', epochs: 3, learning_rate: 1e-3, batch_size: 4 });
  const classify = await taught.pipeline();
  const [{ label, score }] = await classify('The saw cuts wood.');
  await classify.dispose();
  const { threads, reason, losses } = taught.report;
  await taught.dispose();
  return { threads, reason, losses, label, score };
};

globalThis.others = async () => {
  const classify = await pipeline('text-classification', kSentiment, { device: 'auto' });
  const code = await classify('a', { top_k: 0 }).catch((error) => error.code);
  const { tokens } = await classify.inspect('A gem of a film.');
  const { device, reason } = classify.info;
  await classify.dispose();
  const gpu = await pipeline('text-classification', kSentiment, { device: 'webgpu' }).then(
    async (loaded) => {
      await loaded.dispose();
      return 'webgpu';
    },
    (error) => error.code,
  );
  return { code, tokens: tokens.length, device, reason, gpu };
};
