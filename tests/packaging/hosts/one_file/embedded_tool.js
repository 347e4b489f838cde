// The same tool with its model in the file. esbuild's loader `binary` makes bytes of the imported files.
import config from 'model/config.json';
import weights from 'model/model.safetensors';
import tokenizer from 'model/tokenizer.json';
import { pipeline } from 'peruse';

const [text, options] = process.argv.slice(-2);
const model = { 'config.json': config, 'tokenizer.json': tokenizer, 'model.safetensors': weights };
pipeline('text-classification', model, JSON.parse(options)).then(async (classify) => {
  const [{ label }] = await classify(text);
  const { worker, threads, variant } = classify.info;
  console.log(JSON.stringify({ label, worker, threads, variant }));
  await classify.dispose();
});
