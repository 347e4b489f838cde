// Trains the models that check_taught.py requests, and writes Peruse's results for each: node taught_cases.mjs JOBS RESULTS.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from '../../web/dist/index_node.js';
import { teach } from '../../web/dist/teach/index_node.js';

const [jobsFile, resultsFile] = process.argv.slice(2);

/** Loads the saved model. An adapter is loaded on its base weights, with the labels of its own config.json. */
function load({ task, base, out, options }) {
  if (options.method !== 'lora') return pipeline(task, out);
  const files = [join(out, 'config.json'), join(base, 'tokenizer.json'), join(base, 'model.safetensors')];
  const source = new Map(files.map((path) => [path.slice(path.lastIndexOf('/') + 1), new Blob([new Uint8Array(readFileSync(path))])]));
  return pipeline(task, source, { adapter: out });
}

const kAsk = {
  'text-classification': (run, { text, text_pair }) =>
    run(text_pair === undefined ? text : { text, text_pair }, { top_k: null, function_to_apply: 'none' }),
  'token-classification': (run, { text }) => run(text, { ignore_labels: [] }),
  'question-answering': (run, { question, context }) => run(question, context, { top_k: 5, max_answer_len: 4 }),
};

async function runJob(job) {
  const taught = await teach(job.task, job.base, job.examples, job.options);
  await taught.save(job.out);
  const run = await load(job);
  const answers = [];
  const hidden = [];
  for (const ask of job.asks) {
    answers.push(await kAsk[job.task](run, ask));
    const { text = ask.question, text_pair = ask.context } = ask;
    const input = text_pair === undefined ? text : { text, text_pair };
    const { hidden_states: states } = await run.inspect(input, { output_hidden_states: true });
    hidden.push(states.map(({ data }) => Array.from(data)));
  }
  await run.dispose();
  const { losses, fresh } = taught.report;
  return { answers, hidden, losses, fresh, files: [...taught.files.keys()] };
}

const results = [];
for (const job of JSON.parse(readFileSync(jobsFile, 'utf8'))) {
  results.push(await runJob(job).catch((error) => ({ error: `${error.code}: ${error.message}` })));
}
writeFileSync(resultsFile, JSON.stringify(results));
