// A tool for the command line that becomes one file: node tool.js <model> <text> <options as JSON>.
import { pipeline } from 'peruse';

const [model, text, options] = process.argv.slice(-3);
pipeline('text-classification', model, JSON.parse(options)).then(async (classify) => {
  const [{ label }] = await classify(text);
  const { worker, threads, variant } = classify.info;
  console.log(JSON.stringify({ label, worker, threads, variant }));
  await classify.dispose();
});
