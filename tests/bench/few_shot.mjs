#!/usr/bin/env node
// What a demo model learns from few examples of real texts, taught by peruse/teach and by the same procedure in PyTorch.
//
//   node tests/bench/few_shot.mjs --data FOLDER [--python PYTHON] [--sets a,b] [--counts 8,32,128] [--seeds 5] [--tests 300]
//     [--methods head,full] [--json FILE]
//
// FOLDER holds rt-polarity-{train,test-halfA}.tsv.gz, pros-cons-..., banking77-..., goemotions-... and clinc150-{train-val,test-halfA}.json.gz
// (docs/internals/teaching.md says what these are). For every set, count and seed, the same examples go to both, from the same start model and with
// the same hyperparameters; the PyTorch side is tests/reference/few_shot.py, and needs a Python with tests/reference/requirements.txt.
// A method is head, full (at the library's own rate and epochs), or with a rate and epochs: full:5e-5:3. Needs `npm run build`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { teach } from '../../web/dist/teach/index_node.js';

const kRoot = fileURLToPath(new URL('../../', import.meta.url));
const kReader = 'models/peruse-reader-deberta-tiny';
const kSentiment = 'models/peruse-sentiment-convbert-tiny';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    python: { type: 'string' },
    sets: { type: 'string', default: 'rt-polarity,pros-cons,clinc150,banking77,goemotions' },
    counts: { type: 'string', default: '8,32,128' },
    seeds: { type: 'string', default: '5' },
    tests: { type: 'string', default: '300' },
    methods: { type: 'string', default: 'head,full' },
    json: { type: 'string' },
  },
});

const unpack = (name) => gunzipSync(readFileSync(join(options.data, name))).toString();
const rows = (name) =>
  unpack(name)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
const kTopics = [
  'freeze_account',
  'what_song',
  'reminder',
  'calories',
  'weather',
  'flight_status',
  'translate',
  'alarm',
  'timer',
  'tell_joke',
];
const kIntents = ['card_arrival', 'transfer_fee_charged', 'request_refund', 'transaction_charged_twice', 'wrong_amount_of_cash_received'];
const kEmotions = { 1: 'amusement', 2: 'anger', 7: 'curiosity', 15: 'gratitude', 18: 'love', 25: 'sadness' };

/** Where each set starts, and its texts by label. None of these start models has learnt the set's labels. */
const kSets = {
  'rt-polarity': [kReader, (part) => rows(`rt-polarity-${part}.tsv.gz`).map(([label, text]) => [text, label === '1' ? 'good' : 'bad'])],
  'pros-cons': [kReader, (part) => rows(`pros-cons-${part}.tsv.gz`).map(([label, text]) => [text, label === '1' ? 'pro' : 'con'])],
  clinc150: [
    kSentiment,
    (part) => {
      const [file, key] = part === 'train' ? ['train-val', 'train'] : ['test-halfA', 'test'];
      return JSON.parse(unpack(`clinc150-${file}.json.gz`))[key].filter(([, label]) => kTopics.includes(label));
    },
  ],
  banking77: [
    kSentiment,
    (part) => rows(`banking77-${part}.tsv.gz`).flatMap(([label, text]) => (kIntents.includes(label) ? [[text, label]] : [])),
  ],
  goemotions: [
    kSentiment,
    (part) => rows(`goemotions-${part}.tsv.gz`).flatMap(([text, label]) => (label in kEmotions ? [[text, kEmotions[label]]] : [])),
  ],
};

