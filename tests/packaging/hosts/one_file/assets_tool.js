// A tool that reads its model from the assets of a single executable.
import { getRawAsset } from 'node:sea';
import { pipeline } from 'peruse';

const [text, options] = process.argv.slice(-2);
const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
const model = Object.fromEntries(names.map((name) => [name, new Uint8Array(getRawAsset(name))]));
pipeline('text-classification', model, JSON.parse(options)).then(async (classify) => {
  const [{ label }] = await classify(text);
  const { worker, threads, variant } = classify.info;
  console.log(JSON.stringify({ label, worker, threads, variant }));
  await classify.dispose();
});
