#!/usr/bin/env node
// The table of docs/teach.md: what teach() with its default options gets right after a few examples, next to other methods. Needs `npm run build`.
//
//   node tests/bench/few_shot.mjs --data FOLDER --base FOLDER [--python PYTHON] [--theirs tfidf,logistic,full,setfit] [--sets a,b]
//     [--counts 3,5,8,20,50] [--draws 5] [--tests 300] [--json FILE]
//
// `--data`: the sets of tests/bench/few_shot/sets.mjs. `--base`: the model to teach. For every set, number of examples per label and draw, the
// same examples and tests go to all methods; those of `--theirs` are tests/reference/few_shot.py's, which needs a Python with
// tests/reference/requirements.txt and scikit-learn. `--theirs ''` measures teach() alone.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { teach } from '../../web/dist/teach/index_node.js';
import { draw, kTable, shuffled } from './few_shot/sets.mjs';

const kScript = fileURLToPath(new URL('../reference/few_shot.py', import.meta.url));

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    base: { type: 'string' },
    python: { type: 'string', default: 'python3' },
    theirs: { type: 'string', default: 'tfidf,logistic,full,setfit' },
    sets: { type: 'string', default: Object.keys(kTable).join(',') },
    counts: { type: 'string', default: '3,5,8,20,50' },
    draws: { type: 'string', default: '5' },
    tests: { type: 'string', default: '300' },
    json: { type: 'string' },
  },
});
if (options.data === undefined || options.base === undefined) throw new Error('--data: the folder with the sets; --base: the model');
const theirs = options.theirs.split(',').filter((name) => name !== '');

function* makeJobs() {
  for (const set of options.sets.split(',')) {
    const train = kTable[set](options.data, 'train');
    const tests = shuffled(kTable[set](options.data, 'test'), 1).slice(0, Number(options.tests));
    for (const count of options.counts.split(',').map(Number)) {
      for (let seed = 1; seed <= Number(options.draws); ++seed) {
        const examples = draw(train, count, seed);
        const labels = [...new Set(examples.map(({ label }) => label))].sort();
        const updates = Math.ceil(examples.length / 16);
        const settings = { seed, learning_rate: 6 * 5e-5, epochs: Math.max(3, Math.ceil(150 / updates)) };
        yield { set, count, seed, labels, examples, tests, model: options.base, settings, found: {} };
      }
    }
  }
}

/** The share of the tests that the taught model gets right. */
async function teachOne({ model, seed, examples, tests, found }) {
  const start = performance.now();
  const taught = await teach('text-classification', model, examples, { seed, max_length: 64 });
  const seconds = (performance.now() - start) / 1e3;
  const classify = await taught.pipeline();
  const answers = await classify(
    tests.map(({ text }) => text),
    { truncation: true },
  );
  await Promise.all([classify.dispose(), taught.dispose()]);
  found.teach = answers.filter(({ label }, index) => label === tests[index].label).length / tests.length;
  return { method: taught.report.method, compared: taught.report.compared, estimate: taught.report.accuracy, seconds };
}

function askPython(jobs, name) {
  const folder = mkdtempSync(join(tmpdir(), 'peruse-few-shot-'));
  try {
    writeFileSync(join(folder, 'jobs.json'), JSON.stringify(jobs.map((job) => ({ ...job, name }))));
    const { status } = spawnSync(options.python, [kScript, join(folder, 'jobs.json'), join(folder, 'results.json')], { stdio: 'inherit' });
    if (status !== 0) throw new Error('few_shot.py failed');
    for (const [index, share] of JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8')).entries()) jobs[index].found[name] = share;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const meanOf = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
const deviationOf = (list) => Math.sqrt(list.reduce((sum, value) => sum + (value - meanOf(list)) ** 2, 0) / Math.max(1, list.length - 1));

function print(jobs) {
  const names = ['teach', ...theirs];
  console.log(`| set | per label | ${names.join(' | ')} | seconds |\n|---|---|${'---|'.repeat(names.length + 1)}`);
  const nameOf = ({ set, count }) => `| ${set} | ${count} |`;
  for (const cell of new Set(jobs.map(nameOf))) {
    const own = jobs.filter((job) => nameOf(job) === cell);
    const shown = names.map((name) => {
      const list = own.map(({ found }) => 100 * found[name]);
      return `${meanOf(list).toFixed(1)} ± ${deviationOf(list).toFixed(1)}`;
    });
    console.log(`${cell} ${shown.join(' | ')} | ${meanOf(own.map(({ about }) => about.seconds)).toFixed(1)} |`);
  }
}

const jobs = [...makeJobs()];
for (const job of jobs) job.about = await teachOne(job);
for (const name of theirs) askPython(jobs, name);
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