/** Numbers between 0 and 1 (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(list, seed) {
  const random = randomOf(seed);
  const order = [...list];
  for (let i = order.length - 1; i > 0; --i) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

function* makeJobs() {
  for (const set of options.sets.split(',')) {
    const [model, read] = kSets[set];
    const train = read('train').map(([text, label]) => ({ text, label }));
    const labels = [...new Set(train.map(({ label }) => label))].sort();
    const tests = shuffled(read('test-halfA'), 1)
      .slice(0, Number(options.tests))
      .map(([text, label]) => ({ text, label }));
    for (const count of options.counts.split(',').map(Number)) {
      for (let seed = 1; seed <= Number(options.seeds); ++seed) {
        const order = shuffled(train, seed);
        const examples = labels.flatMap((label) => order.filter((example) => example.label === label).slice(0, count));
        for (const method of options.methods.split(',')) {
          const [name, rate, epochs] = method.split(':');
          const settings = { ...(rate && { learning_rate: Number(rate) }), ...(epochs && { epochs: Number(epochs) }), seed };
          yield { set, count, seed, method, name, settings, model: join(kRoot, model), labels, examples, tests };
        }
      }
    }
  }
}

/** The share of the tests that the taught model gets right. What the library chose goes into the settings, for the other side. */
async function accuracyOf({ model, name, settings, labels, examples, tests }) {
  const taught = await teach('text-classification', model, examples, { ...settings, method: name, labels, max_length: 64 });
  settings.learning_rate = taught.report.learning_rate;
  settings.epochs = taught.report.epochs.length;
  const classify = await taught.pipeline();
  const found = await classify(
    tests.map(({ text }) => text),
    { truncation: true },
  );
  await classify.dispose();
  return found.filter(({ label }, index) => label === tests[index].label).length / tests.length;
}

const meanOf = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
const deviationOf = (list) => Math.sqrt(list.reduce((sum, value) => sum + (value - meanOf(list)) ** 2, 0) / Math.max(1, list.length - 1));
const shown = (list) => `${(100 * meanOf(list)).toFixed(1)} ± ${(100 * deviationOf(list)).toFixed(1)}`;

function print(jobs) {
  console.log('| set | method | a class | Peruse | PyTorch | |\n|---|---|---|---|---|---|');
  const nameOf = ({ set, method, count }) => `| ${set} | ${method} | ${count} |`;
  for (const name of new Set(jobs.map(nameOf))) {
    const cell = jobs.filter((job) => nameOf(job) === name);
    const [ours, theirs] = ['ours', 'theirs'].map((key) => cell.map((job) => job[key]).filter((value) => value !== undefined));
    if (theirs.length === 0) console.log(`${name} ${shown(ours)} | | |`);
    else {
      const apart = Math.abs(meanOf(ours) - meanOf(theirs));
      const within = apart <= Math.max(deviationOf(ours), deviationOf(theirs));
      console.log(`${name} ${shown(ours)} | ${shown(theirs)} | ${within ? '' : 'apart by more than one deviation'} |`);
    }
  }
}

if (options.data === undefined || !existsSync(options.data)) throw new Error('--data: the folder with the sets');
const jobs = [...makeJobs()];
let start = performance.now();
for (const job of jobs) job.ours = await accuracyOf(job);
console.error(`Peruse: ${jobs.length} lessons, ${((performance.now() - start) / 1e3).toFixed(0)} s with their tests`);
if (options.python !== undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'peruse-few-shot-'));
  try {
    start = performance.now();
    writeFileSync(join(folder, 'jobs.json'), JSON.stringify(jobs));
    const script = join(kRoot, 'tests/reference/few_shot.py');
    const { status } = spawnSync(options.python, [script, join(folder, 'jobs.json'), join(folder, 'results.json')], { stdio: 'inherit' });
    if (status !== 0) throw new Error('few_shot.py failed');
    const theirs = JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
    for (const [index, job] of jobs.entries()) job.theirs = theirs[index];
    console.error(`PyTorch: ${((performance.now() - start) / 1e3).toFixed(0)} s`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
print(jobs);
if (options.json !== undefined)
  writeFileSync(
    options.json,
    JSON.stringify(
      jobs.map(({ examples: _, tests: __, ...job }) => job),
      null,
      1,
    ),
  );
