#!/usr/bin/env node
// Accuracy of ways to teach by set and number of examples, to choose defaults by. Needs `npm run build`.
//   node tests/bench/few_shot/measure.mjs --data FOLDER --model FOLDER [--sets a,b] [--table] [--counts 3,8,20,50] [--draws 2] [--tests 300]
//     [--ways '{}|{"method":"head"}|{"method":"full","batch_size":8}'] [--threads 1] [--json FILE]
// A way is options of teach(). Tests are of the development parts (sets.mjs); with --table, of the parts that docs/internals/training.md reports.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { teach } from '../../../web/dist/teach/index_node.js';
import { draw, kDevelopment, kTable, shuffled } from './sets.mjs';

const { values: options } = parseArgs({
  options: {
    data: { type: 'string' },
    model: { type: 'string' },
    sets: { type: 'string' },
    table: { type: 'boolean', default: false },
    counts: { type: 'string', default: '3,8,20,50' },
    draws: { type: 'string', default: '2' },
    tests: { type: 'string', default: '300' },
    ways: { type: 'string', default: '{}' },
    threads: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});

const kSets = options.table ? kTable : kDevelopment;
const kFirstSeed = options.table ? 1 : 101; // Other draws than the table's.
const counts = options.counts.split(',').map(Number);
const ways = options.ways.split('|');
const found = [];
for (const set of options.sets?.split(',') ?? Object.keys(kSets)) {
  const train = kSets[set](options.data, 'train');
  const tests = shuffled(kSets[set](options.data, options.table ? 'test' : 'dev'), 1).slice(0, Number(options.tests));
  for (const count of counts) {
    for (let seed = kFirstSeed; seed < kFirstSeed + Number(options.draws); ++seed) {
      const examples = draw(train, count, seed);
      for (const way of ways) found.push({ set, count, seed, way, ...(await measure(examples, tests, { seed, ...JSON.parse(way) })) });
    }
  }
  print(set);
}
print();
if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(found, null, 1));

async function measure(examples, tests, way) {
  const start = performance.now();
  const taught = await teach('text-classification', options.model, examples, { max_length: 64, threads: Number(options.threads), ...way });
  const seconds = (performance.now() - start) / 1e3;
  const classify = await taught.pipeline({ variant: 'simd' });
  const answers = await classify(
    tests.map(({ text }) => text),
    { truncation: true },
  );
  await Promise.all([classify.dispose(), taught.dispose()]);
  const right = answers.filter(({ label }, index) => label === tests[index].label).length;
  const { losses, epochs, labels, accuracy, ...report } = taught.report;
  return { accuracy: right / tests.length, seconds, last_loss: losses.at(-1), estimate: accuracy, report };
}

function print(only) {
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  for (const set of only ? [only] : ['all']) {
    for (const way of ways) {
      const cells = counts.map((count) => {
        const cell = found.filter((job) => (set === 'all' || job.set === set) && job.count === count && job.way === way);
        const accuracy = 100 * mean(cell.map((job) => job.accuracy));
        return `${count}: ${accuracy.toFixed(1)} (${mean(cell.map(({ seconds }) => seconds)).toFixed(1)} s)`;
      });
      console.log(`${set.padEnd(14)} ${cells.join('  ')}  ${way}`);
    }
  }
}
