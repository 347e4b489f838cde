#!/usr/bin/env node
// The table of docs/internals/training.md: what teach() with its default options gets right after a few examples, next to other methods. Needs `npm run build`.
//   node tests/bench/few_shot.mjs --data FOLDER --base FOLDER --results FILE [--name NAME] [--methods teach,tfidf,logistic,full,setfit,contrast]
//     [--python PYTHON] [--sets a,b] [--counts 3,8,20,50] [--draws 5] [--trainings 1] [--tests 300]
//   node tests/bench/few_shot.mjs --results FILE --print
// `--data`: the sets of sets.mjs. `--base`: the model to teach, `--name` in the table. All methods get the same examples and tests. All but `teach`
// are tests/reference/few_shot.py's, for a Python with its requirements.txt and scikit-learn. Each line of FILE is one training, and measured once.
// `--trainings`: how often each draw of examples is trained, with other random numbers; the table has the means.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { draw, kTable, shuffled } from './few_shot/sets.mjs';
import { printTable } from './few_shot/table.mjs';

const kScript = fileURLToPath(new URL('../reference/few_shot.py', import.meta.url));

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    base: { type: 'string' },
    name: { type: 'string' },
    results: { type: 'string' },
    print: { type: 'boolean', default: false },
    python: { type: 'string', default: 'python3' },
    methods: { type: 'string', default: 'teach,tfidf,logistic,full,setfit' },
    sets: { type: 'string', default: Object.keys(kTable).join(',') },
    counts: { type: 'string', default: '3,8,20,50' },
    draws: { type: 'string', default: '5' },
    trainings: { type: 'string', default: '1' },
    tests: { type: 'string', default: '300' },
  },
});

function makeJobs() {
  const base = options.name ?? basename(options.base);
  const { hidden_size: width } = JSON.parse(readFileSync(join(options.base, 'config.json'), 'utf8'));
  const factor = width <= 128 ? 20 : width <= 256 ? 6 : width <= 512 ? 2 : 1; // As core/train/session/teach_request.cc has it.
  const jobs = [];
  for (let seed = 1; seed <= Number(options.draws); ++seed) {
    for (const set of options.sets.split(',')) {
      const train = kTable[set](options.data, 'train');
      const tests = shuffled(kTable[set](options.data, 'test'), 1).slice(0, Number(options.tests));
      for (const count of options.counts.split(',').map(Number)) {
        const examples = draw(train, count, seed);
        const labels = [...new Set(examples.map(({ label }) => label))].sort();
        const updates = Math.ceil(examples.length / 16);
        for (let training = 0; training < Number(options.trainings); ++training) {
          const settings = {
            seed: trainingSeed(seed, training),
            learning_rate: factor * 5e-5,
            epochs: Math.max(3, Math.ceil(150 / updates)),
          };
          jobs.push({ base, set, count, seed, training, labels, examples, tests, model: options.base, settings });
        }
      }
    }
  }
  return jobs;
}

/** The first training of a draw has the seed of the draw, the others seeds of their own. */
const trainingSeed = (draw, training) => (training === 0 ? draw : 100 * draw + 10 + training);

const readResults = () =>
  existsSync(options.results)
    ? readFileSync(options.results, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];

async function teachAll(jobs) {
  const { teach } = await import('../../web/dist/teach/index_node.js');
  const cellOf = ({ base, set, count, seed, training = 0 }) => [base, set, count, seed, training].join(' ');
  const known = new Set(
    readResults()
      .filter(({ method }) => method === 'teach')
      .map(cellOf),
  );
  for (const { base, set, count, seed, training, examples, tests, model, settings } of jobs) {
    if (known.has(cellOf({ base, set, count, seed, training }))) continue;
    const line = { base, set, count, seed, training, method: 'teach', ...(await teachOne(teach, model, settings.seed, examples, tests)) };
    appendFileSync(options.results, `${JSON.stringify(line)}\n`);
  }
}

async function teachOne(teach, model, seed, examples, tests) {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const taught = await teach('text-classification', model, examples, { seed, max_length: 64 });
  const seconds = (performance.now() - start) / 1e3;
  const { user, system } = process.cpuUsage(cpu);
  const labels =
    taught.files.has('modules.json') && taught.report.method === 'head'
      ? await byVectors(taught, model, tests)
      : await byPipeline(taught, tests);
  await taught.dispose();
  const { method, compared, accuracy: estimate } = taught.report;
  return {
    accuracy: labels.filter((label, index) => label === tests[index].label).length / tests.length,
    seconds,
    processor: (user + system) / 1e6,
    kept: method,
    compared,
    estimate: estimate?.accuracy,
  };
}

async function byPipeline(taught, tests) {
  const classify = await taught.pipeline();
  const answers = await classify(
    tests.map(({ text }) => text),
    { truncation: true },
  );
  await classify.dispose();
  return answers.map(({ label }) => label);
}

/** Vectors by text, valid for all trainings because a taught head uses the base's encoder. */
const vectors = new Map();

/** Like teachOne for the head of a sentence embedder; the test vectors are computed only once. */
async function byVectors(taught, model, tests) {
  const unknown = tests.map(({ text }) => text).filter((text) => !vectors.has(text));
  if (unknown.length > 0) {
    const { pipeline } = await import('../../web/dist/index_node.js');
    const embed = await pipeline('feature-extraction', model);
    const found = await embed(unknown, { pooling: 'mean', normalize: true, truncation: true });
    for (const [index, text] of unknown.entries()) vectors.set(text, found[index].data);
    await embed.dispose();
  }
  const { weight, bias } = readDense([...taught.files].find(([name]) => name.endsWith('_Dense/model.safetensors'))[1]);
  return tests.map(({ text }) => {
    const vector = vectors.get(text);
    const scores = [...bias].map((start, label) => vector.reduce((sum, x, i) => sum + x * weight[label * vector.length + i], start));
    return taught.report.labels[scores.indexOf(Math.max(...scores))];
  });
}

function readDense(file) {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  const tensor = (name) => {
    const [first, end] = header[name].data_offsets;
    return new Float32Array(file.slice(8 + length + first, 8 + length + end).buffer);
  };
  return { weight: tensor('linear.weight'), bias: tensor('linear.bias') };
}

function askPython(jobs, methods) {
  const folder = mkdtempSync(join(tmpdir(), 'peruse-few-shot-'));
  try {
    const firsts = new Set([...new Set(jobs.map(({ set }) => set))].map((set) => jobs.find((job) => job.set === set)));
    const once = (job) => (firsts.has(job) ? job : { ...job, tests: undefined }); // Tests go with the first job of their set.
    writeFileSync(join(folder, 'jobs.json'), JSON.stringify(jobs.map(once)));
    const { status } = spawnSync(options.python, [kScript, join(folder, 'jobs.json'), options.results, methods.join(',')], {
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error('few_shot.py failed');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (options.results === undefined) throw new Error('--results: the file of the measured cells');
if (options.print) {
  printTable(readResults());
} else {
  if (options.data === undefined || options.base === undefined) throw new Error('--data: the folder with the sets; --base: the model');
  const methods = options.methods.split(',');
  const jobs = makeJobs();
  if (methods.includes('teach')) await teachAll(jobs);
  const others = methods.filter((method) => method !== 'teach');
  if (others.length > 0) askPython(jobs, others);
}
